import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { test } from "node:test";
import * as fc from "fast-check";
import { FeedError, isSharedHost } from "../../src/feeds/feed.ts";
import { stixValues } from "../../src/feeds/registry.ts";
import { publicSuffixKind } from "../../src/syntax/public-suffix.ts";
import { propertyRuns } from "../support/property.ts";
import { namesOf, readFeed } from "../support/read-feed.ts";

const label = fc.stringMatching(/^[a-zA-Z0-9]([a-zA-Z0-9-]{0,8}[a-zA-Z0-9])?$/);
const name = fc
  .tuple(fc.array(label, { minLength: 1, maxLength: 3 }), fc.constantFrom("com", "org", "Example"))
  .map(([labels, top]) => [...labels, top].join("."));
const url = fc
  .tuple(
    fc.constantFrom("http", "https", "HTTP"),
    fc.constantFrom("", "user@", "u:p@"),
    name,
    fc.constantFrom("", ":80", ":8443"),
    fc.constantFrom("", "/", "/a", "/?x=1", "?x", "#top", "/#top", "/a/b.exe"),
  )
  .map(([scheme, user, host, port, rest]) => `${scheme}://${user}${host}${port}${rest}`);
const field = fc.oneof(
  name,
  url,
  fc.constantFrom("", "x", " ", "a,b", 'q"q', "two\nlines", "1.2.3.4", "localhost"),
);

const ends = fc.constantFrom("\n", "\r\n", "\r");

/** The name of a value, by the runtime's URL parser. */
function naiveName(value: string): string | undefined {
  const text = value.trim();
  const address = text.includes("://") ? text : `http://${text}`;
  if (!URL.canParse(address)) return undefined;
  const { hostname, pathname, search, hash } = new URL(address);
  if (pathname !== "/" || search !== "") return undefined;
  if (hash !== "" && isSharedHost(hostname)) return undefined;
  return /^(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+[a-z][a-z0-9-]*$/.test(hostname)
    ? hostname
    : undefined;
}

function quoted(value: string, always: boolean): string {
  return always || /[",\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value;
}

test("CSV gives what a naive reader finds", () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(field, field, field, fc.boolean()), { maxLength: 30 }),
      fc.nat(2),
      fc.constantFrom("\n", "\r\n", "\r"),
      fc.integer({ min: 1, max: 64 }),
      (rows, column, lineEnd, size) => {
        const text = rows
          .map(([a, b, c, always]) => [a, b, c].map((one) => quoted(one, always)).join(","))
          .join(lineEnd);
        const expected = rows.map((row) => naiveName(row[column] as string)).filter(Boolean);
        const lines = readFeed(text, { type: "csv", column: String(column + 1) }, [size]);
        assert.deepEqual(namesOf(lines), expected);
        const whole = text === "" ? 0 : text.split(/\r\n|\r|\n/).length;
        assert.ok(/[\r\n]$/.test(text) || lines.length === whole, "as many lines as the file has");
      },
    ),
    propertyRuns(1000),
  );
});

test("a row is found in its own line", () => {
  fc.assert(
    fc.property(fc.array(fc.oneof(name, url), { minLength: 1, maxLength: 30 }), (values) => {
      const text = values.map((value, index) => `${index},${value}\n`).join("");
      const lines = readFeed(text, { type: "csv", column: "2" });
      assert.equal(lines.length, values.length);
      for (const [index, value] of values.entries())
        assert.equal(/^[^# ]+$/.exec(lines[index]!)?.[0], naiveName(value));
    }),
    propertyRuns(500),
  );
});

test("URLs give what a naive reader finds", () => {
  fc.assert(
    fc.property(fc.array(url, { maxLength: 9 }), fc.boolean(), ends, (urls, isDefanged, end) => {
      const shown = urls.map((one) =>
        isDefanged ? one.replace(/^http/i, "hxxp").replaceAll(".", "[.]") : one,
      );
      const lines = readFeed(shown.join(end), { type: "urls" }, [1, 7]);
      assert.equal(lines.length, urls.length);
      assert.deepEqual(namesOf(lines), urls.map(naiveName).filter(Boolean));
    }),
    propertyRuns(1000),
  );
});

test("a shared host is never a rule because of a path", () => {
  const shared = ["github.io", "s3.amazonaws.com", "drive.google.com", "bit.ly", "co.uk"];
  for (const host of shared) {
    const [line] = readFeed(`https://${host}/x`, { type: "urls", urls: "host" });
    assert.equal(line, `${host} #s`);
    assert.notEqual(publicSuffixKind(Buffer.from("github.io"), 0, 9), 0);
  }
});

test("a fragment of a shared host, and a mail address, are not rules", () => {
  const values = ["https://mega.nz/#!a!b", "https://bit.ly/#x", "x@gmail.com", "x[at]gmail.com"];
  for (const value of values)
    assert.deepEqual(namesOf(readFeed(value, { type: "urls", urls: "host" })), [], value);
  assert.deepEqual(namesOf(readFeed("https://shop.example.org/#top", { type: "urls" })), [
    "shop.example.org",
  ]);
});

function mispEvent(type: string, value: string): string {
  return JSON.stringify({ Event: { Attribute: [{ type, value, to_ids: true }] } });
}

test("a URL of MISP that contains | is read whole", () => {
  assert.deepEqual(
    namesOf(readFeed(mispEvent("url", "https://github.com/|a"), { type: "misp" })),
    [],
  );
  const both = readFeed(mispEvent("domain|ip", "evil.example.org|192.0.2.1"), { type: "misp" });
  assert.deepEqual(namesOf(both), ["evil.example.org"]);
});

/** The strings at a pointer with `*`, by a walk over the parsed value. */
function naiveValues(value: unknown, tokens: readonly string[]): string[] {
  const [first, ...rest] = tokens;
  if (first === undefined) return typeof value === "string" ? [value] : [];
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value)
    .filter(([key]) => first === "*" || first === key)
    .flatMap(([, inner]) => naiveValues(inner, rest));
}

/** Whether a value that is neither an array nor an object is at the pointer, or nothing where `*` could be anything. */
function hasPath(value: unknown, [first, ...rest]: readonly string[]): boolean {
  const isInner = typeof value === "object" && value !== null;
  if (first === undefined) return !isInner;
  if (!isInner) return false;
  const inner = Object.entries(value);
  if (first === "*" && inner.length === 0) return true;
  return inner.some(([key, one]) => (first === "*" || first === key) && hasPath(one, rest));
}

const json = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: "small" },
    name,
    fc.constantFrom(1, true, null, -0.5, 'x " \\ \u00fc \u2028', ""),
    fc.array(tie("value"), { maxLength: 4 }),
    fc
      .array(fc.tuple(fc.constantFrom("a", "b", "c/d", "e~f"), tie("value")), { maxLength: 4 })
      .map((entries) => Object.fromEntries(entries)),
  ),
})).value;
const token = fc.constantFrom("*", "a", "b", "c/d", "e~f", "0", "1");

