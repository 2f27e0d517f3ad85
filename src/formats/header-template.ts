/** What the templates in a header stand for. */
export interface HeaderValues {
  readonly time: Date;
  /** Rules of the list, or entries of a file. */
  readonly count: number;
  /** Whether everything that the clock decides is blotted out, at the same length: two editions then differ in their rules alone. */
  readonly isTimeless?: boolean;
}

/** Puts the values in. Anything else in braces stays as it is. */
export function filledIn(text: string, values: HeaderValues): string {
  return text.replace(/\{(?:date|time|count)\}/g, (template) => {
    if (template === "{count}") return String(values.count);
    const digits = values.time.toISOString().replace(/\D/g, "");
    const shown = template === "{date}" ? digits.slice(0, 8) : digits.slice(8, 12);
    return values.isTimeless === true ? "?".repeat(shown.length) : shown;
  });
}

/** Whether one of the texts can be written only when the list is whole. */
export function needsCount(texts: readonly (string | undefined)[]): boolean {
  return texts.some((text) => text?.includes("{count}") === true);
}
