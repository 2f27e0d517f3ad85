import {
  type ListedCondition,
  PROOF_OUTCOMES,
  definitionOf,
  isDegraded,
  lastingConditions,
} from "../library/programs.ts";
import { CODES, type Code, Exit, codeEntry } from "../diagnostics/codes.ts";
import { VERSION } from "../diagnostics/version.ts";
import type { HeldList, ResolverState } from "../documents/facts.ts";
import { DURATION_BUCKETS, type History, OUTCOMES, problemsOf, sourcesOf } from "./history.ts";
import { type ListVersion, type RulesOf, publishedLists, sumOfRules } from "./served-lists.ts";

/** The values that a scrape reports. */
export interface MetricsInput {
  readonly history: History;
  readonly lists: readonly ListVersion[];
  readonly rulesOf?: RulesOf;
  readonly isHealthy: boolean;
  /** Lists that stay at an earlier build. */
  readonly held?: readonly HeldList[];
  readonly resolvers?: readonly ResolverState[];
  /** The last time that all resolvers were asked. */
  readonly probed?: ProbeTimes | undefined;
  /** The names of all hooks. */
  readonly hooks?: readonly string[];
  /** What lasts. */
  readonly conditions?: readonly ListedCondition[];
  readonly isRunning: boolean;
  readonly startedAt: number;
  readonly next: number | undefined;
  /** How late the last scheduled run began, in milliseconds. */
  readonly lagMs: number;
  readonly requests: ReadonlyMap<string, number>;
}

/** When resolvers were asked, and how long that took, in milliseconds. */
export interface ProbeTimes {
  readonly at: number;
  readonly ms: number;
}

type Labels = Readonly<Record<string, string>>;
type MetricKind = "gauge" | "counter" | "histogram";

/** The text format of Prometheus. It has timestamps instead of ages: a scraped age is already out of date. */
class Exposition {
  private readonly lines: string[] = [];

  family(
    kind: MetricKind,
    name: string,
    help: string,
    samples: readonly (readonly [Labels, number, string?])[],
  ): void {
    if (samples.length === 0) return;
    const full = `rules_compiler_${name}`;
    this.lines.push(`# HELP ${full} ${help}`, `# TYPE ${full} ${kind}`);
    for (const [labels, value, suffix = ""] of samples)
      this.lines.push(`${full}${suffix}${labelText(labels)} ${sampleText(value)}`);
  }

  one(kind: MetricKind, name: string, help: string, value: number | undefined): void {
    if (value !== undefined) this.family(kind, name, help, [[{}, value]]);
  }

  get text(): string {
    return `${this.lines.join("\n")}\n`;
  }
}

function labelText(labels: Labels): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escaped(value)}"`);
  return pairs.length === 0 ? "" : `{${pairs.join(",")}}`;
}

