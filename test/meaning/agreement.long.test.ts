import assert from "node:assert/strict";
import { test } from "node:test";
import { Random } from "../support/random.ts";
import { checkAllow } from "../support/agreement/allow-check.ts";
import { checkCombined } from "../support/agreement/combined-check.ts";
import { checkCovers, checkDiff, pairedList } from "../support/agreement/comparison-check.ts";
import { checkDecisions } from "../support/agreement/decision-check.ts";
import { checkOutputs, randomAnswers, randomLateness } from "../support/agreement/output-check.ts";
import { type RandomList, randomList } from "../support/agreement/random-list.ts";
import { hasEdgeHyphen } from "../support/agreement/random-names.ts";
import {
  PRESERVING,
  checkTransformations,
  randomChain,
} from "../support/agreement/transformation-check.ts";
import { adguardEngine, missingEngine } from "../support/reference/adguard-engine.ts";
import { LISTS, NAMES, tryLists } from "../support/agreement/trials.ts";
import { checkWhy } from "../support/agreement/why-check.ts";

const LONG = { timeout: 900_000 };
const nearPair = (seed: number): RandomList => pairedList(seed, NAMES, seed % 2 === 0 ? 1 : 0.96);
const chainOf = (seed: number): string[] =>
  seed % 2 === 0
    ? randomChain(new Random(seed))
    : [PRESERVING[Math.floor(seed / 2) % PRESERVING.length]!];
const LATE_CHAINS = [
  ["Compress"],
  ["Compress"],
  ["Compress", "Deduplicate"],
  ["RemoveModifiers", "Compress"],
  ["Compress", "InvertAllow"],
  [],
];
const anyList = (seed: number): RandomList => randomList(seed, { names: NAMES });

test("why agrees with the reference matcher", LONG, async (context) => {
  await tryLists(context, LISTS, anyList, checkWhy);
});

test("transformations keep the meaning of a list, alone and combined", LONG, async (context) => {
  const tame = ["browser", "any-name", "odd-name", "loose-pattern"] as const;
  await tryLists(
    context,
    LISTS,
    (seed) => {
      const chain = chainOf(seed);
      const isValidated = chain.includes("Validate");
      // What is invalid goes; names in other letters are, unless they are converted first.
      const isTame = isValidated && !chain.includes("ConvertToAscii");
      const list = randomList(seed, { names: NAMES, without: isValidated ? tame : [], isTame });
      const isKept = (line: string): boolean => !isValidated || !hasEdgeHyphen(line);
      return { ...list, lines: list.lines.filter(isKept) };
    },
    async (list, seed) => await checkTransformations(list, chainOf(seed)),
  );
});

test(
  "outputs mean what the list means, or report what they cannot express",
  LONG,
  async (context) => {
    // Sixteen formats each: half as many lists.
    await tryLists(context, LISTS / 2, anyList, async (list, seed) => {
      const transformations = seed % 2 === 0 ? [] : ["Compress", "Deduplicate"];
      return await checkOutputs(list, { policy: "skip", transformations, protects: 0 });
    });
  },
);

test(
  "outputs give every answer that they have, and the page is never blocked",
  LONG,
  async (context) => {
    await tryLists(context, LISTS / 2, anyList, async (list, seed) => {
      const answers = randomAnswers(new Random(seed), list.names);
      const transformations = seed % 2 === 0 ? [] : ["Compress", "Deduplicate"];
      const policy = seed % 3 === 0 ? "widen" : "skip";
      return await checkOutputs(list, { policy, transformations, protects: 0, answers });
    });
  },
);

test(
  "outputs mean what the list means, whatever drops a rule that covers others",
  LONG,
  async (context) => {
    await tryLists(context, Math.ceil(LISTS / 3), anyList, async (list, seed) => {
      const random = new Random(seed);
      const lateness = randomLateness(random, list.names);
      const transformations = random.pick(LATE_CHAINS);
      return await checkOutputs(
        list,
        { policy: "skip", transformations, protects: 0, lateness },
        seed,
      );
    });
  },
);

test("outputs with on_loss: widen never block what must stay reachable", LONG, async (context) => {
  await tryLists(context, Math.ceil(LISTS / 6), anyList, async (list, seed) => {
    const transformations = seed % 2 === 0 ? [] : ["Compress"];
    return await checkOutputs(list, { policy: "widen", transformations, protects: 2 });
  });
});

test("names in allow are neither blocked nor rewritten", LONG, async (context) => {
  await tryLists(context, LISTS, anyList, checkAllow);
});

test("a decided name has its verdict, and all other names keep theirs", LONG, async (context) => {
  await tryLists(context, LISTS, anyList, checkDecisions);
});

test("AdGuard's engine finds the verdicts of decisions in the list", LONG, async (context) => {
  if (missingEngine !== false) {
    context.skip(missingEngine);
    return;
  }
  const engine = await adguardEngine();
  // The engine does not know rewrites.
  const without = ["rewrite", "answer", "partial"] as const;
  await tryLists(
    context,
    LISTS / 2,
    (seed) => randomList(seed, { names: NAMES, isTame: true, without }),
    async (list, seed) => await checkDecisions(list, seed, engine),
  );
});

test("diff agrees with the reference matcher", LONG, async (context) => {
  await tryLists(context, LISTS, (seed) => pairedList(seed, 0), checkDiff);
});

test(
  "a list with covers blocks everything that the other list blocks, or is not published",
  LONG,
  async (context) => {
    let published = 0;
    const lists = Math.ceil(LISTS / 5);
    await tryLists(
      context,
      lists,
      nearPair,
      async (pair) => await checkCovers(pair, () => published++),
    );
    context.diagnostic(`${published} of them published`);
    assert.ok(published > lists / 10, "a suite that sees nothing published proves nothing");
  },
);

test("combined files say what each of their lists says, or report it", LONG, async (context) => {
  await tryLists(context, Math.ceil(LISTS / 6), anyList, checkCombined);
});
