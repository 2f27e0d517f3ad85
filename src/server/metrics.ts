import { VERSION } from "../engine/version.ts";
import { isDegraded } from "../sources/acquire.ts";
import { DURATION_BUCKETS, type History, OUTCOMES, problemsOf, sourcesOf } from "./history.ts";
import type { Edition } from "./published-list.ts";

/** What is measured at the moment somebody asks. */
export interface Readings {
  readonly history: History;
  readonly lists: readonly Edition[];
  readonly isHealthy: boolean;
  readonly isRunning: boolean;
  readonly startedAt: number;
  readonly next: number | undefined;
  /** How late the last run of the schedule began, in milliseconds. */
  readonly lagMs: number;
  readonly requests: ReadonlyMap<string, number>;
}

type Labels = Readonly<Record<string, string>>;
type Kind = "gauge" | "counter" | "histogram";

/** Prometheus' text format. Moments are given as moments: an age that is scraped is old already. */
class Exposition {
  private readonly lines: string[] = [];

  family(
    kind: Kind,
    name: string,
    help: string,
    samples: readonly (readonly [Labels, number, string?])[],
  ): void {
    if (samples.length === 0) return;
    const full = `rules_compiler_${name}`;
    this.lines.push(`# HELP ${full} ${help}`, `# TYPE ${full} ${kind}`);
    for (const [labels, value, suffix = ""] of samples)
      this.lines.push(`${full}${suffix}${labelText(labels)} ${valueText(value)}`);
  }

  one(kind: Kind, name: string, help: string, value: number | undefined): void {
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

function valueText(value: number): string {
  return value === Infinity ? "+Inf" : String(value);
}

export function metricsText(readings: Readings): string {
  const out = new Exposition();
  const { history } = readings;
  out.family("gauge", "build_info", "The program that runs; always 1.", [
    [{ version: VERSION }, 1],
  ]);
  out.one("gauge", "start_time_seconds", "When the server started.", seconds(readings.startedAt));
  out.one("gauge", "healthy", "1 while /health says so.", Number(readings.isHealthy));
  runMetrics(out, readings);
  listMetrics(out, readings);
  sourceMetrics(out, history);
  out.family(
    "counter",
    "http_requests_total",
    "Requests that were answered, by route and status.",
    [...readings.requests].map(([key, count]) => {
      const [route = "", code = ""] = key.split(" ");
      return [{ route, code }, count] as const;
    }),
  );
  return out.text;
}

function runMetrics(out: Exposition, { history, isRunning, next, lagMs }: Readings): void {
  const { totals, refusals, lastSuccess, runs } = history;
  const last = runs.at(-1);
  out.one("gauge", "run_in_progress", "1 while a list is being compiled.", Number(isRunning));
  out.one(
    "gauge",
    "last_success_timestamp_seconds",
    "When the last run began that ended with a good list.",
    moment(lastSuccess),
  );
  out.one("gauge", "last_run_timestamp_seconds", "When the last run began.", moment(last?.at));
  out.one("gauge", "last_run_duration_seconds", "How long the last run took.", last?.seconds);
  out.one(
    "gauge",
    "last_run_exit_code",
    "Exit code of the last run; -1 when a signal ended it.",
    last === undefined ? undefined : (last.exit ?? -1),
  );
  out.family(
    "counter",
    "runs_total",
    "Runs that ended, by how.",
    OUTCOMES.map((outcome) => [{ outcome }, totals[outcome]] as const),
  );
  out.one(
    "counter",
    "run_timeouts_total",
    "Runs that were ended because they took longer than --run-timeout.",
    history.timeouts,
  );
  const count = OUTCOMES.reduce((sum, outcome) => sum + totals[outcome], 0);
  const { buckets, sum } = history.seconds;
  out.family("histogram", "run_duration_seconds", "How long runs took.", [
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
    "Lists that a guard refused, by guard.",
    Object.entries(refusals).map(([guard, value]) => [{ guard }, value] as const),
  );
  const causes = last?.outcome === "refused" ? problemsOf(last) : [];
  out.one("gauge", "list_refused", "1 while the last list was refused.", Number(causes.length > 0));
  // Two causes without a place may have the same labels, which a family must not.
  const labels = new Map(
    causes.map(({ code: guard, at = "" }) => [JSON.stringify([guard, at]), { guard, at }] as const),
  );
  out.family(
    "gauge",
    "refusal_cause",
    "Why the last list was refused, and where; always 1.",
    [...labels.values()].map((one) => [one, 1] as const),
  );
  out.one(
    "gauge",
    "next_run_timestamp_seconds",
    "When the schedule runs next.",
    next === undefined || next === Infinity ? undefined : seconds(next),
  );
  out.one("gauge", "schedule_lag_seconds", "How late the last scheduled run began.", lagMs / 1000);
  out.one(
    "counter",
    "schedule_skipped_total",
    "Moments of the schedule that went by during a run.",
    history.skipped,
  );
}

function listMetrics(out: Exposition, { history: { lastBuild }, lists }: Readings): void {
  const list = lastBuild?.name ?? "";
  if (lastBuild !== undefined) {
    out.family("gauge", "list_rules", "Rules in the last good list.", [
      [{ list }, lastBuild.rules],
    ]);
    out.family("gauge", "list_lines_read", "Lines read for it.", [[{ list }, lastBuild.lines]]);
    out.family("gauge", "list_degraded", "1 when a source is a copy or left out.", [
      [{ list }, Number(lastBuild.degraded)],
    ]);
  }
  out.family(
    "gauge",
    "file_bytes",
    "Size of a file that is served.",
    lists.map(({ name, size }) => [{ file: name }, size] as const),
  );
  out.family(
    "gauge",
    "file_published_timestamp_seconds",
    "When a file that is served was last replaced.",
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
    "1 if a source is available, 0 if a cached copy is used or the source is skipped.",
    (one) => (isDegraded(one.state) ? 0 : 1),
  );
  out.family(
    "gauge",
    "source_state",
    "State of a source, as a label; always 1.",
    sources.map(({ label, state }) => [{ source: label, state }, 1] as const),
  );
  gauge("source_good_timestamp_seconds", "When a source was last fetched successfully.", (one) =>
    moment(goodAt[one.label]),
  );
  gauge("source_bytes", "Bytes of a source.", ({ bytes }) => bytes);
  gauge("source_lines", "Lines of a source.", ({ lines }) => lines);
  gauge("source_lines_kept", "Lines of a source that are in the list.", ({ kept }) => kept);
  out.family(
    "gauge",
    "source_lines_dropped",
    "Lines of a source that are not in the list, by what became of them.",
    sources.flatMap(({ label, dropped }) =>
      Object.entries(dropped).map(([reason, count]) => [{ source: label, reason }, count] as const),
    ),
  );
}

function moment(text: string | undefined): number | undefined {
  return text === undefined ? undefined : seconds(Date.parse(text));
}

function seconds(ms: number): number {
  return ms / 1000;
}
