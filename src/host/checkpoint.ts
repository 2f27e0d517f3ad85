import { setImmediate } from "node:timers/promises";

/** Timers and signals are handled only when the event loop turns. Users do not notice a delay of this length. */
const EVERY_MS = 50;

/** A place in long work where the event loop may turn, and where the work ends if its signal is aborted. */
export class Checkpoint {
  private readonly signal: AbortSignal | undefined;
  private last: number = performance.now();

  constructor(signal: AbortSignal | undefined) {
    this.signal = signal;
  }

  /** Waits only when it is due, and only if there is a signal. Rejects with the signal's reason. */
  pass(): Promise<void> | undefined {
    const { signal } = this;
    if (signal === undefined) return undefined;
    signal.throwIfAborted();
    return performance.now() - this.last < EVERY_MS ? undefined : this.rest(signal);
  }

  /** Always waits. */
  async yieldNow(): Promise<void> {
    if (this.signal !== undefined) await this.rest(this.signal);
  }

  private async rest(signal: AbortSignal): Promise<void> {
    // Timers run between the two; waiting for one would take a millisecond.
    await setImmediate();
    await setImmediate();
    this.last = performance.now();
    signal.throwIfAborted();
  }
}
