import { printable } from "../diagnostics/printable.ts";
import type { Config } from "./config.ts";
import { isFeed } from "./feed-values.ts";
import { sourceProblems } from "./source-problems.ts";

interface Problem {
  readonly message: string;
  readonly hint: string;
}

type NameList = NonNullable<Config["ranks"]>[number];

/** The type of a list of names: as written, or by its address. */
export function nameListType({
  type,
  source,
}: Pick<NameList, "type" | "source">): NonNullable<NameList["type"]> {
  return type ?? (/\.csv\b/i.test(source) ? "tranco" : "domains");
}

/** Problems of `ranks` in a configuration that is otherwise valid. */
export function rankProblems({ ranks = [] }: Config): Iterable<Problem> {
  return nameListProblems(ranks, "ranks");
}

/** Ranks begin with 1: with less, every rule that blocks would be dropped. */
export function* rankedProblems({ ranked, lists = [] }: Config): Generator<Problem> {
  for (const most of [ranked, ...lists.map((one) => one.ranked)])
    if (most !== undefined && most < 1)
      yield {
        message: `ranked is ${most}, which no name has as its rank`,
        hint: "Write 1 or more, or remove the field",
      };
}

/** The same for `expand`. */
export function* expandProblems({ expand, lists = [] }: Config): Generator<Problem> {
  yield* nameListProblems(expand?.with ?? [], "expand.with");
  for (const [index, one] of lists.entries())
    yield* nameListProblems(one.expand?.with ?? [], `lists[${index}].expand.with`);
}

function* nameListProblems(lists: readonly NameList[], field: string): Generator<Problem> {
  for (const [index, one] of lists.entries()) {
    const at = `${field}[${index}]`;
    yield* sourceProblems(one, at);
    const type = nameListType(one);
    if (!isFeed({ ...one, type }) && type !== "domains")
      yield {
        message: `${at}.type is ${printable(type)}, which is not a list of names`,
        hint: "Use tranco, csv with column, domains, or another feed",
      };
  }
}

/** Settings that need `ranks`, in a configuration without it. */
export function* unrankedProblems({ ranks = [], ...config }: Config): Generator<Problem> {
  if (ranks.length > 0) return;
  const levels = [config, ...(config.lists ?? [])];
  const used = [
    levels.some(({ ranked }) => ranked !== undefined) && "ranked",
    levels.some(({ outputs }) => outputs?.some(({ fit }) => fit?.by === "rank")) && "fit.by: rank",
    levels.some(({ guards }) => guards?.newly_blocks !== undefined) && "guards.newly_blocks",
  ];
  for (const what of used)
    if (what !== false)
      yield {
        message: `${what} needs ranks`,
        hint: "Add ranks: [top-1m.csv.zip], a list of popular names",
      };
}
