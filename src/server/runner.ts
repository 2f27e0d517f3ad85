import { codeEntry } from "../diagnostics/codes.ts";
import { Exit } from "../diagnostics/exit.ts";
import type { Host } from "../host/host.ts";
import { withDeadline } from "./deadline.ts";
import type { EventLog } from "./event-log.ts";
import {
  type SuccessfulBuild,
  type History,
  type Outcome,
  type Problem,
  type Run,
  type SourceStates,
  TIMEOUT,
  type Trigger,
  withRun,
  withSourcesOf,
} from "./history.ts";
import { writeHistory } from "./history-file.ts";

/** The result of one compile. */
export interface RunResult {
  /** Exit code; undefined if a signal ended the process. */
  readonly exit: number | undefined;
  /** Report of a list that was published, or that had not changed. */
  readonly build?: SuccessfulBuild | undefined;
  /** Whether every list is held: nothing was read. */
  readonly isHeld?: boolean;
  /** The sources of a refused list. */
  readonly sources?: SourceStates | undefined;
}

type OnProblem = (
  problem: Problem & { readonly severity: string; readonly news?: boolean },
) => void;

/** How many errors of a run are kept, after the first. */
const MOST_FURTHER = 9;

export interface RunnerOptions {
  readonly host: Host;
  readonly log: EventLog;
  /** The folder of the history. */
  readonly folder: string;
  readonly signal: AbortSignal;
  /** Time limit of a run; 0 for none. */
  readonly runTimeoutMs: number;
  /** Compiles once, until the signal. Problems are reported as they occur. */
  compile(onProblem: OnProblem, signal: AbortSignal): Promise<RunResult>;
  /** Called when lists may have changed. */
  onPublished(): Promise<void>;
}

/** Runs compiles on request, one at a time, and keeps their history. */
export class Runner {
  history: History;
  /** When the current run began. */
  runningSince: number | undefined;
  private readonly options: RunnerOptions;
  private current: Promise<void> | undefined;
  private queued: Promise<void> | undefined;

  constructor(history: History, options: RunnerOptions) {
    this.history = history;
    this.options = options;
  }

  /** Resolves when a run that began after this call has ended. Calls during a run share the next one. */
  run(trigger: Trigger): Promise<void> {
    if (this.current === undefined) return this.begin(trigger);
    this.queued ??= this.beginLater(trigger);
    return this.queued;
  }

  /** Whether a run, or other work, is in progress. */
  get isBusy(): boolean {
    return this.current !== undefined;
  }

  /** Does other work while no run is in progress, and no run begins before it ends. */
  async alone<T>(work: () => Promise<T>): Promise<T> {
    while (this.current !== undefined) await this.current;
    const done = work();
    const end = (): void => void (this.current = undefined);
    this.current = done.then(end, end);
    return await done;
  }

  /** Resolves when no run is in progress. */
  async settled(): Promise<void> {
    while (this.current !== undefined) await this.current;
  }

  noteSkipped(count: number): void {
    this.history = { ...this.history, skipped: this.history.skipped + count };
    this.options.log.write("warning", "schedule-skipped", {
      count,
      reason: "a run was in progress",
    });
  }

  private async beginLater(trigger: Trigger): Promise<void> {
    while (this.current !== undefined) await this.current;
    this.queued = undefined;
    await this.begin(trigger);
  }

  private begin(trigger: Trigger): Promise<void> {
    if (this.options.signal.aborted) return Promise.resolve();
    this.current = this.once(trigger)
      .catch((error: unknown) =>
        this.options.log.write("error", "run-lost", { reason: (error as Error).message }),
      )
      .finally(() => {
        this.current = undefined;
        this.runningSince = undefined;
      });
    return this.current;
  }

  private async once(trigger: Trigger): Promise<void> {
    const { host, log, folder, signal } = this.options;
    const began = host.now();
    this.runningSince = began.getTime();
    log.write("info", "run-started", { trigger });
    let problem: Problem | undefined;
    const further: Problem[] = [];
    const onProblem: OnProblem = ({ severity, code, message, hint, cause, at, news }) => {
      // An earlier run reported what lasts. The status page shows it.
      if (news === false) return log.write("debug", "lasts", { code, message });
      if (severity === "debug") return log.write("debug", "step", { message });
      const found = {
        code,
        message,
        ...(hint && { hint }),
        ...(cause && { cause }),
        ...(at && { at }),
      };
      // A timeout matters more than earlier errors.
      if (severity === "error" && (problem === undefined || code === TIMEOUT)) problem = found;
      else if (severity === "error" && further.length < MOST_FURTHER) further.push(found);
      const level = severity === "error" || severity === "warning" ? severity : "info";
      log.write(level, "problem", { code, message, at, cause, hint });
    };
    const result = await this.attempt(onProblem);
    const { build } = result;
    const run: Run = {
      at: began.toISOString(),
      trigger,
      seconds: Math.max(0, host.now().getTime() - began.getTime()) / 1000,
      exit: result.exit ?? null,
      outcome: outcomeOf(result, signal.aborted),
      ...(build && { degraded: build.degraded, rules: build.rules, bytes: build.bytes }),
      ...(problem && { problem }),
      ...(further.length > 0 && { further }),
    };
    const before = this.history;
    this.history = withRun(before, run, build, build?.sources ?? result.sources);
    // A held list has the report of its build: what is known of the sources stays.
    if (result.isHeld === true) this.history = withSourcesOf(before, this.history);
    if (build !== undefined) await this.options.onPublished();
    const { outcome, seconds, exit, degraded, rules, bytes } = run;
    const isBad = build === undefined && outcome !== "stopped" && result.isHeld !== true;
    const level = isBad ? "error" : "info";
    const reason = problem?.code === TIMEOUT ? TIMEOUT : undefined;
    log.write(level, "run-ended", { outcome, reason, seconds, exit, degraded, rules, bytes });
    await writeHistory(folder, this.history, host).catch((error: unknown) =>
      log.write("warning", "history-not-kept", { reason: (error as Error).message }),
    );
  }

  private async attempt(onProblem: OnProblem): Promise<RunResult> {
    const { runTimeoutMs, signal } = this.options;
    try {
      const { value, isLate } = await withDeadline(runTimeoutMs, signal, (until) =>
        this.options.compile(onProblem, until),
      );
      if (isLate && value?.build === undefined)
        onProblem({
          severity: "error",
          code: TIMEOUT,
          message: `The run took longer than ${timeText(runTimeoutMs)} and was stopped`,
          hint: codeEntry(TIMEOUT).hint,
        });
      return value ?? { exit: undefined };
    } catch (error) {
      onProblem({ severity: "error", code: "not-run", message: (error as Error).message });
      return { exit: undefined };
    }
  }
}

function timeText(ms: number): string {
  return ms % 60_000 === 0 ? `${ms / 60_000} min` : `${ms / 1000} s`;
}

function outcomeOf({ exit, build, isHeld }: RunResult, isStopped: boolean): Outcome {
  if (build !== undefined)
    return build.outputs.some(({ outcome }) => outcome === "written") ? "published" : "unchanged";
  if (isHeld === true) return "unchanged";
  if (exit === Exit.Guard) return "refused";
  return isStopped ? "stopped" : "failed";
}
