import { printable } from "../diagnostics/printable.ts";
import type { Config } from "./config.ts";
import { isFeed } from "./feed-values.ts";
import { sourceProblems } from "./source-problems.ts";

type NameList = NonNullable<Config["ranks"]>[number];

/** The type of a list of names: as written, or by its address. */
export function nameListType({
  type,
  source,
}: Pick<NameList, "type" | "source">): NonNullable<NameList["type"]> {
  return type ?? (/\.csv\b/i.test(source) ? "tranco" : "domains");
}

/** Problems of `ranks` in a configuration that is otherwise valid. */
export function* rankProblems({ ranks = [] }: Config): Generator<{
  readonly message: string;
  readonly hint: string;
}> {
  for (const [index, one] of ranks.entries()) {
    const at = `ranks[${index}]`;
    yield* sourceProblems(one, at);
    const type = nameListType(one);
    if (!isFeed({ ...one, type }) && type !== "domains")
      yield {
        message: `${at}.type is ${printable(type)}, which has no order of names`,
        hint: "Use tranco, csv with column, domains, or another feed",
      };
  }
}

/** Settings that need `ranks`, in a configuration without it. */
export function* unrankedProblems({ ranks = [], ...config }: Config): Generator<{
  readonly message: string;
  readonly hint: string;
}> {
  if (ranks.length > 0) return;
  const levels = [config, ...(config.lists ?? [])];
  const used = [
    levels.some(({ ranked }) => ranked !== undefined) && "ranked",
    levels.some(({ guards }) => guards?.newly_blocks !== undefined) && "guards.newly_blocks",
  ];
  for (const what of used)
    if (what !== false)
      yield {
        message: `${what} needs ranks`,
        hint: "Add ranks: [top-1m.csv.zip], a list of popular names",
      };
}