test("JSON gives what a naive reader finds, in any layout", () => {
  fc.assert(
    fc.property(
      json,
      fc.array(token, { maxLength: 4 }),
      fc.constantFrom(0, 1, 2),
      fc.integer({ min: 1, max: 64 }),
      (value, tokens, indent, size) => {
        const escaped = tokens.map((one) => one.replaceAll("~", "~0").replaceAll("/", "~1"));
        const path = escaped.map((one) => `/${one}`).join("");
        const read = (): string[] =>
          readFeed(JSON.stringify(value, undefined, indent), { type: "json", path }, [size]);
        if (!hasPath(value, tokens)) {
          assert.throws(read, FeedError);
          return;
        }
        const lines = read();
        const found = naiveValues(value, tokens);
        assert.equal(lines.length, found.length);
        assert.deepEqual(namesOf(lines), found.map(naiveName).filter(Boolean));
      },
    ),
    propertyRuns(2000),
  );
});

test("a condition holds for the object of the value, in any order of keys", () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(name, fc.constantFrom("x", "y", 1, true, undefined), fc.boolean())),
      (items) => {
        const objects = items.map(([host, kind, isFirst]) =>
          isFirst ? { host, kind } : { kind, host },
        );
        for (const wanted of ["x", "1", "true"]) {
          const where = { kind: wanted };
          const expected = items
            .filter(([, kind]) => String(kind) === wanted)
            .map(([host]) => naiveName(host));
          const text = JSON.stringify(objects);
          const lines = readFeed(text, { type: "json", path: "/*/host", where });
          assert.deepEqual(namesOf(lines), expected.filter(Boolean));
        }
      },
    ),
    propertyRuns(300),
  );
});

/** A pattern as a tree: names that suffice alone, or undefined if the pattern needs more. */
interface Pattern {
  readonly text: string;
  readonly names: readonly string[] | undefined;
}
const comparison: fc.Arbitrary<Pattern> = fc.oneof(
  name.map((one) => ({ text: `domain-name:value = '${one}'`, names: [one] })),
  fc.array(name, { minLength: 1, maxLength: 3 }).map((some) => ({
    text: `domain-name:value IN (${some.map((one) => `'${one}'`).join(", ")})`,
    names: some,
  })),
  fc.constant({ text: "file:name = 'a \\'] OR [b'", names: [] }),
  name.map((one) => ({ text: `domain-name:value != '${one}'`, names: undefined })),
  name.map((one) => ({ text: `NOT domain-name:value = '${one}'`, names: undefined })),
  name.map((one) => ({ text: `domain-name:value LIKE '%.${one}'`, names: undefined })),
);
const joinOf = (parts: readonly Pattern[], word: string): Pattern => ({
  text: parts.map(({ text }) => text).join(` ${word} `),
  names:
    (parts.length > 1 && word !== "OR") || parts.some(({ names }) => names === undefined)
      ? undefined
      : parts.flatMap(({ names }) => names ?? []),
});
const observation = fc
  .tuple(fc.array(comparison, { minLength: 1, maxLength: 3 }), fc.constantFrom("OR", "OR", "AND"))
  .map(([parts, word]) => joinOf(parts, word))
  .map(({ text, names }) => ({ text: `[${text}]`, names }));
const pattern = fc
  .tuple(
    fc.array(observation, { minLength: 1, maxLength: 3 }),
    fc.constantFrom("OR", "OR", "AND", "FOLLOWEDBY"),
    fc.constantFrom("", "", "", " WITHIN 5 SECONDS", " REPEATS 2 TIMES"),
  )
  .map(([parts, word, more]): Pattern => {
    const { text, names } = joinOf(parts, word);
    return { text: text + more, names: more === "" ? names : undefined };
  });

test("only names that suffice alone are taken from STIX patterns", () => {
  fc.assert(
    fc.property(pattern, ({ text, names }) => {
      assert.deepEqual(stixValues(text), names ?? [], text);
    }),
    propertyRuns(2000),
  );
});
