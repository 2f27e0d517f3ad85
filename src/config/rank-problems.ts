import type { Config } from "./config.ts";

interface Problem {
  readonly message: string;
  readonly hint: string;
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
