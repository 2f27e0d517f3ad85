import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import { posix } from "node:path";
import { test } from "node:test";
import { domainToUnicode } from "node:url";
import * as fc from "fast-check";
import { Buffer as PageBuffer } from "../../site/playground/node/buffer.ts";
import { createHash as pageHash } from "../../site/playground/node/crypto.ts";
import * as pagePath from "../../site/playground/node/path.ts";
import { domainToUnicode as pageUnicode } from "../../site/playground/node/url.ts";

/** What stands in for modules of Node in the playground does the same as they do. */

test("digests", () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 200 }), { maxLength: 4 }), (parts) => {
      for (const name of ["sha256", "sha1"]) {
        const [own, node] = [pageHash(name), createHash(name)];
        for (const part of parts) {
          own.update(part);
          node.update(part);
        }
        assert.equal(own.digest("hex"), node.digest("hex"));
      }
    }),
  );
});

const segment = fc.constantFrom("", ".", "..", "a", "b.txt", ".c", "d.e.f", "..g");
const path = fc
  .tuple(fc.boolean(), fc.array(segment, { maxLength: 5 }))
  .map(([isAbsolute, parts]) => (isAbsolute ? "/" : "") + parts.join("/"));

test("paths", () => {
  fc.assert(
    fc.property(path, path, (a, b) => {
      assert.equal(pagePath.isAbsolute(a), posix.isAbsolute(a));
      assert.equal(pagePath.join(a, b), posix.join(a, b));
      assert.equal(pagePath.resolve("/lists", a, b), posix.resolve("/lists", a, b));
      const [from, to] = [posix.resolve("/", a), posix.resolve("/", b)];
      assert.equal(pagePath.relative(from, to), posix.relative(from, to));
      // The engine asks this of clean paths only.
      const clean = posix.normalize(a);
      assert.equal(pagePath.dirname(clean), posix.dirname(clean), clean);
      assert.equal(pagePath.basename(clean), posix.basename(clean), clean);
      assert.equal(pagePath.extname(clean), posix.extname(clean), clean);
    }),
    { numRuns: 2000 },
  );
});

test("buffers", () => {
  const few = fc.uint8Array({ max: 3, maxLength: 30 });
  fc.assert(
    fc.property(few, fc.uint8Array({ max: 3, maxLength: 3 }), fc.nat(31), (bytes, wanted, from) => {
      const [own, node] = [PageBuffer.from(bytes), Buffer.from(bytes)];
      if (wanted.length > 0) {
        assert.equal(own.indexOf(wanted, from), node.indexOf(wanted, from));
        assert.equal(own.indexOf(wanted[0]!, from), node.indexOf(wanted[0]!, from));
        assert.equal(own.lastIndexOf(wanted[0]!), node.lastIndexOf(wanted[0]!));
      }
      assert.equal(PageBuffer.compare(bytes, wanted), Buffer.compare(bytes, wanted));
      const joined = PageBuffer.concat([bytes, wanted]);
      assert.equal(Buffer.compare(joined, Buffer.concat([bytes, wanted])), 0);
    }),
    { numRuns: 1000 },
  );
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 40 }), fc.nat(40), fc.nat(40), (bytes, start, end) => {
      const [own, node] = [PageBuffer.from(bytes), Buffer.from(bytes)];
      for (const text of ["utf8", "latin1", "hex", "base64"] as const) {
        assert.equal(own.toString(text, start, end), node.toString(text, start, end));
        const written = node.toString(text);
        if (text === "utf8") continue;
        assert.deepEqual([...PageBuffer.from(written, text)], [...bytes]);
      }
    }),
  );
});

test("names in other scripts", () => {
  for (const name of ["xn--bcher-kva.example", "example.com", "xn--p1ai", "a.xn--80ak6aa92e.com"])
    assert.equal(pageUnicode(name), domainToUnicode(name));
});
