import type { Problem, Run } from "../documents/facts.ts";
import { Cron } from "croner";
import { Exit, codeEntry } from "../diagnostics/codes.ts";
import { CompilerError, errorOf } from "../diagnostics/render.ts";
import { DAY_MS, countText, printable } from "../diagnostics/text.ts";
import type { Host } from "../host/host.ts";
import {
  type History,
  type Outcome,
  type SourceStates,
  type SuccessfulBuild,
  TIMEOUT,
  type Trigger,
  withRun,
  withSourcesOf,
  writeHistory,
} from "./history.ts";
import type { EventLog } from "./serve.ts";

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
      // The user asked for it.
      if (code === "interrupted" && signal.aborted) return;
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

/** How long aborted work may take to stop before it is abandoned. */
const GIVE_UP_MS = 10_000;
/** The longest delay of a timer: 24 days. */
const LONGEST_MS = 2 ** 31 - 1;

interface DeadlineResult<T> {
  /** Undefined if the work was abandoned. */
  readonly value: T | undefined;
  readonly isLate: boolean;
}

/** Runs work that can be aborted, and aborts it after a time; 0 means never. */
export async function withDeadline<T>(
  ms: number,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<DeadlineResult<T>> {
  // Not AbortSignal.any: in some versions of Bun and Deno, garbage collection ends the connection between the signals.
  const stop = new AbortController();
  const follow = (): void => stop.abort(signal.reason);
  if (signal.aborted) follow();
  signal.addEventListener("abort", follow);
  let isLate = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const abandoned = new Promise<undefined>((resolve) => {
    if (ms === 0) return;
    timer = setTimeout(
      () => {
        isLate = true;
        stop.abort();
        timer = setTimeout(() => resolve(undefined), GIVE_UP_MS);
      },
      Math.min(ms, LONGEST_MS),
    );
  });
  try {
    const value = await Promise.race([work(stop.signal), abandoned]);
    return { value, isLate };
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", follow);
  }
}

export interface ScheduledRun {
  /** `start` catches up on a time that passed while the server was down; `retry` repeats a run that was not good. */
  readonly trigger: "start" | "schedule" | "retry";
  /** The scheduled time that the run is for. */
  readonly slot: number;
  /** How late the run is, in milliseconds. */
  readonly lag: number;
}

interface SchedulerOptions {
  readonly schedule: Schedule;
  /** Maximum random delay, so that many servers do not contact the same sources in the same second. */
  readonly jitterMs: number;
  /** When a run that was not good is first repeated; doubled every time. 0 for never. */
  readonly retryMs: number;
  readonly host: Pick<Host, "now" | "wait">;
  readonly signal: AbortSignal;
  random(): number;
  /** Resolves when the run has ended; scheduled times that passed meanwhile are skipped. */
  run(due: ScheduledRun): Promise<void>;
  /** Whether the last run was not good, and another may end better. */
  isRetryDue(): boolean;
  /** Called with the time of the next run. */
  onNext(at: number): void;
  /** Called with the number of scheduled times that passed during a run. */
  onSkipped(count: number): void;
}

/** Clocks change and machines sleep, so the clock is read again at least this often. */
const LONGEST_WAIT_MS = 30_000;
/** Assumed after the last scheduled time. */
const LAST_INTERVAL_MS = DAY_MS;
const MOST_DOUBLINGS = 30;

/** Starts one run for every scheduled time. */
export class Scheduler {
  private readonly options: SchedulerOptions;
  /** Retries since the last good run. */
  private retries = 0;

  constructor(options: SchedulerOptions) {
    this.options = options;
  }

  /** Runs until the signal; the first run starts at once if the last success missed a scheduled time. */
  async run(lastSuccess: number | undefined): Promise<void> {
    const { schedule, signal, jitterMs } = this.options;
    let done = schedule.previous(this.now());
    if (lastSuccess === undefined || lastSuccess < done) {
      const began = this.now();
      await this.options.run({ trigger: "start", slot: Math.max(done, 0), lag: 0 });
      done = this.skipPassed(began);
    }
    while (!signal.aborted) {
      const slot = schedule.next(this.searchFrom(done));
      const interval = schedule.next(slot) - slot;
      const retry = this.retryTime(interval);
      if (retry < slot) {
        await this.retry(retry, Math.max(done, 0));
        done = this.skipPassed(done);
        continue;
      }
      if (slot === Infinity) return await this.idle();
      const due = slot + this.options.random() * Math.min(jitterMs, interval / 2);
      this.options.onNext(due);
      await this.waitUntil(due);
      if (isStoppedBy(signal)) return;
      // A retry is due, or the clock was set back: another scheduled time may come first.
      if (this.now() < due) continue;
      await this.options.run({ trigger: "schedule", slot, lag: this.now() - due });
      done = this.skipPassed(slot);
    }
  }

  /** When to repeat a run that was not good: after a time that doubles up to half of the interval, less up to a quarter at random. */
  private retryTime(interval: number): number {
    const { retryMs } = this.options;
    if (!this.options.isRetryDue()) this.retries = 0;
    else if (retryMs > 0) {
      const most = (Number.isFinite(interval) ? interval : LAST_INTERVAL_MS) / 2;
      const wait = Math.min(retryMs * 2 ** Math.min(this.retries, MOST_DOUBLINGS), most);
      return this.now() + wait * (1 - this.options.random() / 4);
    }
    return Infinity;
  }

  /** Waits, and runs again unless another run was good meanwhile. */
  private async retry(due: number, slot: number): Promise<void> {
    const { signal } = this.options;
    this.options.onNext(due);
    await this.waitUntil(due);
    if (isStoppedBy(signal) || this.now() < due || !this.options.isRetryDue()) return;
    this.retries++;
    await this.options.run({ trigger: "retry", slot, lag: 0 });
  }

  private now(): number {
    return this.options.host.now().getTime();
  }

  /** Returns early if the clock is set back, or if a run by request was not good. */
  private async waitUntil(due: number): Promise<void> {
    const { host, signal } = this.options;
    const began = this.now();
    const wasRetryDue = this.options.isRetryDue();
    while (this.now() < due && this.now() >= began - LONGEST_WAIT_MS && !isStoppedBy(signal)) {
      await host.wait(Math.min(due - this.now(), LONGEST_WAIT_MS), signal);
      if (!wasRetryDue && this.options.isRetryDue()) return;
    }
  }

  /** If the schedule has no further times, the server keeps serving. */
  private async idle(): Promise<void> {
    const { host, signal } = this.options;
    this.options.onNext(Infinity);
    while (!signal.aborted) await host.wait(LONGEST_WAIT_MS, signal);
  }

  /** The last scheduled time that needs no further run, after the run for `slot`. */
  private skipPassed(slot: number): number {
    const { schedule } = this.options;
    const now = this.now();
    let skipped = 0;
    let done = slot;
    for (
      let next = schedule.next(slot);
      next <= now && skipped < 10_000;
      next = schedule.next(next)
    ) {
      skipped++;
      done = next;
    }
    if (skipped > 0) this.options.onSkipped(skipped);
    return done;
  }

  /** Not before the last handled time, unless the clock was set back far behind it. */
  private searchFrom(done: number): number {
    const now = this.now();
    return done > now + 2 * this.options.schedule.interval(now) ? now : Math.max(done, now);
  }
}

/** A function, because `aborted` changes while the type checker assumes that it does not. */
function isStoppedBy(signal: AbortSignal): boolean {
  return signal.aborted;
}

/** What is wrong with a pattern, in the words of the hint: seconds and years work, too. */
function causeOf(pattern: string, { message }: Error): string {
  const fields = pattern.trim().split(/\s+/).length;
  if (fields < 5) return `it has ${countText(fields, "field")}, not 5`;
  return printable(message.replace(/^Cron\w+: /, ""), 160);
}

/** When to compile: a cron pattern. */
export class Schedule {
  readonly pattern: string;
  private readonly cron: Cron;
  private longest: number | undefined;

  /** Throws a `CompilerError` if the pattern or the time zone is invalid, or the pattern never matches. */
  constructor(pattern: string, timeZone?: string) {
    this.pattern = pattern;
    try {
      const zone = timeZone === undefined ? {} : { timezone: timeZone };
      this.cron = new Cron(pattern, { paused: true, ...zone });
      if (this.cron.nextRun() === null) throw new RangeError("it never matches");
    } catch (error) {
      const zoned = timeZone === undefined ? "" : ` in ${printable(timeZone, 60)}`;
      throw new CompilerError([
        errorOf("bad-schedule", `Invalid schedule ${printable(pattern, 60)}${zoned}`, {
          cause: causeOf(pattern, error as Error),
        }),
      ]);
    }
  }

  /** The first scheduled time after a timestamp. */
  next(after: number): number {
    if (after === Infinity) return Infinity;
    return this.cron.nextRun(new Date(after))?.getTime() ?? Infinity;
  }

  /** The last scheduled time that is not after a timestamp. */
  previous(at: number): number {
    // croner returns times strictly before the given one.
    return this.cron.previousRuns(1, new Date(at + 1000))[0]?.getTime() ?? -Infinity;
  }

  /** The longest interval between a hundred scheduled times around `now`, nights and weekends included. Computed once. */
  longestInterval(now: number): number {
    if (this.longest === undefined) {
      this.longest = 0;
      let at = this.previous(now);
      if (at === -Infinity) at = this.next(now);
      for (let count = 0; count < 100; count++) {
        const next = this.next(at);
        if (next === Infinity) break;
        this.longest = Math.max(this.longest, next - at);
        at = next;
      }
    }
    return this.longest;
  }

  /** The interval between the next two scheduled times. */
  interval(at: number): number {
    const next = this.next(at);
    return this.next(next) - next;
  }
}
