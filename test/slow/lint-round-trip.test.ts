import { test } from "node:test";
import { checkLintFix } from "../support/lint-fix.ts";
import { isNightly } from "../support/nightly.ts";
import { Random } from "../support/random.ts";

test(
  "random lists mean the same after --fix, to those who subscribe to them and those who compile them",
  { timeout: 1_800_000 },
  async (context) => {
    const random = new Random(8_112_026);
    const rounds = isNightly ? 10_000 : 1500;
    for (let round = 0; round < rounds; round++) await checkLintFix(random, `round ${round}`);
    context.diagnostic(`${rounds} lists`);
  },
);
