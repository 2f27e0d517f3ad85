import { setImmediate } from "node:timers/promises";

/** Work that never waits keeps timers and signals from being heard; this often is soon enough for people. */
const EVERY_MS = 50;

/** Lets the rest of the process do something now and then, and ends the work when its signal says so. */
export class Breath {
  private readonly signal: AbortSignal | undefined;
  private last: number = performance.now();

  constructor(signal: AbortSignal | undefined) {
    this.signal = signal;
  }

  /** Waits only when it is time to, and only for those who can be interrupted. Rejects with the signal's reason. */
  take(): Promise<void> | undefined {
    const { signal } = this;
    if (signal === undefined) return undefined;
    signal.throwIfAborted();
    return performance.now() - this.last < EVERY_MS ? undefined : this.rest(signal);
  }

  /** Waits in any case. */
  async takeNow(): Promise<void> {
    if (this.signal !== undefined) await this.rest(this.signal);
  }

  private async rest(signal: AbortSignal): Promise<void> {
    // Timers are looked at between the two; waiting for one would cost a millisecond.
    await setImmediate();
    await setImmediate();
    this.last = performance.now();
    signal.throwIfAborted();
  }
}
