import type { Host } from "../host/host.ts";
import type { Schedule } from "./schedule.ts";

export interface ScheduledRun {
  /** `start` catches up on a time that passed while the server was down; `retry` repeats a run that was not good. */
  readonly trigger: "start" | "schedule" | "retry";
  /** The scheduled time that the run is for. */
  readonly slot: number;
  /** How late the run is, in milliseconds. */
  readonly lag: number;
}

export interface SchedulerOptions {
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
const LAST_INTERVAL_MS = 86_400_000;
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
      if (isStopped(signal)) return;
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
    if (isStopped(signal) || this.now() < due || !this.options.isRetryDue()) return;
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
    while (this.now() < due && this.now() >= began - LONGEST_WAIT_MS && !isStopped(signal)) {
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
function isStopped(signal: AbortSignal): boolean {
  return signal.aborted;
}
