import { HostError } from "../host/host.ts";
import type { FetchLimits } from "./fetch-limits.ts";

/** The slots of one source. Its time limit starts with its first slot, so that waiting for others does not count. */
export class SourceSlots {
  inUse = 0;
  hasBegun = false;
  private readonly onBegin: () => void;

  constructor(onBegin: () => void = () => {}) {
    this.onBegin = onBegin;
  }

  take(): void {
    this.inUse++;
    if (this.hasBegun) return;
    this.hasBegun = true;
    this.onBegin();
  }
}

interface Waiting {
  readonly host: string;
  readonly turn: SourceSlots;
  go(): void;
}

/**
 * Limits concurrent requests, in total and per server. Among those that wait, the source with the fewest slots comes
 * first, then one whose time limit has started, then the one that has waited longest.
 */
export class HostSlots {
  private readonly limits: FetchLimits;
  private inUse = 0;
  private readonly byHost = new Map<string, number>();
  private readonly waiting: Waiting[] = [];

  constructor(limits: FetchLimits) {
    this.limits = limits;
  }

  /** Rejects with a `HostError` if the signal is aborted while it waits. */
  async run<T>(
    host: string,
    turn: SourceSlots,
    signal: AbortSignal | undefined,
    work: () => Promise<T>,
  ): Promise<T> {
    if (this.isFree(host)) this.take(host, turn);
    else await this.wait(host, turn, signal);
    try {
      return await work();
    } finally {
      this.inUse--;
      turn.inUse--;
      this.byHost.set(host, this.byHost.get(host)! - 1);
      this.letNextGo();
    }
  }

  private wait(host: string, turn: SourceSlots, signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const onAbort = (): void => {
        this.waiting.splice(this.waiting.indexOf(one), 1);
        reject(new HostError("ECANCELED", "the run was stopped"));
      };
      const one: Waiting = {
        host,
        turn,
        go() {
          signal?.removeEventListener("abort", onAbort);
          resolve();
        },
      };
      this.waiting.push(one);
      if (signal?.aborted === true) onAbort();
      else signal?.addEventListener("abort", onAbort, { once: true });
    });
  }

  private letNextGo(): void {
    let next: Waiting | undefined;
    for (const one of this.waiting)
      if (this.isFree(one.host) && (next === undefined || isBefore(one.turn, next.turn)))
        next = one;
    if (next === undefined) return;
    this.waiting.splice(this.waiting.indexOf(next), 1);
    // Taken here, because another request may arrive before this one continues.
    this.take(next.host, next.turn);
    next.go();
  }

  private isFree(host: string): boolean {
    const { atOnce, atOnceWithHost } = this.limits;
    return this.inUse < atOnce && (this.byHost.get(host) ?? 0) < atOnceWithHost;
  }

  private take(host: string, turn: SourceSlots): void {
    this.inUse++;
    this.byHost.set(host, (this.byHost.get(host) ?? 0) + 1);
    turn.take();
  }
}

function isBefore(a: SourceSlots, b: SourceSlots): boolean {
  if (a.inUse !== b.inUse) return a.inUse < b.inUse;
  return a.hasBegun && !b.hasBegun;
}
