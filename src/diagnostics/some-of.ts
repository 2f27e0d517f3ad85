import { printable } from "./printable.ts";

/** As many names as a person reads in one message. */
export const MOST_NAMED = 5;

/** `a, b, c, d, e and 4 more`. */
export function someOf(names: readonly string[]): string {
  const shown = names.slice(0, MOST_NAMED).map((name) => printable(name, 80));
  const more = names.length - shown.length;
  return more > 0 ? `${shown.join(", ")} and ${more} more` : shown.join(", ");
}

/** All names of a message, for machines, for `--verbose` if the message has only some of them, and to find new ones. */
export function allNames(names: readonly string[]): { readonly all: readonly string[] } {
  return { all: names };
}
