import { combinedProblems } from "./combined-problems.ts";
import type { ConfigNode } from "./config-node.ts";
import type { Config } from "./config.ts";
import { hookProblems } from "./hook-problems.ts";
import { listProblems } from "./lists.ts";
import { fitProblems, unrankedProblems } from "./rank-problems.ts";
import { resolverProblems } from "./resolvers.ts";

const CHECKS = {
  after: hookProblems,
  lists: listProblems,
  combined: combinedProblems,
  resolvers: resolverProblems,
  fit: fitProblems,
  guards: unrankedProblems,
} as const;

/** A problem of a field. */
interface FieldProblem {
  readonly key: string;
  /** The entry of a field with several, and the field of that entry. */
  readonly index?: number;
  readonly field?: string;
  readonly message: string;
  readonly hint?: string;
}

/** Problems of a configuration whose fields have the right types, and the fields that have them. */
export function* fieldProblems(config: Config): Generator<FieldProblem> {
  for (const [key, check] of Object.entries(CHECKS))
    for (const problem of check(config)) yield { key, ...problem };
}

/** The part of the configuration that has a problem. */
export function problemNode(
  root: ConfigNode & { kind: "object" },
  { key, index, field }: FieldProblem,
): ConfigNode {
  const node = root.entries.find((entry) => entry.key === key)?.node ?? root;
  const item = node.kind === "array" && index !== undefined ? node.items[index] : undefined;
  const own = item?.kind === "object" ? item.entries.find((one) => one.key === field) : undefined;
  return own?.node ?? item ?? node;
}
