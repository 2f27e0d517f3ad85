const UNITS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 };

/** `90s`, `30m`, `12h` and `7d`, or the form of list headers: `12 hours`, `1 day`. */
export const DURATION = "^(\\d{1,6}(?:\\.\\d{1,3})?)(?:([smhd])| (second|minute|hour|day)s?)$";

/** Milliseconds of a duration; undefined if the text is invalid. */
export function durationMs(text: string): number | undefined {
  const [, count, letter, word] = new RegExp(DURATION).exec(text) ?? [];
  return count === undefined ? undefined : Number(count) * UNITS[letter ?? word![0]!]! * 1000;
}

/** Bytes of `256M`, `2G`, `500k` or a plain number; undefined if the text is invalid. */
export function sizeBytes(text: string): number | undefined {
  const { digits, unit } = /^(?<digits>\d{1,12})(?<unit>[kmg]?)(?:i?b)?$/i.exec(text)?.groups ?? {};
  if (digits === undefined || Number(digits) === 0) return undefined;
  return Number(digits) * 1024 ** " kmg".indexOf((unit || " ").toLowerCase());
}
