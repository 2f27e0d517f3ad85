const UNITS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 };

/** Milliseconds of `90s`, `30m`, `12h` or `7d`; undefined for anything else. */
export function durationMs(text: string): number | undefined {
  const { count, unit } =
    /^(?<count>\d{1,6}(?:\.\d{1,3})?)(?<unit>[smhd])$/.exec(text)?.groups ?? {};
  return count === undefined ? undefined : Number(count) * UNITS[unit!]! * 1000;
}
