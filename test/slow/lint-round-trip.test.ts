import { test } from "node:test";
import { chooseKernel } from "../../src/kernel/choice.ts";
import { checkLintFix } from "../support/lint-fix.ts";
import { Random } from "../support/random.ts";

test(
  "10,000 random lists mean the same after --fix, to those who subscribe to them and those who compile them",
  { timeout: 1_800_000 },
  async () => {
    const random = new Random(8_112_026);
    // Sixteen megabytes less for each of a hundred thousand compiles; the two forms give the same columns.
    chooseKernel("script");
    for (let round = 0; round < 10_000; round++) await checkLintFix(random, `round ${round}`);
  },
);
