import process from "node:process";
import assert from "node:assert/strict";
import { test } from "node:test";
import { SHAPES } from "../support/cost-shapes.ts";
import { growthOf } from "../support/growth.ts";
import { isNightly } from "../support/nightly.ts";

/** Time grows with the size of the input to the power of this at the most. Small inputs say less, so more is let pass. */
const MOST = isNightly ? 1.2 : 1.6;
/** Of the size in the full form. */
const SCALE = isNightly ? 1 : 0.25;

const only = process.env["ATTACK_SHAPE"];

for (const [name, shape] of Object.entries(SHAPES))
  if (only === undefined ? isNightly || shape.isShort === true : name.includes(only))
    test(`time grows linearly with the input: ${name}`, async (context) => {
      const { times, exponent } = await growthOf(
        (factor) => shape.prepare(Math.ceil(shape.size * SCALE) * factor),
        {
          most: MOST,
          mostRounds: isNightly ? 6 : 8,
          // Of small inputs both doublings: the last one alone is mostly noise.
          isLastDoublingOnly: isNightly,
          leastMs: 60,
        },
      );
      const shown = times.map((ms) => ms.toFixed(0).padStart(7)).join("");
      context.diagnostic(`${name.padEnd(44)}${shown} ms  ${exponent.toFixed(2)}`);
      assert.ok(exponent <= MOST, `${name}: ${shown} ms, to the power of ${exponent.toFixed(2)}`);
    });
