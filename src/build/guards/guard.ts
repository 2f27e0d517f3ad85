import type { Config } from "../../config/fields.ts";
import type { Diagnostic } from "../../diagnostics/diagnostic.ts";
import { SOURCE_BOUNDS } from "../../engine/compile-options.ts";
import type { LastPublish } from "../state/last-publish.ts";
import type { ListFindings } from "../../engine/list-findings.ts";
import type { CompileReport } from "../../engine/report.ts";
import { type SettingsDigest, settingsDigest } from "../settings-digest.ts";
import type { SizeLimits } from "../../sources/size-bounds.ts";

/** What guards go by; every value can be set in the configuration. */
export interface GuardLimits {
  /** Of the rules of the list, and of the lines of a source, since the last publish. */
  readonly size: SizeLimits;
  readonly sourceSize: SizeLimits;
  readonly minRules: number;
  /** Suffixes that rules may block; `*` stands for all, and for everything. */
  readonly mayBlockSuffixes: readonly string[];
  /** Builds with other settings are not compared. */
  readonly settings: SettingsDigest;
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
export function guardLimits(config: Config): GuardLimits {
  const { guards = {} } = config;
  const growth = guards.max_growth ?? SOURCE_BOUNDS.size.growth;
  return {
    size: { shrink: guards.max_shrink ?? 30, growth },
    sourceSize: { shrink: guards.max_source_shrink ?? SOURCE_BOUNDS.size.shrink, growth },
    settings: settingsDigest(config),
    minRules: guards.min_rules ?? 1,
    mayBlockSuffixes: (guards.may_block_suffixes ?? []).map((suffix) =>
      suffix.toLowerCase().replace(/^\.+/, ""),
    ),
  };
}