function escaped(value: string): string {
  return value.replace(/[\\"\n]/g, (one) => (one === "\n" ? "\\n" : `\\${one}`));
}

function sampleText(value: number): string {
  return value === Infinity ? "+Inf" : String(value);
}

export function metricsText(readings: MetricsInput): string {
  const out = new Exposition();
  const { history } = readings;
  out.family("gauge", "build_info", "Version of the running program; always 1.", [
    [{ version: VERSION }, 1],
  ]);
  out.one("gauge", "start_time_seconds", "When the server started.", seconds(readings.startedAt));
  out.one("gauge", "healthy", "1 while /health reports healthy.", Number(readings.isHealthy));
  runMetrics(out, readings);
  listMetrics(out, readings);
  sourceMetrics(out, history);
  conditionMetrics(out, readings.conditions ?? []);
  hookMetrics(out, readings);
  resolverMetrics(out, readings.resolvers ?? [], readings.probed);
  out.family(
    "counter",
    "http_requests_total",
    "Answered requests, by route and status code.",
    [...readings.requests].map(([key, count]) => {
      const [route = "", code = ""] = key.split(" ");
      return [{ route, code }, count] as const;
    }),
  );
  return out.text;
}

function conditionMetrics(out: Exposition, conditions: readonly ListedCondition[]): void {
  out.family(
    "gauge",
    "condition_since_timestamp_seconds",
    "When a condition began that lasts and needs attention.",
    lastingConditions(conditions).map(
      ({ list, code, subject = "", since }) =>
        [{ list, code, subject }, seconds(Date.parse(since))] as const,
    ),
  );
}

function hookMetrics(
  out: Exposition,
  { hooks = [], conditions = [] }: Pick<MetricsInput, "hooks" | "conditions">,
): void {
  const failed = new Set(
    conditions.flatMap(({ code, subject }) => (code === "hook-failed" ? [subject] : [])),
  );
  out.family(
    "gauge",
    "hook_failed",
    "1 if the last run of a hook failed.",
    hooks.map((hook) => [{ hook }, Number(failed.has(hook))] as const),
  );
}

function runMetrics(out: Exposition, { history, isRunning, next, lagMs }: MetricsInput): void {
  const { totals, refusals, lastSuccess, runs } = history;
  const last = runs.at(-1);
  out.one("gauge", "run_in_progress", "1 while a run is in progress.", Number(isRunning));
  out.one(
    "gauge",
    "last_success_timestamp_seconds",
    "Start time of the last successful run.",
    timestamp(lastSuccess),
  );
  out.one(
    "gauge",
    "last_run_timestamp_seconds",
    "Start time of the last run.",
    timestamp(last?.at),
  );
  out.one("gauge", "last_run_duration_seconds", "Duration of the last run.", last?.seconds);
  out.one(
    "gauge",
    "last_run_exit_code",
    "Exit code of the last run; -1 if a signal ended it.",
    last === undefined ? undefined : (last.exit ?? -1),
  );
  out.family(
    "counter",
    "runs_total",
    "Completed runs, by outcome.",
    OUTCOMES.map((outcome) => [{ outcome }, totals[outcome]] as const),
  );
  out.one(
    "counter",
    "run_timeouts_total",
    "Runs that exceeded --run-timeout and were stopped.",
    history.timeouts,
  );
  const count = OUTCOMES.reduce((sum, outcome) => sum + totals[outcome], 0);
  const { buckets, sum } = history.seconds;
  out.family("histogram", "run_duration_seconds", "Duration of runs.", [
    ...buckets.map(
      (value, index) => [{ le: String(DURATION_BUCKETS[index]) }, value, "_bucket"] as const,
    ),
    [{ le: "+Inf" }, count, "_bucket"],
    [{}, sum, "_sum"],
    [{}, count, "_count"],
  ]);
  out.family(
    "counter",
    "guard_refusals_total",
    "Refused lists, by guard.",
    // A counter that is born at 1 has no increase.
    Object.entries({ ...NO_REFUSALS, ...refusals }).map(
      ([guard, value]) => [{ guard }, value] as const,
    ),
  );
  const causes = last?.outcome === "refused" ? problemsOf(last) : [];
  out.one("gauge", "list_refused", "1 if the last run was refused.", Number(causes.length > 0));
  // Two causes without a location may have the same labels, but samples of a family must differ.
  const labels = new Map(
    causes.map(({ code: guard, at = "" }) => [JSON.stringify([guard, at]), { guard, at }] as const),
  );
  out.family(
    "gauge",
    "refusal_cause",
    "Reason and location of the last refusal; always 1.",
    [...labels.values()].map((one) => [one, 1] as const),
  );
  out.one(
    "gauge",
    "next_run_timestamp_seconds",
    "Time of the next scheduled run.",
    next === undefined || next === Infinity ? undefined : seconds(next),
  );
  out.one("gauge", "schedule_lag_seconds", "Delay of the last scheduled run.", lagMs / 1000);
  out.one(
    "counter",
    "schedule_skipped_total",
    "Scheduled times that passed while a run was in progress.",
    history.skipped,
  );
}

function listMetrics(
  out: Exposition,
  { history: { lastBuild }, lists, rulesOf, held = [] }: MetricsInput,
): void {
  out.one("gauge", "lists_held", "Lists that stay at an earlier build.", held.length);
  out.family(
    "gauge",
    "list_held_timestamp_seconds",
    "Time since when a list is held; 0 if unknown.",
    held.map((one) => [{ list: one.list }, timestamp(one.since ?? undefined) ?? 0] as const),
  );
  const list = lastBuild?.name ?? "";
  if (lastBuild !== undefined) {
    out.family("gauge", "list_rules", "Rules in the published lists.", [
      [{ list }, sumOfRules(publishedLists(lastBuild, rulesOf))],
    ]);
    out.family("gauge", "list_lines_read", "Lines read by the last successful build.", [
      [{ list }, lastBuild.lines],
    ]);
    out.family(
      "gauge",
      "list_degraded",
      "1 if a source was replaced by a cached copy or skipped.",
      [[{ list }, Number(lastBuild.degraded)]],
    );
  }
  out.family(
    "gauge",
    "file_bytes",
    "Size of a served file.",
    lists.map(({ name, size }) => [{ file: name }, size] as const),
  );
  out.family(
    "gauge",
    "file_published_timestamp_seconds",
    "Time when a served file was last replaced.",
    lists.map(({ name, modified }) => [{ file: name }, seconds(modified.getTime())] as const),
  );
}

function sourceMetrics(out: Exposition, history: History): void {
  const { goodAt } = history;
  const sources = sourcesOf(history);
  const gauge = (
    name: string,
    help: string,
    valueOf: (source: (typeof sources)[number]) => number | undefined,
  ): void =>
    out.family(
      "gauge",
      name,
      help,
      sources.flatMap((source) => {
        const value = valueOf(source);
        return value === undefined ? [] : [[{ source: source.label }, value] as const];
      }),
    );
  gauge(
    "source_up",
    "1 if a source is available, 0 if it was replaced by a cached copy or skipped.",
    (one) => (isDegraded(one.state) ? 0 : 1),
  );
  out.family(
    "gauge",
    "source_state",
    "State of a source; always 1.",
    sources.map(({ label, state }) => [{ source: label, state }, 1] as const),
  );
  gauge("source_good_timestamp_seconds", "Time when a source was last available.", (one) =>
    timestamp(goodAt[one.label]),
  );
  gauge("source_bytes", "Size of a source.", ({ bytes }) => bytes);
  gauge("source_lines", "Lines in a source.", ({ lines }) => lines);
  gauge("source_lines_kept", definitionOf("kept"), ({ kept }) => kept);
  out.family(
    "gauge",
    "source_lines_dropped",
    definitionOf("dropped"),
    sources.flatMap(({ label, dropped }) =>
      Object.entries(dropped).map(([reason, count]) => [{ source: label, reason }, count] as const),
    ),
  );
}

const NO_REFUSALS: Readonly<Record<string, number>> = Object.fromEntries(
  (Object.keys(CODES) as Code[]).flatMap((code) =>
    codeEntry(code).exit === Exit.Guard ? [[code, 0]] : [],
  ),
);

/** Resolvers that were never asked have no samples but `resolver_proved`. */
function resolverMetrics(
  out: Exposition,
  resolvers: readonly ResolverState[],
  probed: ProbeTimes | undefined,
): void {
  if (resolvers.length > 0 && probed !== undefined) {
    const { at, ms } = probed;
    out.one("gauge", "probe_timestamp_seconds", "When all resolvers were last asked.", seconds(at));
    out.one("gauge", "probe_duration_seconds", "How long it took to ask them.", seconds(ms));
  }
  const gauge = (
    name: string,
    help: string,
    valueOf: (resolver: ResolverState) => number | undefined,
  ): void =>
    out.family(
      "gauge",
      name,
      help,
      resolvers.flatMap((one) => {
        const value = valueOf(one);
        return value === undefined ? [] : [[labelsOf(one), value] as const];
      }),
    );
  gauge(
    "resolver_proved",
    "1 if a resolver answered from the published list when last asked.",
    (one) => Number(one.outcome === "proved"),
  );
  out.family(
    "gauge",
    "resolver_outcome",
    "1 for the outcome of the last proof of a resolver, 0 for the others.",
    resolvers
      .filter(({ outcome }) => outcome !== null)
      .flatMap((one) =>
        PROOF_OUTCOMES.map(
          (outcome) => [{ ...labelsOf(one), outcome }, Number(outcome === one.outcome)] as const,
        ),
      ),
  );
  gauge(
    "resolver_upstream_up",
    "1 if a resolver answers for names that it does not block, 0 if only for names that it blocks.",
    (one) => (one.upstream === null ? undefined : Number(one.upstream)),
  );
  gauge("resolver_asked_timestamp_seconds", "Time when a resolver was last asked.", (one) =>
    timestamp(one.at ?? undefined),
  );
  gauge("resolver_proved_timestamp_seconds", "Time of the last proof that succeeded.", (one) =>
    timestamp(one.lastProved?.at),
  );
  gauge("resolver_latency_seconds", "Median time of the answers of a resolver.", (one) =>
    one.latencyMs === null ? undefined : seconds(one.latencyMs),
  );
  gauge(
    "resolver_unanswered_seconds",
    "Longest time without an answer while a resolver last loaded a list.",
    (one) => (one.unansweredMs === null ? undefined : seconds(one.unansweredMs)),
  );
}

function labelsOf({ resolver, list }: ResolverState): Labels {
  return { resolver, list };
}

function timestamp(text: string | undefined): number | undefined {
  return text === undefined ? undefined : seconds(Date.parse(text));
}

function seconds(ms: number): number {
  return ms / 1000;
}
