const DAYS = 30;
const DAY_MS = 86_400_000;

/** `2026-01-31`, in UTC. */
export function dayOf(moment: Date): string {
  return moment.toISOString().slice(0, 10);
}

/** The entries of the last thirty days. Entries from a wrong clock must not stay for years. */
export function ofThirtyDays<T extends { readonly day: string }>(
  entries: readonly T[],
  now: Date,
): T[] {
  const first = dayOf(new Date(now.getTime() - DAYS * DAY_MS));
  return entries.filter(({ day }) => day > first && day <= dayOf(now));
}
