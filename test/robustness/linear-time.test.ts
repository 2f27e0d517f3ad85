import assert from "node:assert/strict";
import process from "node:process";
import { test } from "node:test";
import { type Config, compile, memoryHost } from "../support/internals.ts";

/** Twice the input may cost 2.3 times the CPU at the most, whatever its shape. */
const LIMIT = 2.3;
/** More rows than one chunk has: below that everything is in one place, and quicker for it. */
const SIZE = 100_000;

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
  // A megabyte at the most: above that the collector takes large strings another way, which is a step of its own.
  "deep labels": (size) => `0.0.0.0 ${"a.".repeat(size)}com\n${"b.".repeat(size)}org`,
};

function lines(count: number, line: (index: number) => string): string {
  return Array.from({ length: count }, (_, index) => `${line(index)}\n`).join("");
}

for (const [shape, text] of Object.entries(SHAPES)) {
  test(`time grows linearly with the input: ${shape}`, async (context) => {
    // Two doublings, because the step from one size of the machine's caches to the next is not the program's.
    const texts = [1, 2, 4].map((times) => text(SIZE * times));
    await cpuTime(texts[0]!);
    // Noise only ever adds: the least of many interleaved runs is the cost.
    const least = texts.map(() => Infinity);
    const growth = (): number => Math.sqrt(least[2]! / least[0]!);
    let runs = 0;
    do {
      for (const [index, sized] of texts.entries())
        least[index] = Math.min(least[index]!, await cpuTime(sized));
    } while (++runs < 3 || (growth() > LIMIT && runs < 20));
    const times = least.map((ms) => `${ms.toFixed(0)} ms`).join(", ");
    context.diagnostic(`${shape}: ${times}: × ${growth().toFixed(2)} a doubling`);
    assert.ok(growth() <= LIMIT, `× ${growth()} a doubling`);
  });
}

async function cpuTime(text: string): Promise<number> {
  const host = memoryHost({ files: { "s.txt": text } });
  const start = process.cpuUsage();
  await compile(config, { host });
  const { user, system } = process.cpuUsage(start);
  return (user + system) / 1000;
}
