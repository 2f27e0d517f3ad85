import { test } from "node:test";
import { checkLintFix } from "../support/lint-fix.ts";
import { isNightly } from "../support/nightly.ts";
import { Random } from "../support/random.ts";

test(
  "random lists keep their meaning after --fix, for subscribers and after compilation",
  { timeout: 1_800_000 },
  async (context) => {
    const random = new Random(8_112_026);
    const rounds = isNightly ? 10_000 : 30;
    for (let round = 0; round < rounds; round++) await checkLintFix(random, `round ${round}`);
    context.diagnostic(`${rounds} lists`);
  },
);
