import type { Fate } from "../../rules/fate.ts";

/**
 * Takes what a line of another format says: a text in adblock syntax, or the line itself and the fate that tells why it is
 * not a rule. A line that says several things has several texts. `isOwnWord` is for rules that were written in adblock
 * syntax in the first place, and so beat each other by its rules.
 */
export type RowTaker = (text: string, line: number, fate?: Fate, isOwnWord?: boolean) => void;

/** Reads one file of another format from its start to its end. Rows come in the order of their lines. */
export interface ConfigReader {
  /** Takes whole lines, of which the first has this number. Returns the number of the line that follows. */
  read(bytes: Uint8Array, line: number, take: RowTaker): number;
  /** Lines of another file come in between, or a part that is left out: what waited for the next line waits no longer. */
  pause(take: RowTaker): void;
  end(take: RowTaker): void;
}

/** A format that sources may be written in. */
export interface ForeignFormat {
  open(): ConfigReader;
  /** The most specific name decides, so that a name below an exception can be blocked again. */
  readonly nests?: true;
  /** A name stands in its line as it is, without anything from other lines. */
  readonly namesStandWhole?: true;
}
