import { isDegraded } from "../library/programs.ts";
import { Exit } from "../diagnostics/codes.ts";
import type {
  CompileReport,
  Problem,
  Run,
  RunOutcome,
  RunTrigger,
  SourceStateName,
} from "../documents/facts.ts";
import {
  StateFile,
  type TypeCheck,
  either,
  isAmount,
  isFlag,
  isText,
  isTimestamp,
  isWhole,
  arrayOf,
  objectOf,
  oneOf,
  mapOf,
} from "../host/files.ts";
import type { Host } from "../host/host.ts";

/** All values of a type. The compiler reports one that is not here: a history that has it would count as damaged. */
function allOf<Value extends string>(values: Readonly<Record<Value, true>>): readonly Value[] {
  return Object.keys(values) as Value[];
}

export type Outcome = RunOutcome;
export const OUTCOMES: readonly Outcome[] = allOf({
  published: true,
  unchanged: true,
  refused: true,
  failed: true,
  stopped: true,
});
export type Trigger = RunTrigger;
const TRIGGERS = allOf<Trigger>({
  start: true,
  schedule: true,
  retry: true,
  signal: true,
  request: true,
});
const SOURCE_STATES = allOf<SourceStateName>({
  local: true,
  fetched: true,
  unchanged: true,
  locked: true,
  offline: true,
  stale: true,
  held: true,
  dropped: true,
});

/** The problem code of a run that exceeded its time limit. */
export const TIMEOUT = "run-timeout";

/** Whether a repeated run may end better: it failed, used a copy of a source, or left a resolver unproved. */
export function isWorthRetrying({ outcome, degraded, exit }: Run): boolean {
  return outcome === "failed" || degraded === true || exit === Exit.Unproved;
}

/** All problems of a run. */
export function problemsOf({ problem, further = [] }: Pick<Run, "problem" | "further">): Problem[] {
  return problem === undefined ? [] : [problem, ...further];
}

/** The states of the sources in a run. */
export type SourceStates = CompileReport["sources"];

/** The report of a successful run, with the files it wrote. */
export interface SuccessfulBuild extends CompileReport {
  /** The lists of a run that built several; all other numbers are totals over them. */
  readonly lists?: readonly {
    readonly name: string;
    readonly file: string;
    readonly rules: number;
  }[];
  readonly outputs: readonly {
    readonly file: string;
    readonly outcome: "written" | "unchanged";
    /** Names in the file, for a format output. */
    readonly names?: number;
    /** The files of an output that is split. */
    readonly files?: readonly string[];
  }[];
}

/** What a server remembers across restarts. */
export interface History {
  readonly version: 1;
  readonly runs: readonly Run[];
  readonly lastSuccess?: string;
  readonly lastBuild?: SuccessfulBuild;
  /** `isOver`: whether a build succeeded since. */
  readonly lastRefusal?: Run & { readonly isOver?: boolean };
  /** The sources of the last run that read them, even if its list was refused. */
  readonly lastSources?: SourceStates;
  readonly totals: Readonly<Record<Outcome, number>>;
  /** Number of refusals per guard, by diagnostic code. */
  readonly refusals: Readonly<Record<string, number>>;
  /** Number of runs that exceeded their time limit. */
  readonly timeouts: number;
  /** Number of scheduled times that passed during a run. */
  readonly skipped: number;
  readonly seconds: { readonly sum: number; readonly buckets: readonly number[] };
  /** When each source was last available, by label. */
  readonly goodAt: Readonly<Record<string, string>>;
}

/** Upper bounds of the histogram of run durations, in seconds. */
export const DURATION_BUCKETS = [0.5, 1, 2.5, 5, 10, 30, 60, 300, 1800] as const;
/** A hundred days with four runs per day. */
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

/** The latest known states: those of the last run that read its sources, else those of the published list. */
export function sourcesOf({ lastSources, lastBuild }: History): SourceStates {
  return lastSources ?? lastBuild?.sources ?? [];
}

/** The history with one more run; `sources` are those of a refused list. */
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
    ...(build !== undefined &&
      history.lastRefusal && { lastRefusal: { ...history.lastRefusal, isOver: true } }),
    ...(sources !== undefined && {
      lastSources: sources,
      goodAt: goodTimes(history, sources, run.at),
    }),
  };
}

/** A history with what another knows of the sources. */
export function withSourcesOf(known: History, history: History): History {
  const { lastSources: _own, ...rest } = history;
  const { lastSources, goodAt } = known;
  return { ...rest, goodAt, ...(lastSources && { lastSources }) };
}

function goodTimes(history: History, sources: SourceStates, at: string): Record<string, string> {
  const times: Record<string, string> = {};
  for (const { label, state, goodAt } of sources) {
    const time = isDegraded(state) ? (goodAt ?? history.goodAt[label]) : at;
    if (time !== undefined) times[label] = time;
  }
  return times;
}

function fileIn(folder: string, host: Host): StateFile<History> {
  return new StateFile(host.path.join(folder, "serve.json"), isHistory, host);
}

/** The history that an earlier server wrote to a folder. A missing or damaged file yields an empty history. */
export async function readHistory(
  folder: string,
  host: Host,
  onDamaged: () => void,
): Promise<History> {
  const found = await fileIn(folder, host).look();
  if (found === "damaged") onDamaged();
  return typeof found === "string" ? NO_HISTORY : { ...NO_HISTORY, ...found };
}

/** Rejects with a `HostError`. */
export async function writeHistory(folder: string, history: History, host: Host): Promise<void> {
  await fileIn(folder, host).write(history);
}

const PROBLEM = objectOf(
  { code: isText, message: isText },
  { hint: isText, cause: isText, at: isText },
);

const RUN = objectOf(
  {
    at: isTimestamp,
    trigger: oneOf(TRIGGERS),
    seconds: isAmount,
    exit: either(isWhole, oneOf([null])),
    outcome: oneOf(OUTCOMES),
  },
  {
    degraded: isFlag,
    rules: isAmount,
    bytes: isAmount,
    problem: PROBLEM,
    further: arrayOf(PROBLEM),
    isOver: isFlag,
  },
);

const SOURCE = objectOf(
  {
    label: isText,
    source: isText,
    state: oneOf(SOURCE_STATES),
    bytes: isAmount,
    lines: isAmount,
    kept: isAmount,
    dropped: mapOf(isAmount),
  },
  { goodAt: isTimestamp },
);

const BUILD = objectOf(
  {
    name: isText,
    sources: arrayOf(SOURCE),
    lines: isAmount,
    kept: isAmount,
    rules: isAmount,
    bytes: isAmount,
    degraded: isFlag,
    outputs: arrayOf(objectOf({ file: isText }, { files: arrayOf(isText), names: isAmount })),
  },
  { lists: arrayOf(objectOf({ name: isText, file: isText, rules: isAmount })) },
);

/** Checks every field, because another program or a disk failure may have changed the file. */
export const isHistory: TypeCheck<History> = objectOf<History>(
  {
    version: oneOf([1]),
    runs: arrayOf(RUN),
    totals: objectOf(Object.fromEntries(OUTCOMES.map((outcome) => [outcome, isAmount]))),
    refusals: mapOf(isAmount),
    skipped: isAmount,
    seconds: objectOf({ sum: isAmount, buckets: arrayOf(isAmount, DURATION_BUCKETS.length) }),
    goodAt: mapOf(isTimestamp),
  },
  {
    lastSuccess: isTimestamp,
    lastBuild: BUILD,
    lastRefusal: RUN,
    lastSources: arrayOf(SOURCE),
    timeouts: isAmount,
  },
);
