import assert from "node:assert/strict";
import { test } from "node:test";
import { lines } from "../support/cost-shapes.ts";
import { growthOf } from "../support/growth.ts";
import { type Config, compile, memoryHost } from "../support/internals.ts";

/** Twice the input may cost 2.3 times the CPU time at the most, whatever its shape. */
const MOST = Math.log2(2.3);
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

for (const [shape, text] of Object.entries(SHAPES))
  test(`time grows linearly with the input: ${shape}`, async (context) => {
    // Two doublings, because the step from one size of the machine's caches to the next is not the program's.
    const { times, exponent } = await growthOf(
      (factor) => {
        const content = text(SIZE * factor);
        return () => compile(config, { host: memoryHost({ files: { "s.txt": content } }) });
      },
      { most: MOST, mostRounds: 12 },
    );
    const shown = times.map((ms) => `${ms.toFixed(0)} ms`).join(", ");
    const factor = `× ${(2 ** exponent).toFixed(2)} a doubling`;
    context.diagnostic(`${shape}: ${shown}: ${factor}`);
    assert.ok(exponent <= MOST, `${shown}: ${factor}`);
  });
