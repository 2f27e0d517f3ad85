import type { LossReason } from "./special-rule.ts";

/** Rules that a format could not say, or not as they were meant. */
export interface Loss {
  readonly reason: LossReason;
  readonly count: number;
  /** A few of them. */
  readonly examples: readonly string[];
}

const MOST_EXAMPLES = 5;

/** Counts what is lost, by reason. */
export class Losses {
  private readonly found = new Map<LossReason, { count: number; examples: string[] }>();

  add(reason: LossReason, example: string, count = 1): void {
    let known = this.found.get(reason);
    if (known === undefined) this.found.set(reason, (known = { count: 0, examples: [] }));
    known.count += count;
    if (known.examples.length < MOST_EXAMPLES) known.examples.push(example);
  }

  all(): Loss[] {
    return [...this.found]
      .map(([reason, { count, examples }]) => ({ reason, count, examples }))
      .toSorted((a, b) => b.count - a.count);
  }
}
