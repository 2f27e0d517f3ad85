import { combinedProblems } from "./combined-problems.ts";
import type { Config } from "./config.ts";
import { listProblems } from "./lists.ts";
import { expandProblems, rankProblems, rankedProblems, unrankedProblems } from "./rank-problems.ts";
import { resolverProblems } from "./resolvers.ts";

const CHECKS = {
  lists: listProblems,
  combined: combinedProblems,
  resolvers: resolverProblems,
  ranks: rankProblems,
  ranked: rankedProblems,
  expand: expandProblems,
  guards: unrankedProblems,
} as const;

/** Problems of a configuration whose fields have the right types, and the fields that have them. */
export function* fieldProblems(
  config: Config,
): Generator<{ readonly key: string; readonly message: string; readonly hint?: string }> {
  for (const [key, check] of Object.entries(CHECKS))
    for (const problem of check(config)) yield { key, ...problem };
}
