import { printable } from "./printable.ts";

/** As many names as a person reads in one message. */
export const MOST_NAMED = 5;

/** `a, b, c, d, e and 4 more`. */
export function someOf(names: readonly string[]): string {
  const shown = names.slice(0, MOST_NAMED).map((name) => printable(name, 80));
  const more = names.length - shown.length;
  return more > 0 ? `${shown.join(", ")} and ${more} more` : shown.join(", ");
}
