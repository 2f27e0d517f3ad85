import type { CompileReport, TrafficChange } from "../../documents/facts.ts";
import type { Config } from "../../config/lists.ts";
import type { Diagnostic } from "../../diagnostics/render.ts";
import { printable, someOf } from "../../diagnostics/text.ts";
import type { ListFindings } from "../../engine/report.ts";
import type { LastPublish } from "../state/list-state.ts";

/** The limits of the guards. The configuration can set each of them. */
export interface GuardLimits {
  readonly minRules: number;
  /** Suffixes that rules may block. `*` allows every suffix, and rules that block everything. */
  readonly mayBlockSuffixes: readonly string[];
  /** How much of the traffic in query logs may be newly blocked. */
  readonly breaksTraffic: TrafficLimits | undefined;
}

export interface TrafficLimits {
  /** Paths of query logs, relative to the configuration. */
  readonly logs: readonly string[];
  readonly queries: number;
  readonly percent: number;
}

export interface GuardContext {
  readonly report: CompileReport;
  readonly limits: GuardLimits;
  readonly findings: ListFindings;
  /** Absent for the first publish. */
  readonly last: LastPublish | undefined;
  /** What the list changes for the queries in the logs, or why that is unknown; absent if it need not be known. */
  readonly traffic?: Pick<TrafficChange, "queries" | "blocked"> | Diagnostic | undefined;
}

/** Finds problems of a list before it is published. An error refuses the list, a warning does not. */
export type Guard = (context: GuardContext) => Diagnostic[];

/** The limits from the configuration, with defaults. */
export function guardLimits(config: Config): GuardLimits {
  const { guards = {} } = config;
  const { breaks_traffic: traffic } = guards;
  return {
    minRules: guards.min_rules ?? 1,
    mayBlockSuffixes: (guards.may_block_suffixes ?? []).map((suffix) =>
      suffix.toLowerCase().replace(/^\.+/, ""),
    ),
    breaksTraffic: traffic && {
      logs: traffic.logs,
      queries: traffic.max_queries ?? Infinity,
      percent: traffic.max_percent ?? (traffic.max_queries === undefined ? 1 : Infinity),
    },
  };
}

/** A rule with its location. */
interface LocatedRule {
  readonly text: string;
  readonly at: Diagnostic["at"];
}

/** Groups rules by file, in line order, so that a user can fix a file in one pass. */
export function byFile<R extends LocatedRule>(rules: readonly R[]): R[][] {
  const files = Map.groupBy(rules, ({ at }) => at?.file);
  const lineOf = ({ at }: R): number => at?.line ?? 0;
  return Array.from(files.values(), (some) => some.toSorted((a, b) => lineOf(a) - lineOf(b)));
}

/** The location of the first rule, and the line numbers of the others. */
export function placesOf(rules: readonly LocatedRule[]): Pick<Diagnostic, "at" | "cause"> {
  const at = rules[0]?.at;
  const lines = rules.map(({ text, at: place }) =>
    place?.line === undefined
      ? printable(text, 40)
      : `${printable(text, 40)} in line ${place.line}`,
  );
  return {
    ...(at === undefined ? {} : { at }),
    ...(rules.length > 1 && { cause: someOf(lines) }),
  };
}
