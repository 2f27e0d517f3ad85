import type { Config } from "../../config/fields.ts";
import type { Diagnostic } from "../../diagnostics/diagnostic.ts";
import type { LastPublish } from "../last-publish.ts";
import type { ListFindings } from "../list-findings.ts";
import type { CompileReport } from "../report.ts";

/** What guards go by; every value can be set in the configuration. */
export interface GuardLimits {
  /** Per cent of rules, or of a source's lines, that may be gone since the last publish. */
  readonly maxShrink: number;
  readonly maxSourceShrink: number;
  /** Per cent that may have come since. */
  readonly maxGrowth: number;
  readonly minRules: number;
  /** Suffixes that rules may block; `*` stands for all, and for everything. */
  readonly mayBlockSuffixes: readonly string[];
}

export interface GuardContext {
  readonly report: CompileReport;
  readonly limits: GuardLimits;
  readonly findings: ListFindings;
  /** Absent the first time. */
  readonly last: LastPublish | undefined;
}

/** Looks at a list before it is published. */
export interface Guard {
  /** What is wrong with it. An error refuses the list, a warning does not. */
  check(context: GuardContext): Diagnostic[];
}

/** The usual limits, unless the configuration has others. */
export function guardLimits({ guards = {} }: Config): GuardLimits {
  return {
    maxShrink: guards.max_shrink ?? 30,
    maxSourceShrink: guards.max_source_shrink ?? 50,
    maxGrowth: guards.max_growth ?? 200,
    minRules: guards.min_rules ?? 1,
    mayBlockSuffixes: (guards.may_block_suffixes ?? []).map((suffix) =>
      suffix.toLowerCase().replace(/^\.+/, ""),
    ),
  };
}
