import type { CompileReport } from "../engine/report.ts";
import { isDegraded } from "../sources/acquire.ts";

export const OUTCOMES = ["published", "unchanged", "refused", "failed", "stopped"] as const;
export type Outcome = (typeof OUTCOMES)[number];
export const TRIGGERS = ["start", "schedule", "signal", "request"] as const;
export type Trigger = (typeof TRIGGERS)[number];

/** The code of the problem of a run that took too long. */
export const TIMEOUT = "run-timeout";

/** A problem of a run, as the program said it. */
export interface Problem {
  readonly code: string;
  readonly message: string;
  readonly hint?: string;
  readonly cause?: string;
  /** File or address, and line. */
  readonly at?: string;
}

/** One run, as it is remembered. */
export interface Run {
  readonly at: string;
  readonly trigger: Trigger;
  readonly seconds: number;
  /** Of the process; null when a signal ended it. */
  readonly exit: number | null;
  readonly outcome: Outcome;
  readonly degraded?: boolean;
  readonly rules?: number;
  readonly bytes?: number;
  /** The first error. */
  readonly problem?: Problem;
  /** The errors after it, as many as a page has room for. */
  readonly further?: readonly Problem[];
}

/** All that a run complained of. */
export function problemsOf({ problem, further = [] }: Pick<Run, "problem" | "further">): Problem[] {
  return problem === undefined ? [] : [problem, ...further];
}

/** How the sources of a run were. */
export type SourceStates = CompileReport["sources"];

/** The report of a run that succeeded, and the files it wrote. */
export interface SuccessfulBuild extends CompileReport {
  /** Where a run made several lists, each of them; all other figures are then of all together. */
  readonly lists?: readonly {
    readonly name: string;
    readonly file: string;
    readonly rules: number;
  }[];
  readonly outputs: readonly {
    readonly file: string;
    readonly outcome: "written" | "unchanged";
    /** Of a further format. */
    readonly names?: number;
    /** Where one output is several files. */
    readonly files?: readonly string[];
  }[];
}

/** All that a server knows of its past. */
export interface History {
  readonly version: 1;
  readonly runs: readonly Run[];
  readonly lastSuccess?: string;
  readonly lastBuild?: SuccessfulBuild;
  readonly lastRefusal?: Run;
  /** The sources of the last run that read them, also when its list was refused. */
  readonly lastSources?: SourceStates;
  readonly totals: Readonly<Record<Outcome, number>>;
  /** How often each guard refused, by the code of the refusal. */
  readonly refusals: Readonly<Record<string, number>>;
  /** Runs that were ended because they took too long. */
  readonly timeouts: number;
  /** Moments of the schedule that went by during a run. */
  readonly skipped: number;
  readonly seconds: { readonly sum: number; readonly buckets: readonly number[] };
  /** When each source was last had from where it comes from, by its label. */
  readonly goodAt: Readonly<Record<string, string>>;
}

/** Upper bounds in seconds, for the histogram of runs. */
export const DURATION_BUCKETS = [0.5, 1, 2.5, 5, 10, 30, 60, 300, 1800] as const;
/** A hundred days of four runs a day. */
const MOST_RUNS = 400;

export const NO_HISTORY: History = {
  version: 1,
  runs: [],
  totals: { published: 0, unchanged: 0, refused: 0, failed: 0, stopped: 0 },
  refusals: {},
  timeouts: 0,
  skipped: 0,
  seconds: { sum: 0, buckets: DURATION_BUCKETS.map(() => 0) },
  goodAt: {},
};

/** The sources as they were last: those of the last run, and of the published list where that did not get so far. */
export function sourcesOf({ lastSources, lastBuild }: History): SourceStates {
  return lastSources ?? lastBuild?.sources ?? [];
}

/** What is known after one more run; `sources` are those of a list that was refused. */
export function withRun(
  history: History,
  run: Run,
  build: SuccessfulBuild | undefined,
  sources: SourceStates | undefined = build?.sources,
): History {
  const isRefused = run.outcome === "refused";
  const code = run.problem?.code ?? "unknown";
  return {
    ...history,
    runs: [...history.runs, run].slice(-MOST_RUNS),
    timeouts: history.timeouts + (run.problem?.code === TIMEOUT ? 1 : 0),
    totals: { ...history.totals, [run.outcome]: history.totals[run.outcome] + 1 },
    seconds: {
      sum: history.seconds.sum + run.seconds,
      buckets: history.seconds.buckets.map(
        (count, index) => count + (run.seconds <= DURATION_BUCKETS[index]! ? 1 : 0),
      ),
    },
    ...(isRefused
      ? {
          lastRefusal: run,
          refusals: { ...history.refusals, [code]: (history.refusals[code] ?? 0) + 1 },
        }
      : {}),
    ...(build !== undefined && { lastSuccess: run.at, lastBuild: build }),
    ...(sources !== undefined && {
      lastSources: sources,
      goodAt: goodTimes(history, sources, run.at),
    }),
  };
}

function goodTimes(history: History, sources: SourceStates, at: string): Record<string, string> {
  const times: Record<string, string> = {};
  for (const { label, state, goodAt } of sources) {
    const time = isDegraded(state) ? (goodAt ?? history.goodAt[label]) : at;
    if (time !== undefined) times[label] = time;
  }
  return times;
}
