import { someOf } from "../diagnostics/some-of.ts";
import type { Config } from "./config.ts";
import type { ConfigNode } from "./config-node.ts";
import type { ConfigProblems } from "./config-problems.ts";

/** A list must not have two validators. */
export function reportTwoValidators(
  root: ConfigNode,
  config: Config,
  validators: ReadonlySet<string>,
  problems: ConfigProblems,
): void {
  const top = config.transformations?.filter((name) => validators.has(name)) ?? [];
  if (top.length === 0) return;
  for (const [index, source] of (config.sources ?? []).entries()) {
    const own = source.transformations?.filter((name) => validators.has(name)) ?? [];
    if (own.length === 0) continue;
    problems.error(
      "several-validators",
      root.offset,
      `Invalid configuration: sources[${index}] uses ${someOf(own)}, and the top level uses ${someOf(top)}`,
      "Validate at the top level or in the sources, not at both",
    );
  }
}
