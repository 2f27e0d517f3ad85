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
}

/** The names of several lists. */
export interface CombinedSource {
  /** The lists, in the order of their bits: names, and texts of letters, digits and hyphens that are unique. */
  readonly lists: readonly { readonly name: string; readonly tag: string }[];
  /** The header of the file, without comment signs. */
  readonly header: readonly string[];
  /** Every name once, in an order that depends only on the lists. It can be called again. */
  readonly names: () => Iterable<CombinedName>;
}

/** Where a combined format writes. */
export interface CombinedTarget {
  /** One for each of `endings`. They are published together, after `write`. */
  readonly files: readonly Pick<NewFile, "write">[];
  /** The absolute paths that the files will have. */
  readonly paths: readonly string[];
  readonly losses: Losses;
  openScratch(): Scratch;
}

/** A format for several lists at once. One file each; `registry.ts` lists them all. */
export interface CombinedFormat {
  /** One line, for the reference page. */
  readonly summary: string;
  readonly usedBy: string;
  /** The files of an output, as endings of the configured path; "" is the path itself. */
  readonly endings: readonly string[];
  /** Writes all files, and returns the number of names. */
  write(source: CombinedSource, target: CombinedTarget): number;
}
