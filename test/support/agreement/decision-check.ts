import { isListedSuffix } from "../../../src/syntax/public-suffix.ts";
import { MemoryProject } from "../memory-project.ts";
import { Random } from "../random.ts";
import type { adguardEngine } from "../reference/adguard-engine.ts";
import { ListMatcher, type Meaning } from "../reference/list-matcher.ts";
import { isAtOrBelow } from "../reference/names.ts";
import type { RandomList } from "./random-list.ts";
import { hasEdgeHyphen } from "./random-names.ts";
import { randomChain } from "./transformation-check.ts";

interface RandomDecision {
  readonly name: string;
  readonly isAllow: boolean;
  readonly isExact: boolean;
}

/** Lines of a file of decisions about some of these names, each with a parent or a child of another one. */
export function randomDecisions(random: Random, names: readonly string[]): RandomDecision[] {
  const valid = names.filter((name) => !hasEdgeHyphen(name) && /^[a-z0-9.-]+\.[a-z]+$/.test(name));
  if (valid.length === 0) return [];
  const found = new Map<string, RandomDecision>();
  for (const one of random.times(1 + random.below(4), () => random.pick(valid)))
    for (const name of random.chance(0.4)
      ? [one, `x.${one}`, one.slice(one.indexOf(".") + 1)]
      : [one]) {
      if (!name.includes(".") || isListedSuffix(name) || name.length > 200) continue;
      const decision = { name, isAllow: random.chance(0.5), isExact: random.chance(0.3) };
      found.set(name, decision);
    }
  return [...found.values()];
}

export function decisionsText(decisions: readonly RandomDecision[]): string {
  return decisions
    .map(
      ({ name, isAllow, isExact }) =>
        `${isAllow ? "allow" : "block"} ${name}${isExact ? " exact" : ""}\n`,
    )
    .join("");
}

/** What decides about a name: the decision about the fewest names. */
function decisionOf(name: string, all: readonly RandomDecision[]): RandomDecision | undefined {
  return all
    .filter((one) => (one.isExact ? one.name === name : isAtOrBelow(name, one.name)))
    .toSorted((a, b) => b.name.length - a.name.length || Number(b.isExact) - Number(a.isExact))[0];
}

/**
 * A decided name has its verdict, whatever the sources say, and all others keep theirs. Two lists are compared: one that was published without the
 * decisions, and one with them.
 */
export async function checkDecisions(
  { lines, names }: RandomList,
  seed: number,
  engine?: Awaited<ReturnType<typeof adguardEngine>>,
): Promise<string[]> {
  const random = new Random(seed);
  const decisions = randomDecisions(random, names);
  const chain = randomChain(random);
  const half = Math.ceil(lines.length / 2);
  const trusts = random.pick([["full"], ["standard"], ["full", "standard"]]);
  const project = new MemoryProject({
    "c.json": JSON.stringify({
      name: "N",
      sources: trusts.map((trust, index) => ({ source: `${index}.txt`, trust })),
      transformations: chain,
    }),
    "0.txt": `${lines.slice(0, half).join("\n")}\n`,
    "1.txt": `${lines.slice(half).join("\n")}\n`,
  });
  const accept = ["too-few-rules", "empty-output", "blocks-suffix"];
  const words = accept.flatMap((code) => ["--accept", code]);
  const compiled = async (): Promise<string> => {
    const { exit, stderr } = await project.run(
      "-c",
      "c.json",
      "--no-cache",
      "--no-record",
      ...words,
    );
    return exit === 0 || exit === 3 ? project.text("rules/n.txt") : `failed ${exit} ${stderr}`;
  };
  const before = await compiled();
  project.write("decisions.txt", decisionsText(decisions));
  const after = await compiled();
  if (before.startsWith("failed") || after.startsWith("failed"))
    return before.startsWith("failed") ? [] : [after];
  const asked = new Set([
    ...names,
    ...decisions.flatMap(({ name }) => [name, `y.${name}`, `z.x.${name}`]),
  ]);
  const [old, now] = [ListMatcher.of(before), ListMatcher.of(after)];
  const [oldEngine, nowEngine] = [engine?.(before), engine?.(after)];
  const faults: string[] = [];
  for (const name of asked) {
    const decision = decisionOf(name, decisions);
    const was = old.meaning(name);
    const { meaning: is, by } = now.decide(name);
    const detail = `${name} was ${was}, is ${is} by ${by.map(({ text }) => text).join(" or ")}; ${decisionsText(decisions).replaceAll("\n", "; ")}(${chain.join()}; ${trusts.join()})`;
    if (!isRight(decision, was, is) && !isUnsayable(name, decision, decisions, old))
      faults.push(`${kindOf(decision)}: ${detail}`);
    else if (oldEngine !== undefined && nowEngine !== undefined && isOrdinary(name)) {
      const theirs = nowEngine(name);
      if (oldEngine(name) === was && is !== theirs)
        faults.push(`AdGuard's engine says ${theirs}: ${detail}`);
    }
  }
  return faults;
}

/** The engine matches other names as no resolver does. */
function isOrdinary(name: string): boolean {
  return !name.includes("_") && !hasEdgeHyphen(name);
}

/** An important exception with a pattern cannot leave out a name and keep the names below it. */
function isUnsayable(
  name: string,
  decision: RandomDecision | undefined,
  decisions: readonly RandomDecision[],
  old: ListMatcher,
): boolean {
  return (
    decision === undefined &&
    decisions.some((one) => !one.isAllow && one.isExact && isAtOrBelow(name, one.name)) &&
    old
      .matching(name)
      .some(({ isAllow, isImportant, host }) => isAllow && isImportant && host === undefined)
  );
}

function isRight(decision: RandomDecision | undefined, was: Meaning, is: Meaning): boolean {
  if (decision === undefined) return is === was;
  if (!decision.isAllow) return is === "blocked";
  return is === "allowed" || is === "neither";
}

function kindOf(decision: RandomDecision | undefined): string {
  if (decision === undefined) return "another name changed";
  return `${decision.isAllow ? "allow" : "block"}${decision.isExact ? " exact" : ""} has no effect`;
}
