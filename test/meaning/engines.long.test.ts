import { test } from "node:test";
import { missingEngine } from "../support/reference/adguard-engine.ts";
import { judges } from "../support/reference/judges.ts";
import { checkEngines } from "../support/agreement/engine-check.ts";
import { quirkCounts } from "../support/agreement/engine-quirks.ts";
import { randomList } from "../support/agreement/random-list.ts";
import { compiledText } from "../support/agreement/transformation-check.ts";
import { LISTS, NAMES, tryLists } from "../support/agreement/trials.ts";

const LONG = { timeout: 900_000, skip: missingEngine };

test(
  "AdGuard's engines read published lists as the reference matcher does",
  LONG,
  async (context) => {
    const all = await judges();
    await tryLists(
      context,
      LISTS,
      (seed) => randomList(seed, { names: NAMES }),
      async ({ lines, names }) => {
        const text = await compiledText(lines, []);
        return checkEngines({ lines: text.split("\n"), names }, all);
      },
    );
    for (const line of quirkCounts()) context.diagnostic(line);
  },
);
