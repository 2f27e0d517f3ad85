import { test } from "node:test";
import { tryLists } from "../support/agreement/trials.ts";
import { adguardEngine, missingEngine } from "../support/reference/adguard-engine.ts";
import { subscriber } from "../support/attack/astray.ts";
import { checkHostile, hostileList } from "../support/attack/hostile-check.ts";
import { isNightly } from "../support/nightly.ts";

const CASES = isNightly ? 50_000 : 4000;
const TOGETHER = 40;

for (const trust of ["block-only", "standard"] as const)
  test(
    `${CASES} cases: a ${trust} source removes no coverage, rewrites nothing and redirects no subscriber`,
    { timeout: 1_500_000, skip: missingEngine },
    async (context) => {
      const judges = { engineOf: await adguardEngine(), subscribe: await subscriber() };
      await tryLists(
        context,
        CASES / TOGETHER,
        (seed) => hostileList(seed, TOGETHER),
        async (list, seed) => await checkHostile(list, seed, trust, judges),
      );
    },
  );
