import { HostError } from "../../../src/host/host.ts";

/** A clock that goes on to the next event whenever nothing else is left to do. */
export class SimulatedTime {
  private ms = Date.parse("2026-11-16T00:00:00Z");
  private readonly events = new Set<{ at: number; happen: () => void }>();

  get now(): number {
    return this.ms;
  }

  async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    if (signal?.aborted === true) return;
    await new Promise<void>((go) => {
      const stop = (): void => {
        this.events.delete(event);
        go();
      };
      // An event target looks through all its listeners for each that is added.
      const happen = (): void => {
        signal?.removeEventListener("abort", stop);
        go();
      };
      const event = { at: this.ms + ms, happen };
      this.events.add(event);
      signal?.addEventListener("abort", stop);
    });
  }

  /** No answer comes. */
  async silence(ms: number, signal?: AbortSignal): Promise<never> {
    await this.sleep(ms, signal);
    throw new HostError("ETIMEDOUT", "no answer");
  }

  /** Does the work, and lets time pass meanwhile. */
  async during<T>(work: Promise<T>): Promise<T> {
    const state = { isOver: false };
    const ended = work.finally(() => (state.isOver = true));
    void ended.catch(() => {});
    while (!state.isOver) {
      await new Promise((idle) => setImmediate(idle));
      let next: { at: number; happen: () => void } | undefined;
      for (const event of this.events) if (next === undefined || event.at < next.at) next = event;
      if (next === undefined) continue;
      this.events.delete(next);
      this.ms = Math.max(this.ms, next.at);
      next.happen();
    }
    return await ended;
  }
}
