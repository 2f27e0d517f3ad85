import type { Config } from "../../config/config.ts";
import type { Diagnostic } from "../../diagnostics/diagnostic.ts";
import { SOURCE_BOUNDS } from "../../engine/compile-options.ts";
import type { LastPublish } from "../state/last-publish.ts";
import type { ListFindings } from "../../engine/list-findings.ts";
import type { CompileReport } from "../../engine/report.ts";
import { type SettingsDigest, settingsDigest } from "../settings-digest.ts";
import type { SizeLimits } from "../../sources/size-bounds.ts";

/** The limits of the guards. The configuration can set each of them. */
export interface GuardLimits {
  /** How much the rules of the list, and the lines of a source, may change between publishes. */
  readonly size: SizeLimits;
  readonly sourceSize: SizeLimits;
  readonly minRules: number;
  /** Suffixes that rules may block. `*` allows every suffix, and rules that block everything. */
  readonly mayBlockSuffixes: readonly string[];
  /** Builds with different settings are not compared. */
  readonly settings: SettingsDigest;
}

export interface GuardContext {
  readonly report: CompileReport;
  readonly limits: GuardLimits;
  readonly findings: ListFindings;
  /** Absent for the first publish. */
  readonly last: LastPublish | undefined;
}

/** Checks a list before it is published. */
export interface Guard {
  /** Finds problems. An error refuses the list, a warning does not. */
  check(context: GuardContext): Diagnostic[];
}

/** The limits from the configuration, with defaults. */
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
