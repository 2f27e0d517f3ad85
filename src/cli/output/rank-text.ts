import type { NameRank } from "../../build/name-ranks.ts";
import { numberText } from "../../diagnostics/number-text.ts";
import { printable } from "../../diagnostics/printable.ts";

/** `rank 1,234`, or `example.org has rank 1,234`. */
export function rankText({ rank, of }: NameRank): string {
  const text = `rank ${numberText(rank)}`;
  return of === undefined ? text : `${printable(of)} has ${text}`;
}
