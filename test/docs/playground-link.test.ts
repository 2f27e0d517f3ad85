import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { test } from "node:test";
import { deflateRawSync } from "node:zlib";
import * as fc from "fast-check";
import {
  LinkError,
  MOST_TEXT,
  type Shared,
  linkFor,
  readLink,
} from "../../site/playground/link.ts";
import { propertyRuns } from "../support/property.ts";

/** A link may come from anyone: it opens to what was shared, or fails with a reason. */

const text = fc.string({ unit: "grapheme", maxLength: 200 });
const name = fc.stringMatching(/^[a-z0-9][\w .-]{0,20}$/);
const shared: fc.Arbitrary<Shared> = fc.record(
  {
    config: text,
    isOwn: fc.boolean(),
    lists: fc.array(fc.tuple(name, text), { maxLength: 4 }),
  },
  { noNullPrototype: true },
);

test("a link opens to what was shared", async () => {
  await fc.assert(
    fc.asyncProperty(shared, async (value) => {
      const link = await linkFor(value);
      assert.match(link!, /^#1\.[\w-]+$/);
      assert.deepEqual(await readLink(link!), value);
    }),
    propertyRuns(200),
  );
});

test("what is too long for a link has none", async () => {
  const random = Array.from({ length: 30_000 }, (_, at) => Math.sin(at).toString(36)).join("");
  const long = { config: "name: L", isOwn: true, lists: [["a.txt", random]] } as const;
  assert.equal(await linkFor(long), undefined);
  const large = { ...long, lists: [["a.txt", "a".repeat(MOST_TEXT)]] } as const;
  assert.equal(await linkFor(large), undefined);
});

function linkOf(value: unknown): string {
  return rawLink(Buffer.from(typeof value === "string" ? value : JSON.stringify(value)));
}

function rawLink(bytes: Uint8Array): string {
  return `#1.${deflateRawSync(bytes, { level: 9 }).toString("base64url")}`;
}

const GOOD: Shared = { config: "name: L", isOwn: true, lists: [["a.txt", "||a.example^"]] };

test("a damaged or hostile link fails with a reason, and quickly", async () => {
  const good = linkOf(GOOD);
  const bomb = rawLink(new Uint8Array(20_000_000).fill(32));
  assert.ok(bomb.length < 32_000, `${bomb.length} characters become 20 MB`);
  const bad: readonly (readonly [string, RegExp])[] = [
    ["#", /not a link/],
    ["#results", /not a link/],
    [`#2.${good.slice(3)}`, /not a link/],
    ["#1.", /damaged/],
    ["#1.%3Cscript%3E", /damaged/],
    ["#1.====", /damaged/],
    [good.slice(0, -8), /damaged/],
    [`${good}AAAA`, /damaged/],
    [`#1.${"A".repeat(40_000)}`, /longer than/],
    [bomb, /more than a link may hold/],
    [linkOf("null"), /damaged/],
    [linkOf("[]"), /damaged/],
    [linkOf('{"config":"a"}'), /damaged/],
    [linkOf("[".repeat(100_000)), /damaged/],
    [rawLink(Uint8Array.of(0x22, 0xff, 0x22)), /damaged/],
    [linkOf({ ...GOOD, config: 7 }), /damaged/],
    [linkOf({ ...GOOD, isOwn: "yes" }), /damaged/],
    [linkOf({ ...GOOD, lists: {} }), /damaged/],
    [
      linkOf({ ...GOOD, lists: Array.from({ length: 51 }, (_, at) => [`${at}.txt`, ""]) }),
      /damaged/,
    ],
    ...[
      "",
      ".",
      "..",
      "../cache/x",
      "a/b.txt",
      "a\\b.txt",
      "a\u0000",
      "x".repeat(101),
      ".rules-compiler",
      7,
    ].map((file) => [linkOf({ ...GOOD, lists: [[file, "a"]] }), /damaged/] as const),
    [linkOf({ ...GOOD, lists: [["a.txt", 7]] }), /damaged/],
    [linkOf({ ...GOOD, lists: [["a.txt"]] }), /damaged/],
  ];
  const started = performance.now();
  for (const [link, reason] of bad)
    await assert.rejects(readLink(link), (error) => {
      assert.ok(error instanceof LinkError, `${link.slice(0, 60)}: ${String(error)}`);
      assert.match(error.message, reason, link.slice(0, 60));
      return true;
    });
  assert.ok(performance.now() - started < 2000, "nothing is decompressed beyond the limit");
  assert.deepEqual(await readLink(good), GOOD);
});

test("any text after # opens or fails with a reason", async () => {
  const fragment = fc.oneof(
    fc.string({ unit: "binary", maxLength: 60 }),
    fc.base64String({ maxLength: 60 }).map((code) => `1.${code}`),
    fc.json().map((value) => linkOf(value).slice(1)),
    fc.uint8Array({ maxLength: 60 }).map((bytes) => rawLink(bytes).slice(1)),
  );
  await fc.assert(
    fc.asyncProperty(fragment, async (one) => {
      const opened = await readLink(`#${one}`).catch((error: unknown) => {
        assert.ok(error instanceof LinkError, String(error));
        return undefined;
      });
      assert.equal(opened, undefined, "nothing random is a link");
    }),
    propertyRuns(150),
  );
});
