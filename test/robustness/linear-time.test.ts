import assert from "node:assert/strict";
import process from "node:process";
import { test } from "node:test";
import { type Config, compile, memoryHost } from "../../src/index.ts";

/** Twice the input may cost 2.3 times the CPU at the most, whatever its shape. */
const LIMIT = 2.3;
const SIZE = 200_000;

const config: Config = {
  name: "growth",
  sources: [{ source: "s.txt" }],
  transformations: [
    "ConvertToAscii",
    "TrimLines",
    "RemoveComments",
    "Compress",
    "Validate",
    "Deduplicate",
    "RemoveEmptyLines",
    "InsertFinalNewLine",
  ],
};

/** Shapes on which other compilers are quadratic. */
const SHAPES: Readonly<Record<string, (size: number) => string>> = {
  "duplicate lines": (size) =>
    lines(size, (index) => `||d${index % (size / 4)}.example.org^$important`),
  "subdomains of one another": (size) =>
    lines(size, (index) => `0.0.0.0 s${index}.p${index % 1000}.example.org`) +
    lines(1000, (index) => `p${index}.example.org`),
  "invalid lines": (size) =>
    lines(size, (index) => (index % 2 === 0 ? `bad line ${index}` : `||ok${index}.example.org^`)),
  "a long line": (size) =>
    `0.0.0.0 ${lines(size, (index) => `h${index}.example.org `).replaceAll("\n", "")}`,
  "a long line without a dot": (size) => `||${"я".repeat(size * 2)}^\n${" ".repeat(size)}#`,
  "deep labels": (size) => `0.0.0.0 ${"a.".repeat(size * 4)}com\n${"b.".repeat(size * 4)}org`,
};

function lines(count: number, line: (index: number) => string): string {
  return Array.from({ length: count }, (_, index) => `${line(index)}\n`).join("");
}

for (const [shape, text] of Object.entries(SHAPES)) {
  test(`time grows with the input: ${shape}`, async (context) => {
    const single = text(SIZE);
    const double = text(SIZE * 2);
    await cpuTime(single);
    // Noise only ever adds: the least of many interleaved runs is the cost.
    let least = Infinity;
    let leastOfDouble = Infinity;
    let runs = 0;
    do {
      least = Math.min(least, await cpuTime(single));
      leastOfDouble = Math.min(leastOfDouble, await cpuTime(double));
    } while (++runs < 3 || (leastOfDouble / least > LIMIT && runs < 15));
    const ratio = leastOfDouble / least;
    context.diagnostic(
      `${shape}: ${least.toFixed(0)} ms, doubled ${leastOfDouble.toFixed(0)} ms: × ${ratio.toFixed(2)}`,
    );
    assert.ok(ratio <= LIMIT, `× ${ratio}`);
  });
}

async function cpuTime(text: string): Promise<number> {
  const host = memoryHost({ files: { "s.txt": text } });
  const start = process.cpuUsage();
  await compile(config, { host });
  const { user, system } = process.cpuUsage(start);
  return (user + system) / 1000;
}
