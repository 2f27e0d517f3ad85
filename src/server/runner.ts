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
} from "./history.ts";
import { writeHistory } from "./history-file.ts";

/** What a compile came to. */
export interface RunResult {
  /** Undefined when a signal ended it. */
  readonly exit: number | undefined;
  /** Of a list that was published, or is published already. */
  readonly build?: SuccessfulBuild | undefined;
  /** The sources of a list that was refused. */
  readonly sources?: SourceStates | undefined;
}

type OnProblem = (problem: Problem & { severity: string }) => void;

/** Errors that are remembered of a run, after the first. */
const MOST_FURTHER = 9;

export interface RunnerOptions {
  readonly host: Host;
  readonly log: EventLog;
  /** Where the history is kept. */
  readonly folder: string;
  readonly signal: AbortSignal;
  /** A run that takes longer is ended; 0 for never. */
  readonly runTimeoutMs: number;
  /** Compiles once, until the signal. Problems are handed over as they come. */
  compile(onProblem: OnProblem, signal: AbortSignal): Promise<RunResult>;
  /** Told when lists may have changed. */
  onPublished(): Promise<void>;
}

/** Compiles when it is asked to, one run at a time, and remembers how it went. */
export class Runner {
  history: History;
  /** When the present run began. */
  runningSince: number | undefined;
  private readonly parts: RunnerOptions;
  private current: Promise<void> | undefined;
  private queued: Promise<void> | undefined;

  constructor(history: History, parts: RunnerOptions) {
    this.history = history;
    this.parts = parts;
  }

  /** Resolves when a run that began after this call has ended. Those who ask during a run share the next one. */
  run(trigger: Trigger): Promise<void> {
    if (this.current === undefined) return this.begin(trigger);
    this.queued ??= this.current.then(() => {
      this.queued = undefined;
      return this.begin(trigger);
    });
    return this.queued;
  }

  /** Resolves when nothing runs. */
  async settled(): Promise<void> {
    while (this.current !== undefined) await this.current;
  }

  noteSkipped(count: number): void {
    this.history = { ...this.history, skipped: this.history.skipped + count };
    this.parts.log.say("warning", "schedule-skipped", { count, reason: "a run took that long" });
  }

  private begin(trigger: Trigger): Promise<void> {
    if (this.parts.signal.aborted) return Promise.resolve();
    this.current = this.once(trigger)
      .catch((error: unknown) =>
        this.parts.log.say("error", "run-lost", { reason: (error as Error).message }),
      )
      .finally(() => {
        this.current = undefined;
        this.runningSince = undefined;
      });
    return this.current;
  }

  private async once(trigger: Trigger): Promise<void> {
    const { host, log, folder, signal } = this.parts;
    const began = host.now();
    this.runningSince = began.getTime();
    log.say("info", "run-started", { trigger });
    let problem: Problem | undefined;
    const further: Problem[] = [];
    const onProblem: OnProblem = ({ severity, code, message, hint, cause, at }) => {
      const said = {
        code,
        message,
        ...(hint && { hint }),
        ...(cause && { cause }),
        ...(at && { at }),
      };
      // That it took too long matters more than what it said before.
      if (severity === "error" && (problem === undefined || code === TIMEOUT)) problem = said;
      else if (severity === "error" && further.length < MOST_FURTHER) further.push(said);
      const level = severity === "error" || severity === "warning" ? severity : "info";
      log.say(level, "problem", { code, message, at, cause, hint });
    };
    const end = await this.attempt(onProblem);
    const { build } = end;
    const run: Run = {
      at: began.toISOString(),
      trigger,
      seconds: Math.max(0, host.now().getTime() - began.getTime()) / 1000,
      exit: end.exit ?? null,
      outcome: outcomeOf(end, signal.aborted),
      ...(build && { degraded: build.degraded, rules: build.rules, bytes: build.bytes }),
      ...(problem && { problem }),
      ...(further.length > 0 && { further }),
    };
    this.history = withRun(this.history, run, build, build?.sources ?? end.sources);
    if (build !== undefined) await this.parts.onPublished();
    const { outcome, seconds, exit, degraded, rules, bytes } = run;
    const level = build === undefined && outcome !== "stopped" ? "error" : "info";
    const reason = problem?.code === TIMEOUT ? TIMEOUT : undefined;
    log.say(level, "run-ended", { outcome, reason, seconds, exit, degraded, rules, bytes });
    await writeHistory(folder, this.history, host).catch((error: unknown) =>
      log.say("warning", "history-not-kept", { reason: (error as Error).message }),
    );
  }

  private async attempt(onProblem: OnProblem): Promise<RunResult> {
    const { runTimeoutMs, signal } = this.parts;
    try {
      const { value, isLate } = await withDeadline(runTimeoutMs, signal, (until) =>
        this.parts.compile(onProblem, until),
      );
      if (isLate && value?.build === undefined)
        onProblem({
          severity: "error",
          code: TIMEOUT,
          message: `The run was ended because it took longer than ${timeText(runTimeoutMs)}`,
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

function outcomeOf({ exit, build }: RunResult, isStopped: boolean): Outcome {
  if (build !== undefined)
    return build.outputs.some(({ outcome }) => outcome === "written") ? "published" : "unchanged";
  if (exit === Exit.Guard) return "refused";
  return isStopped ? "stopped" : "failed";
}
