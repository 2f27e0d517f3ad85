import type { Host } from "../host/host.ts";
import type { Schedule } from "./schedule.ts";

export interface ScheduledRun {
  /** `start` catches up on a time that passed while the server was down. */
  readonly trigger: "start" | "schedule";
  /** The scheduled time that the run is for. */
  readonly slot: number;
  /** How late the run is, in milliseconds. */
  readonly lag: number;
}

export interface SchedulerOptions {
  readonly schedule: Schedule;
  /** Maximum random delay, so that many servers do not contact the same sources in the same second. */
  readonly jitterMs: number;
  readonly host: Pick<Host, "now" | "wait">;
  readonly signal: AbortSignal;
  random(): number;
  /** Resolves when the run has ended; scheduled times that passed meanwhile are skipped. */
  run(due: ScheduledRun): Promise<void>;
  /** Called with the time of the next run. */
  onNext(at: number): void;
  /** Called with the number of scheduled times that passed during a run. */
  onSkipped(count: number): void;
}

/** Clocks change and machines sleep, so the clock is read again at least this often. */
const LONGEST_WAIT_MS = 30_000;

/** Starts one run for every scheduled time. */
export class Scheduler {
  private readonly options: SchedulerOptions;

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
      if (slot === Infinity) return await this.idle();
      const interval = schedule.next(slot) - slot;
      const due = slot + this.options.random() * Math.min(jitterMs, interval / 2);
      this.options.onNext(due);
      await this.waitUntil(due);
      if (isStopped(signal)) return;
      // The clock was set back: another scheduled time may come first.
      if (this.now() < due) continue;
      await this.options.run({ trigger: "schedule", slot, lag: this.now() - due });
      done = this.skipPassed(slot);
    }
  }

  private now(): number {
    return this.options.host.now().getTime();
  }

  /** Returns early if the clock is set back. */
  private async waitUntil(due: number): Promise<void> {
    const { host, signal } = this.options;
    const began = this.now();
    while (this.now() < due && this.now() >= began - LONGEST_WAIT_MS && !isStopped(signal))
      await host.wait(Math.min(due - this.now(), LONGEST_WAIT_MS), signal);
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
