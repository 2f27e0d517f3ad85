import { printable } from "./printable.ts";

/** As many as a person reads in one message. */
const MOST = 5;

/** `a, b, c and 4 more`. */
export function someOf(names: readonly string[]): string {
  const shown = names.slice(0, MOST).map((name) => printable(name, 80));
  const more = names.length - shown.length;
  return more > 0 ? `${shown.join(", ")} and ${more} more` : shown.join(", ");
}
