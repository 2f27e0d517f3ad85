/** Why a rule cannot be said in a format, or not as it is meant. */
export const LOSS_REASONS = {
  modifier:
    "Holds for some clients or some types of query only, or for everything but some names (`$denyallow` without a name before it).",
  rewrite: "Changes an answer instead of refusing it.",
  regex:
    "A regular expression. One that is an exception, and can match below any name, frees the names that the list has; other names below a blocked name stay blocked.",
  pattern: "A wildcard, or a part of a name. For exceptions as with `regex`.",
  "not-a-name":
    "For no name that a resolver can be asked for: an address, a name of this machine, one that is too long.",
  exact: "For a name alone, where the format means all names below it too.",
  below: "For the names below a name, but not for itself.",
  excepted:
    "Blocks a name, and an exception that the format cannot say frees something below it. The name is written alone where the format can say that, and left out otherwise.",
  nested: "Blocks something below an exception, where an exception always wins.",
  narrowed:
    "Blocks a name with everything below it, where the format blocks names alone: the name is written, and every name below it that a source has. Other names below it are not blocked.",
  widened: "Written as a rule for more names than it is meant for (`on_loss: widen`).",
} as const;
export type LossReason = keyof typeof LOSS_REASONS;

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
