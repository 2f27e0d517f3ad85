import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { test } from "node:test";
import * as fc from "fast-check";
import { type LogFormat, foundName, logFormatOf } from "../../src/traffic/log-formats.ts";
import { LineBlocks, QueryCounts } from "../../src/traffic/traffic-reader.ts";
import { propertyRuns } from "../support/property.ts";
import { logWriters } from "../support/query-logs.ts";
import { QUERIES } from "../support/read-log.ts";

function formatOf(name: string): LogFormat {
  return logFormatOf(logWriters.get(name)!(QUERIES).split("\n"))!;
}

/** The name by the scan of bytes, and as text where the scan leaves it to that. */
function scannedName(format: LogFormat, line: string): { name: string | undefined; kind: string } {
  // Other lines around it must not matter.
  const bytes = Buffer.from(`query[A] x from y\n${line}\n] z from "QH":"w"`, "latin1");
  const kind = format.scan!(bytes, 18, 18 + line.length);
  if (kind === "unknown") return { name: format.nameIn(line), kind };
  const name =
    kind === "none" ? undefined : bytes.toString("latin1", foundName.start, foundName.end);
  return { name, kind };
}

const piece = fc.constantFrom(
  ..."query[A] |query[|] | from |from|dnssec-query[A] |a.example|bücher.example|Nov 16 19:17:26 dnsmasq[2766]: |192.168.1.2| ||forwarded |reply ".split(
    "|",
  ),
);
const jsonPiece = fc.constantFrom(
  ...'{|"QH":|"QH":"a.example"|"T":"2026"|,|:|"|\\|\\"|"IP":"10.0.0.1"|}|{"QH":"b"}|[| |1|"Q\\u0048":"c"|"QHH":"d"|"H":"e"'.split(
    "|",
  ),
);

test("the scans of bytes find what the readers of text find, in whole, cut and mixed lines", () => {
  for (const [name, pieces] of [
    ["dnsmasq", piece],
    ["AdGuard Home", jsonPiece],
  ] as const) {
    const format = formatOf(name);
    const written = logWriters.get(name)!(QUERIES).split("\n");
    const cut = fc
      .tuple(fc.constantFrom(...written), fc.nat(300), fc.nat(6), fc.string({ maxLength: 3 }))
      .map(([line, at, gone, odd]) => line.slice(0, at) + odd + line.slice(at + gone));
    const mixed = fc.array(pieces, { maxLength: 12 }).map((all) => all.join(""));
    const found = { name: 0, none: 0, unknown: 0 };
    const compare = (line: string): void => {
      const text = Buffer.from(line.replaceAll("\n", " ")).toString("latin1");
      const { name: scanned, kind } = scannedName(format, text);
      assert.equal(scanned, format.nameIn(text), text);
      found[kind as keyof typeof found]++;
    };
    for (const line of written) compare(line);
    fc.assert(fc.property(fc.oneof(cut, mixed), compare), propertyRuns(5000));
    assert.ok(found.name > 100 && found.none > 100, `${name}: ${JSON.stringify(found)}`);
  }
});

test("names of any length are bounded alike", () => {
  for (const [name, lineOf] of [
    ["dnsmasq", (text: string) => `query[A] ${text} from 10.0.0.1`],
    ["AdGuard Home", (text: string) => JSON.stringify({ T: "2026", QH: text })],
  ] as const)
    for (const length of [0, 1, 1023, 1024, 1025]) {
      const line = lineOf("a".repeat(length));
      const expected = length > 1024 ? undefined : "a".repeat(length);
      assert.equal(formatOf(name).nameIn(line), expected);
      assert.equal(scannedName(formatOf(name), line).name, expected);
    }
});

test("counts of bytes match counts of strings", () => {
  const label = fc.constantFrom("a", "B", "ads", "x-1", "bücher", "ÉCOLE", "\\.", "ß", "İ");
  const name = fc
    .tuple(fc.array(label, { maxLength: 3 }), fc.constantFrom("", ".", ".."))
    .map(([labels, end]) => labels.join(".") + end);
  const odd = fc.uint8Array({ maxLength: 4 }).map((bytes) => Buffer.from(bytes).toString("latin1"));
  const query = fc.record({
    name: fc.oneof(
      { weight: 5, arbitrary: name.map((text) => Buffer.from(text).toString("latin1")) },
      { weight: 1, arbitrary: odd },
    ),
    count: fc.integer({ min: 1, max: 3 }),
    client: fc.constantFrom("", "", "10.0.0.1", "fd00::7"),
  });
  fc.assert(
    fc.property(fc.array(query, { maxLength: 60 }), (queries) => {
      const counts = new QueryCounts();
      const expected = new Map<string, number>();
      for (const { name: one, count, client } of queries) {
        if (client === "" && count === 1) {
          const bytes = Buffer.from(`<${one}>`, "latin1");
          counts.addBytes(bytes, 1, bytes.length - 1);
        } else counts.add(one, count, client);
        const lower = Buffer.from(one, "latin1").toString("utf8").toLowerCase();
        const key = `${client} ${lower.endsWith(".") ? lower.slice(0, -1) : lower}`;
        expected.set(key, (expected.get(key) ?? 0) + count);
      }
      const found = [...counts.entries()].map(
        ([one, count, client]) => [`${client} ${one}`, count] as const,
      );
      assert.deepEqual(new Map(found), expected);
      assert.deepEqual([found.length, counts.size], [expected.size, expected.size]);
    }),
    propertyRuns(1000),
  );
});

test("many names are each counted once", () => {
  const counts = new QueryCounts();
  for (let round = 1; round <= 2; round++)
    for (let at = 0; at < 20_000; at++) counts.add(`n${at}.example`, round, "");
  assert.equal(counts.size, 20_000);
  for (const [name, count] of counts.entries()) assert.equal(count, 3, name);
});

test("blocks of any size have the same lines as the whole text, without those of more than a mebibyte", () => {
  const MEBIBYTE = 1024 * 1024;
  const line = fc.oneof(
    { weight: 6, arbitrary: fc.string({ unit: fc.constantFrom("a", "b", "\r"), maxLength: 5 }) },
    {
      weight: 1,
      arbitrary: fc.constantFrom(MEBIBYTE - 1, MEBIBYTE, MEBIBYTE + 1).map((n) => "x".repeat(n)),
    },
  );
  const text = fc
    .tuple(fc.array(line, { maxLength: 6 }), fc.boolean())
    .map(([all, isEnded]) => all.join("\n") + (isEnded ? "\n" : ""));
  fc.assert(
    fc.property(text, fc.constantFrom(1, 3, MEBIBYTE / 2, MEBIBYTE), (whole, least) => {
      const size = whole.length > 1000 ? Math.max(least, MEBIBYTE / 2) : least;
      const blocks = new LineBlocks();
      const bytes = Buffer.from(whole);
      let joined = "";
      for (let at = 0; at < bytes.length; at += size)
        joined += Buffer.from(blocks.take(bytes.subarray(at, at + size))).toString();
      joined += Buffer.from(blocks.end()).toString();
      const kept = whole.split("\n").filter((one) => one.length <= MEBIBYTE);
      assert.deepEqual(filledLengths(joined.split("\n")), filledLengths(kept));
      if (whole.length < 1000) assert.equal(joined, whole);
    }),
    propertyRuns(150),
  );
});

/** Whether the last line is empty, or was dropped, makes no difference. */
function filledLengths(lines: readonly string[]): number[] {
  return lines.map(({ length }) => length).filter((length) => length > 0);
}
