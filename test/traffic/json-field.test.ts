import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { test } from "node:test";
import * as fc from "fast-check";
import { jsonField } from "../../src/traffic/log-formats.ts";
import { propertyRuns } from "../support/property.ts";

/** The text of a field by `JSON.parse` alone, one character per byte. */
function parsedField(line: string, field: string): string | undefined {
  const value = (JSON.parse(line) as Record<string, unknown>)[field];
  return typeof value === "string" ? Buffer.from(value).toString("latin1") : undefined;
}

function latin1(text: string): string {
  return Buffer.from(text).toString("latin1");
}

const key = fc.oneof(
  fc.constantFrom("T", "QH", "QT", "IP", "CP", "Answer", "Q", "H", "QHH", "Result", '"QH"', "é"),
  fc.string({ maxLength: 3 }),
);
const text = fc.oneof(
  fc.constantFrom(
    "a.example",
    "",
    "2026-11-16T19:17:25Z",
    '"QH":"decoy"',
    "bücher.example",
    "\\",
    "a\\",
  ),
  fc.string({ unit: "binary", maxLength: 12 }),
);
const value = fc.oneof(
  { weight: 6, arbitrary: text },
  { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 2 }) },
  { weight: 1, arbitrary: fc.constant({ QH: "decoy.example", Rules: [{ Text: '||"QH":"x"^' }] }) },
);
const entries = fc.uniqueArray(fc.tuple(key, value), { maxLength: 7, selector: ([name]) => name });

/** An object as JSON; keys and texts may have more escapes than they need, and blanks may stand between them. */
function written(fields: readonly (readonly [string, unknown])[], style: number): string {
  const one = (item: unknown): string => {
    const plain = JSON.stringify(item);
    return style === 1 && typeof item === "string"
      ? plain.replaceAll(/[A-Za-z]/g, (letter) => `\\u00${letter.charCodeAt(0).toString(16)}`)
      : plain;
  };
  const blank = style === 2 ? " " : "";
  return `{${blank}${fields.map(([name, item]) => `${one(name)}:${blank}${one(item)}`).join(`,${blank}`)}}`;
}

test("the scanner of JSON lines finds what JSON.parse finds", () => {
  let found = 0;
  fc.assert(
    fc.property(entries, fc.constantFrom(0, 0, 0, 1, 2), (fields, style) => {
      const line = written(fields, style);
      for (const field of ["QH", "IP"]) {
        const expected = parsedField(line, field);
        assert.equal(jsonField(latin1(line), field), expected, line);
        if (expected !== undefined) found++;
      }
    }),
    propertyRuns(5000),
  );
  assert.ok(found > 800, String(found));
});

test("a line that is cut, or changed, yields a part of it or nothing", () => {
  const line = '{"T":"2026","QH":"a.example","QT":"A","IP":"10.0.0.1","Result":{"QH":"b"},"E":1}';
  fc.assert(
    fc.property(
      fc.nat(line.length),
      fc.nat(line.length),
      fc.string({ maxLength: 2 }),
      (from, to, odd) => {
        const bad = line.slice(0, Math.min(from, to)) + odd + line.slice(Math.max(from, to));
        const name = jsonField(latin1(bad), "QH");
        assert.ok(name === undefined || bad.includes(name) || bad.includes("\\"), bad);
      },
    ),
    propertyRuns(5000),
  );
  assert.equal(jsonField(line.slice(0, 40), "QH"), "a.example");
  assert.equal(jsonField(line.slice(0, 20), "QH"), undefined);
  assert.equal(jsonField("", "QH"), undefined);
  assert.equal(jsonField('["QH","a"]', "QH"), undefined);
});
