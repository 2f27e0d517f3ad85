import type { Host } from "../host/host.ts";
import type { Schedule } from "./schedule.ts";

export interface ScheduledRun {
  /** `start` makes up for a moment that went by while nothing ran. */
  readonly trigger: "start" | "schedule";
  /** The moment of the schedule that it is for. */
  readonly slot: number;
  /** How much later it is than it should be, in milliseconds. */
  readonly lag: number;
}

export interface SchedulerOptions {
  readonly schedule: Schedule;
  /** The most that is added to a moment, so that not everybody asks the same servers at the same second. */
  readonly jitterMs: number;
  readonly host: Pick<Host, "now" | "wait">;
  readonly signal: AbortSignal;
  random(): number;
  /** Does the work and resolves when it is done; what fell due meanwhile is left out. */
  run(due: ScheduledRun): Promise<void>;
  /** Told what comes next, ... */
  onNext(at: number): void;
  /** ... and how many moments went by during a run. */
  onSkipped(count: number): void;
}

/** Clocks are set and machines sleep; no wait is longer than this, and each ends with a look at the clock. */
const LONGEST_WAIT_MS = 30_000;

/** Runs once for every moment of a schedule until the signal, the first time at once if one was missed. */
export async function keepTime(
  lastSuccess: number | undefined,
  timekeeping: SchedulerOptions,
): Promise<void> {
  const { schedule, host, signal } = timekeeping;
  const now = (): number => host.now().getTime();
  let done = schedule.previous(now());
  if (lastSuccess === undefined || lastSuccess < done) {
    const began = now();
    const slot = Math.max(done, 0);
    await timekeeping.run({ trigger: "start", slot, lag: 0 });
    done = afterRun(began, timekeeping);
  }
  while (!signal.aborted) {
    const slot = schedule.next(latest(done, now(), schedule));
    if (slot === Infinity) return await untilStopped(timekeeping);
    const interval = schedule.next(slot) - slot;
    const due = slot + timekeeping.random() * Math.min(timekeeping.jitterMs, interval / 2);
    timekeeping.onNext(due);
    const waited = now();
    while (now() < due && now() >= waited - LONGEST_WAIT_MS && !isStopped(signal))
      await host.wait(Math.min(due - now(), LONGEST_WAIT_MS), signal);
    if (isStopped(signal)) return;
    // The clock was set back: another moment may come first.
    if (now() < due) continue;
    await timekeeping.run({ trigger: "schedule", slot, lag: now() - due });
    done = afterRun(slot, timekeeping);
  }
}

/** A schedule may end; who is served by then still is. */
async function untilStopped(timekeeping: SchedulerOptions): Promise<void> {
  const { host, signal } = timekeeping;
  timekeeping.onNext(Infinity);
  while (!signal.aborted) await host.wait(LONGEST_WAIT_MS, signal);
}

/** The last moment that is done with after a run for a slot. */
function afterRun(slot: number, timekeeping: SchedulerOptions): number {
  const { schedule, host } = timekeeping;
  const now = host.now().getTime();
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
  if (skipped > 0) timekeeping.onSkipped(skipped);
  return done;
}

/** Where to look for the next moment from: never before one that is done, unless that lies in a future the clock came back from. */
function latest(done: number, now: number, schedule: Schedule): number {
  return done > now + 2 * schedule.interval(now) ? now : Math.max(done, now);
}

function isStopped(signal: AbortSignal): boolean {
  return signal.aborted;
}
