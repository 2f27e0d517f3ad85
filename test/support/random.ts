import { isNightly } from "./nightly.ts";

/** A small seeded generator (mulberry32): the same seed gives the same test on every runtime. */
export class Random {
  private state: number;

  constructor(seed: number) {
    this.state = seed >>> 0;
  }

  /** At least 0 and below 1. */
  next(): number {
    this.state = (this.state + 0x6d2b79f5) >>> 0;
    let value = Math.imul(this.state ^ (this.state >>> 15), 1 | this.state);
    value = (value + Math.imul(value ^ (value >>> 7), 61 | value)) ^ value;
    return ((value ^ (value >>> 14)) >>> 0) / 4_294_967_296;
  }

  below(limit: number): number {
    return Math.floor(this.next() * limit);
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  pick<T>(items: readonly T[]): T {
    return items[this.below(items.length)]!;
  }

  times<T>(count: number, make: () => T): T[] {
    return Array.from({ length: count }, make);
  }
}

/** The seed from the environment, or a new one. Printed by the caller, so that a failure can be run again. */
export function seedFrom(value: string | undefined): number {
  if (value !== undefined) return Number(value);
  // What a change breaks must be the change's doing: the gate tries the same cases each time, the night others.
  return isNightly ? Date.now() % 1_000_000_000 : 20_261_116;
}
