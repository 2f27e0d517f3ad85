/** The values for the placeholders in a header. */
export interface HeaderValues {
  readonly time: Date;
  /** The number of rules in the list, or of entries in a file. */
  readonly count: number;
  /** Replaces everything that depends on the clock with `?`, at the same length, to compare two versions by their rules alone. */
  readonly isTimeless?: boolean;
}

/** Replaces the placeholders. Other text in braces stays unchanged. */
export function filledIn(text: string, values: HeaderValues): string {
  return text.replace(/\{(?:date|time|count)\}/g, (template) => {
    if (template === "{count}") return String(values.count);
    const digits = values.time.toISOString().replace(/\D/g, "");
    const shown = template === "{date}" ? digits.slice(0, 8) : digits.slice(8, 12);
    return values.isTimeless === true ? "?".repeat(shown.length) : shown;
  });
}

/** Whether one of the texts depends on the number of rules, which is known only at the end. */
export function needsCount(texts: readonly (string | undefined)[]): boolean {
  return texts.some((text) => text?.includes("{count}") === true);
}
