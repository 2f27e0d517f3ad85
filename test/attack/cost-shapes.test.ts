import process from "node:process";
import assert from "node:assert/strict";
import { test } from "node:test";
import { type CostShape, SHAPES } from "../support/cost-shapes.ts";
import { isNightly } from "../support/nightly.ts";

/** Time grows with the size of the input to the power of this at the most. Small inputs say less, so more is let pass. */
const MOST = isNightly ? 1.2 : 1.6;
/** Of the size in the full form. */
const SCALE = isNightly ? 1 : 0.25;
const MOST_RUNS = isNightly ? 6 : 8;
/** Below that, what is measured is the collector. */
const LEAST_MS = 60;

const only = process.env["ATTACK_SHAPE"];

for (const [name, shape] of Object.entries(SHAPES))
  if (only === undefined ? isNightly || shape.isShort === true : name.includes(only))
    test(`time grows linearly with the input: ${name}`, async (context) => {
      const { times, exponent } = await growthOf(shape);
      const shown = times.map((ms) => ms.toFixed(0).padStart(7)).join("");
      context.diagnostic(`${name.padEnd(44)}${shown} ms  ${exponent.toFixed(2)}`);
      assert.ok(exponent <= MOST, `${name}: ${shown} ms, to the power of ${exponent.toFixed(2)}`);
    });

/** CPU time for an input of one, two and four times the size. Noise only adds: the least of several runs counts. */
async function growthOf({ size, prepare }: CostShape): Promise<{
  readonly times: readonly number[];
  readonly exponent: number;
}> {
  const runs = [1, 2, 4].map((times) => prepare(Math.ceil(size * SCALE) * times));
  const times = runs.map(() => Infinity);
  await runs[0]!();
  let exponent = Infinity;
  for (let round = 0; round < MOST_RUNS && (round < 2 || exponent > MOST); round++) {
    for (const [at, run] of runs.entries()) {
      const start = process.cpuUsage();
      await run();
      const { user, system } = process.cpuUsage(start);
      times[at] = Math.min(times[at]!, (user + system) / 1000);
    }
    // Of small inputs both doublings: the last one alone is mostly noise.
    const last = Math.log2(times[2]! / times[1]!);
    exponent = isNightly ? last : Math.log2(times[2]! / times[0]!) / 2;
    if (times[2]! < LEAST_MS) exponent = 0;
  }
  return { times, exponent };
}
