import type { MergedEntry } from "./kept-entries.ts";

/** How much a source may have together with what is kept of it. */
export interface KeptLimits {
  readonly bytes: number;
  /** The percentage that may be added to what is kept in a day. */
  readonly growth: number;
}

const DAY = 86_400;
/** As for sources, less is not limited. */
const FREE = 1000;

/**
 * Decides which entries are kept that a source has no longer: those that it had last. What it added within a day does not displace what was
 * known before. First `add` all entries, then `settle`, then ask for each in the same order.
 */
export class KeptCount {
  /** How many entries are not kept, by each limit. */
  readonly forgotten: Record<keyof KeptLimits, number> = { bytes: 0, growth: 0 };
  private readonly limits: KeptLimits;
  private readonly dayAgo: number;
  private readonly bytes = new NewestFirst();
  private readonly growth = new NewestFirst();
  /** Entries that were known a day ago. */
  private known = 0;
  /** Bytes of what the source has. */
  private own = 0;

  constructor(limits: KeptLimits, now: number) {
    this.limits = limits;
    this.dayAgo = now - DAY;
  }

  add({ first, last, isGone }: MergedEntry, bytes: number): void {
    if (first <= this.dayAgo) this.known++;
    else if (isGone) this.growth.add(last, 1);
    if (isGone) this.bytes.add(last, bytes);
    else this.own += bytes;
  }

  /** Whether all entries are kept. */
  settle(): boolean {
    const { limits, known, own } = this;
    // Of a new source, nothing is known to compare with.
    const most = known === 0 ? Infinity : Math.max(FREE, (known * limits.growth) / 100);
    const areAllNew = this.growth.settle(most);
    return this.bytes.settle(limits.bytes - own) && areAllNew;
  }

  keeps({ first, last, isGone }: MergedEntry, bytes: number): boolean {
    if (!isGone) return true;
    const isNew = first > this.dayAgo;
    const by = isNew && !this.growth.takes(last, 1) ? "growth" : "bytes";
    if (by === "bytes" && this.bytes.takes(last, bytes)) return true;
    this.forgotten[by]++;
    return false;
  }
}

/** Gives room to what was seen last. */
class NewestFirst {
  private readonly amounts = new Map<number, number>();
  /** All that was seen after this time has room. */
  private full = -Infinity;
  /** The room for what was seen at this time. */
  private room = 0;

  add(time: number, amount: number): void {
    this.amounts.set(time, (this.amounts.get(time) ?? 0) + amount);
  }

  /** Whether there is room for all. */
  settle(most: number): boolean {
    this.room = most;
    for (const [time, amount] of [...this.amounts].toSorted(([one], [other]) => other - one)) {
      if (amount > this.room) {
        this.full = time;
        return false;
      }
      this.room -= amount;
    }
    return true;
  }

  takes(time: number, amount: number): boolean {
    if (time > this.full) return true;
    if (time < this.full || amount > this.room) return false;
    this.room -= amount;
    return true;
  }
}
