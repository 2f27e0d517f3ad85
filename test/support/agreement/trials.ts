import assert from "node:assert/strict";
import process from "node:process";
import type { TestContext } from "node:test";
import { isNightly } from "../nightly.ts";
import type { RandomList } from "./random-list.ts";

export const LISTS: number = Number(process.env["FUZZ_LISTS"] ?? (isNightly ? 5000 : 150));
export const NAMES: number = isNightly ? 300 : 120;

/** Says what is wrong, in texts that begin with the kind of fault and a colon; none when all agree. */
export type Check = (list: RandomList, seed: number) => Promise<readonly string[]>;

interface Fault {
  count: number;
  readonly examples: string[];
}

/** Examples of each kind, and how often a check may be run to make them small. */
const EXAMPLES = 1;
const MOST_CHECKS = 400;

/** Runs a check over many random lists. Faults are counted by kind, and the first of each are made small. */
export async function tryLists(
  context: TestContext,
  lists: number,
  listOf: (seed: number) => RandomList,
  check: Check,
): Promise<void> {
  const faults = new Map<string, Fault>();
  const budget = { checks: MOST_CHECKS };
  for (let seed = 1; seed <= lists; seed++) {
    const list = listOf(seed);
    for (const kind of new Set((await check(list, seed)).map(kindOf))) {
      let fault = faults.get(kind);
      if (fault === undefined) faults.set(kind, (fault = { count: 0, examples: [] }));
      fault.count++;
      if (fault.examples.length < EXAMPLES)
        fault.examples.push(await smallest({ list, seed, kind }, check, budget));
    }
  }
  const report = [...faults].map(
    ([kind, { count, examples }]) => `${kind} (${count} of ${lists} lists)\n${examples.join("\n")}`,
  );
  context.diagnostic(
    `${lists} lists: ${faults.size === 0 ? "0 differences" : [...faults.keys()].join("; ")}`,
  );
  assert.equal(faults.size, 0, `\n${report.join("\n\n")}`);
}

function kindOf(wrong: string): string {
  return wrong.split(":")[0]!;
}

/** What is odd about how a rule is written, for telling kinds of faults apart. */
export function spelling(texts: readonly string[]): string {
  const text = texts.join(" ");
  if (/[^\u0009-\u007e]/.test(text)) return " (international)";
  if (/[\w-]\.(?:\s|$)/.test(text)) return " (final dot)";
  if (/#/.test(text)) return " (note)";
  return /[A-Z]{2}\./.test(text) ? " (upper case)" : "";
}

/** Leaves out lines as long as the same kind of fault stays. */
async function smallest(
  { list, seed, kind }: { list: RandomList; seed: number; kind: string },
  check: Check,
  budget: { checks: number },
): Promise<string> {
  let lines = list.lines;
  let wrong = kind;
  // Half of them at first, then less and less; the first time all stay, for the text.
  for (let piece = lines.length; piece >= 1; piece = Math.floor(piece / 2))
    for (let at = piece === lines.length ? piece : 0; at <= lines.length;) {
      if (budget.checks-- <= 0) break;
      const [from, to] = [at, at + piece];
      const fewer = lines.filter((_, index) => index < from || index >= to);
      const faults = await check({ ...list, lines: fewer }, seed).catch(() => []);
      const same = faults.find((one) => kindOf(one) === kind);
      if (same === undefined || fewer.length === lines.length) at += piece;
      else lines = fewer;
      wrong = same ?? wrong;
    }
  return `  seed ${seed}: ${wrong}\n${lines.map((line) => `    | ${line}`).join("\n")}`;
}
