import assert from "node:assert/strict";
import process from "node:process";
import { test } from "node:test";
import { type Config, compile, memoryHost } from "../support/internals.ts";
import { lines } from "../support/cost-shapes.ts";
import { isNightly } from "../support/nightly.ts";

/** CPU time that a line of a stranger may take more than the same line of a friend. */
const MOST_MICROSECONDS = isNightly ? 10 : 60;
const COUNT = isNightly ? 20_000 : 4000;
const ROUNDS = 5;

const LINES: Readonly<Record<string, (index: number) => string>> = {
  exceptions: (index) => `@@||x${index}.example.com^`,
  "exceptions with wildcards": (index) => `@@||*x${index}*.example.com^`,
  "wildcards around a suffix": (index) => `||*.com*${index}*2*^`,
  "twenty stars": (index) => `||*${"com*".repeat(20)}${index}*^`,
  "important rules": (index) => `||x${index}.example.com^$important`,
};

for (const [name, line] of Object.entries(LINES))
  test(`checking an untrusted line takes microseconds: ${name}`, async (context) => {
    const text = `||fine.example^\n${lines(COUNT, line)}`;
    const least = { full: Infinity, standard: Infinity };
    const more = (): number => ((least.standard - least.full) * 1000) / COUNT;
    for (let round = 0; round < ROUNDS && (round < 2 || more() > MOST_MICROSECONDS); round++)
      for (const trust of ["full", "standard"] as const)
        least[trust] = Math.min(least[trust], await cpuTime(text, trust));
    context.diagnostic(`${name}: ${more().toFixed(1)} µs per line`);
    assert.ok(more() <= MOST_MICROSECONDS, `${more().toFixed(1)} µs`);
  });

async function cpuTime(text: string, trust: "full" | "standard"): Promise<number> {
  const source = "https://lists.example/l.txt";
  const host = memoryHost({ web: { [source]: text } });
  const config: Config = { name: "n", sources: [{ source, trust }] };
  const start = process.cpuUsage();
  const result = await compile(config, { host });
  const { user, system } = process.cpuUsage(start);
  result.close();
  // All patterns of a stranger together may match one name in 200, of those that the program knows.
  const { dropped } = result.report.sources[0]!;
  assert.equal(result.report.rules + (dropped["too-wide"] ?? 0), COUNT + 1);
  assert.ok(result.report.rules > COUNT / 20);
  return (user + system) / 1000;
}
