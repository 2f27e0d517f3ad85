import assert from "node:assert/strict";
import type { SourceType } from "../../src/config/fields.ts";
import { LINT_TRANSFORMATIONS, type LintResult, lintList } from "../../src/lint/lint-list.ts";
import { compile, memoryHost } from "./internals.ts";
import { decidingRule, naiveRules } from "./naive-matcher.ts";
import { PROBES, randomList } from "./random-list.ts";
import type { Random } from "./random.ts";
import { PLAIN_NAMES, VALIDATOR_NAMES } from "./transformation-names.ts";

const CHAINS: readonly (readonly string[])[] = [
  [],
  ["TrimLines"],
  ["TrimLines", "Deduplicate"],
  ["Validate"],
  ["Compress"],
  ["TrimLines", "Compress"],
  ["RemoveComments", "Deduplicate", "Compress", "Validate", "TrimLines", "InsertFinalNewLine"],
];

/** Makes a random list and fixes it. Fails if that changes what the list means to anybody. */
export async function checkLintFix(random: Random, what: string): Promise<void> {
  const text = randomList(random);
  const type = random.pick(["adblock", "hosts", "domains"] as const);
  const { problems, fixed } = await lintOf(text, type);
  const context = `${what}, ${type}: ${JSON.stringify(text)} → ${JSON.stringify(fixed)}`;
  assert.deepEqual(meaningOf(fixed), meaningOf(text), `raw, ${context}`);
  const picked = PLAIN_NAMES.filter(() => random.chance(0.3));
  // InvertAllow puts its mark before the blanks of a line, which is no rule then.
  const trims = picked.includes("InvertAllow") ? ["TrimLines"] : [];
  const own = [...picked, ...trims, ...(random.chance(0.5) ? [random.pick(VALIDATOR_NAMES)] : [])];
  for (const chain of [random.pick(CHAINS), own]) {
    const [before, after] = [
      await compiledOf(text, type, chain),
      await compiledOf(fixed, type, chain),
    ];
    assert.deepEqual(meaningOf(after), meaningOf(before), `${chain.join()}, ${context}`);
  }
  const usual = await compiledOf(text, type, LINT_TRANSFORMATIONS);
  assert.equal(await compiledOf(fixed, type, LINT_TRANSFORMATIONS), usual, `bytes, ${context}`);
  if (random.chance(0.9)) return;
  const again = await lintOf(fixed, type);
  assert.deepEqual(
    again.problems.filter(({ isFixable }) => isFixable),
    [],
    context,
  );
  if (!problems.some(({ isFixable }) => isFixable)) assert.equal(fixed, text, context);
}

async function lintOf(text: string, type: SourceType): Promise<LintResult> {
  return await lintList("/project/l.txt", type, memoryHost({ files: { "l.txt": text } }));
}

async function compiledOf(
  text: string,
  type: SourceType,
  transformations: readonly string[],
): Promise<string> {
  const host = memoryHost({ files: { "l.txt": text }, now: new Date(0) });
  const config = {
    name: "x",
    sources: [{ source: "l.txt", type }],
    transformations: [...transformations],
  };
  const { bytes } = await compile(config, { host });
  return new TextDecoder().decode(bytes);
}

/** What an independent matcher makes of a text, for every name that may matter. */
function meaningOf(text: string): string[] {
  const rules = naiveRules(text.replace("\uFEFF", "").split(/\r\n|\n/));
  return PROBES.filter((name) => decidingRule(rules, name) !== undefined).map(
    (name) => `${name} ${decidingRule(rules, name)!.isAllow ? "allowed" : "blocked"}`,
  );
}
