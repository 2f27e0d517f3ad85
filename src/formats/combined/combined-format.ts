import type { NewFile, Scratch } from "../../host/host.ts";
import type { Losses } from "../losses.ts";

/**
 * What all lists say about one name. Lists are bits of a number, the first list the lowest; the sign bit is not used. The rules for its parents are included, so the most specific entry of a name decides for
 * every list. A list that has no bit in `self` and `allowSelf` says nothing about the name.
 */
export interface CombinedName {
  /** The name is `bytes.subarray(start, end)`: lower-case letters, no final dot. It is valid until the next entry. */
  bytes: Uint8Array;
  start: number;
  end: number;
  /** Lists that block the name, and lists that block the names below it. */
  self: number;
  below: number;
  /** Lists that have an exception for the name, and for the names below it. */
  allowSelf: number;
  allowBelow: number;
  /** Lists with a rule for this name. The other bits come from its parents. */
  own: number;
  /** What lists block below the closest parent that has rules; 0 without one. */
  inherited: number;
}

/** A list of a combined file. */
export interface CombinedListName {
  readonly name: string;
  /** Letters, digits and hyphens; unique. */
  readonly tag: string;
}

/** The names of several lists. */
export interface CombinedSource {
  /** The lists, in the order of their bits. A list that was removed leaves an empty place, if the format keeps places. */
  readonly lists: readonly (CombinedListName | undefined)[];
  /** The header of the file, without comment signs. */
  readonly header: readonly string[];
  /** Every name once, in an order that depends only on the lists. */
  readonly names: () => Iterable<CombinedName>;
}

/** A file of a combined output: the ending of the configured path; "" is the path itself. */
export interface CombinedFile {
  readonly ending: string;
  /** Whether a program notices new files by their time in seconds, so that two must not have the same. */
  readonly isPolled?: true;
}

/** Where a combined format writes. */
export interface CombinedTarget {
  /** The files of the format, in its order. They are published together, after `write`. */
  readonly files: readonly Pick<NewFile, "write" | "rewrite">[];
  /** The name of the output, for users. */
  readonly name: string;
  readonly losses: Losses;
  readonly openScratch: () => Scratch;
}

/** A format for several lists at once. One file each; `registry.ts` lists them all. */
export interface CombinedFormat {
  /** One line, for the reference page. */
  readonly summary: string;
  readonly usedBy: string;
  /** The files of an output, in the order in which they are published. One of them has no ending. */
  readonly files: readonly CombinedFile[];
  /** Whether a list keeps its bit when lists are added and removed. */
  readonly keepsPlaces?: true;
  /** Writes all files, and returns the number of names. Throws a `CompilerError`. */
  write(source: CombinedSource, target: CombinedTarget): number;
}
