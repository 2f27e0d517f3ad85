import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { SourceGauge, declaredCount } from "../../src/sources/names-of-source.ts";
import { corpusFolder, missingCorpus } from "../support/corpus.ts";
import { type CompileResult, CompilerError, compile } from "../support/internals.ts";
import { ScriptedWeb } from "../support/scripted-web.ts";

const URL_A = "https://a.example/l.txt";

function listOf(header: string, count: number): string {
  const names = Array.from({ length: count }, (_, index) => `||n${index}.example^`);
  return `${header}\n${names.join("\n")}\n`;
}

async function run(
  web: ScriptedWeb,
  more: { check_count?: boolean; required?: boolean } = {},
): Promise<CompileResult> {
  const config = { name: "n", sources: [{ source: URL_A, name: "a", required: true, ...more }] };
  const result = await compile(config, { host: web.host, cacheDir: "/cache", anyMayFail: true });
  result.close();
  return result;
}

function isTruncated(error: unknown): boolean {
  assert.ok(error instanceof CompilerError);
  assert.deepEqual(
    error.diagnostics.map(({ code }) => code),
    ["source-truncated"],
  );
  assert.match(error.diagnostics[0]?.cause ?? "", /names 1,000 entries, it has \d+$/);
  return true;
}

test("headers that name a number of entries", () => {
  const cases: Readonly<Record<string, number | undefined>> = {
    "! Number of entries: 1234": 1234,
    "# Entries: 26,029": 26_029,
    "# Blocked: 1.747 domains": 1747,
    "#TOTAL_LINES=110862": 110_862,
    "!Total lines: 102704": 102_704,
    "#  |Blocked: 73,878 domains": 73_878,
    "# Domain count: 42,296": 42_296,
    "# Count: 16452 domains": 16_452,
    "# Number of unique domains: 93,515": 93_515,
    "# Number of domain entries: 3158": 3158,
    "# Total number of network filters: 24280": 24_280,
    "# Number of Unique URLs: 558 [ADS ONLY]": 558,
    "# entries:        3522": 3522,
    // Not exact, or something else.
    "# Entries: 3700+": undefined,
    "# Entries for at least 3 websites": undefined,
    "!  |Size: 1.04 MB": undefined,
    "# Expires: 1 day": undefined,
    "! Version: 20261116": undefined,
    "! Blocked by CNAME s1.example": undefined,
    "||entries.example: 12^": undefined,
    "Entries: 12": undefined,
  };
  for (const [line, expected] of Object.entries(cases))
    assert.equal(
      declaredCount(Buffer.from(`! Title: x\r\n${line}\r\nname\n`))?.number,
      expected,
      line,
    );
});

test("a list with less than it declares fails, on the first fetch too", async () => {
  const web = new ScriptedWeb();
  web.answers[URL_A] = listOf("! Number of entries: 1,000", 899);
  await assert.rejects(async () => await run(web), isTruncated);
  const dropped = await run(web, { required: false });
  assert.equal(dropped.report.sources[0]?.state, "dropped");
  assert.equal((await run(web, { check_count: false })).report.rules, 899);
});

test("the last good copy replaces a truncated list", async () => {
  const web = new ScriptedWeb();
  for (const [count, state] of [
    [1000, "fetched"],
    [900, "fetched"],
    [899, "stale"],
    [1200, "fetched"],
  ] as const) {
    web.answers[URL_A] = listOf("# Entries: 1000", count);
    const { report } = await run(web);
    assert.equal(report.sources[0]?.state, state, String(count));
    assert.equal(report.sources[0]?.kept, (count === 899 ? 900 : count) + 1);
  }
});

test("a mirror replaces a truncated list", async () => {
  const web = new ScriptedWeb();
  const mirror = "https://b.example/l.txt";
  web.answers[URL_A] = listOf("# Entries: 1000", 500);
  web.answers[mirror] = listOf("# Entries: 1000", 1000);
  const config = { name: "n", sources: [{ source: URL_A, mirrors: [mirror] }] };
  const result = await compile(config, { host: web.host });
  result.close();
  assert.equal(result.report.sources[0]?.kept, 1001);
});

test("cosmetic rules, all lines and a small difference count", async () => {
  const cosmetic = Array.from({ length: 500 }, (_, index) => `##.ad-${index}`).join("\n");
  const comments = Array.from({ length: 250 }, (_, index) => `! ${index}\n\n`).join("");
  for (const [text, isWhole] of [
    [`${listOf("! Number of filters: 1000", 500)}${cosmetic}\n`, true],
    [`${listOf("! Total lines: 1000", 500)}${comments}`, true],
    [listOf("! Total lines: 1000", 500), false],
    [listOf("! Number of entries: 30", 10), true],
    [listOf("! Number of entries: 30", 9), false],
  ] as const) {
    const web = new ScriptedWeb();
    web.answers[URL_A] = text;
    const { report } = await run(web, { required: false });
    assert.equal(report.sources[0]?.state, isWhole ? "fetched" : "dropped", text.slice(0, 30));
  }
});

test("no real list is taken as truncated, and half of one is", { skip: missingCorpus }, () => {
  let declaring = 0;
  for (const set of ["typical", "power"] as const) {
    const folder = corpusFolder(set);
    for (const file of readdirSync(folder)) {
      const bytes = new Uint8Array(readFileSync(join(folder, file)));
      const declared = declaredCount(bytes)?.number;
      if (declared === undefined || bytes.length > 3_000_000) continue;
      declaring++;
      const entriesOf = (end: number): number => {
        const gauge = new SourceGauge(1, new Set());
        gauge.look(bytes, 0, end);
        assert.equal(gauge.declared?.number, declared);
        return gauge.counted;
      };
      assert.ok(entriesOf(bytes.length) >= declared * 0.9, file);
      if (declared > 1000) assert.ok(entriesOf(bytes.length / 2) < declared * 0.9, file);
    }
  }
  assert.ok(declaring > 80, `${declaring} lists declare their entries`);
});
