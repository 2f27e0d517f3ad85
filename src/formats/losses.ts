/** Why a format cannot express a rule, or not exactly. */
export const LOSS_REASONS = {
  modifier:
    "Applies to some clients or query types only, or to everything except some names (`$denyallow` without a name before it).",
  rewrite:
    "Changes the answer instead of blocking the name. The file does not block the name, even if another rule would.",
  regex:
    "A regular expression. If it is an exception that can match below any name, it frees the names in the list; other names below a blocked name stay blocked.",
  pattern: "A wildcard, or a part of a name. Exceptions are handled like those of `regex`.",
  "not-a-name":
    "Not a name that a resolver can be queried for: an IP address, a local host name, or a name that is too long.",
  exact: "Applies to a name alone, but the format always includes the names below it.",
  below: "Applies to the names below a name, but not to the name itself.",
  excepted:
    "Blocks a name, but an exception that the format cannot express frees something below it. The name is blocked alone if the format can express that, and left out otherwise.",
  nested: "Blocks something below an exception, but in this format an exception always wins.",
  narrowed:
    "Blocks a name with everything below it, but the format blocks single names. The name is written, and every name below it that a source has. Other names below it are not blocked.",
  expanded:
    "A wildcard or a regular expression, written as the known names that it matches (`expand`). Other names that it matches are not blocked.",
  conflict:
    "One list blocks the name and another does not, but the file has one answer for it. It is not blocked for clients of both lists; if both have a rule for this very name, not for any.",
  widened: "Written as a rule that blocks more than intended (`on_loss: widen`).",
} as const;
/** Why a format could not express a rule. */
export type LossReason = keyof typeof LOSS_REASONS;

/** Rules that a format could not express, or not exactly. */
export interface Loss {
  readonly reason: LossReason;
  readonly count: number;
  /** A few of them. */
  readonly examples: readonly string[];
}

const MOST_EXAMPLES = 5;

/** Counts losses by reason. */
export class Losses {
  private readonly found = new Map<LossReason, { count: number; examples: string[] }>();
  private readonly rules: Set<string> | undefined;

  /** With `rules`, a rule that several lists have counts once. */
  constructor(rules?: Set<string>) {
    this.rules = rules;
  }

  add(reason: LossReason, example: string, count = 1): void {
    const rule = this.rules && `${reason} ${example}`;
    if (rule !== undefined) {
      if (this.rules!.has(rule)) return;
      this.rules!.add(rule);
    }
    let known = this.found.get(reason);
    if (known === undefined) this.found.set(reason, (known = { count: 0, examples: [] }));
    known.count += count;
    if (known.examples.length < MOST_EXAMPLES) known.examples.push(example);
  }

  addAll(others: readonly Loss[]): void {
    for (const { reason, count, examples } of others)
      for (const [index, example] of examples.entries())
        this.add(reason, example, index === 0 ? count - examples.length + 1 : 1);
  }

  all(): Loss[] {
    return [...this.found]
      .map(([reason, { count, examples }]) => ({ reason, count, examples }))
      .toSorted((a, b) => b.count - a.count);
  }
}
