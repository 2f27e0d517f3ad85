import type { FateName } from "../rules/fate.ts";
import { FATES } from "../rules/fate.ts";

/**
 * A build record: what became of every line of every source. Frames, one for each chunk of the list in its order; then the
 * header (`RecordHeader`) as JSON and its length in four bytes; the whole packed as zstd, or gzip where there is none.
 *
 *   frame   varints: chunk id, origin, rows, first line, byte of the file, bytes of the list since the last frame, parts
 *           marks                   varint count; each: varint row minus the row before, varint byte of its text in the chunk minus
 *                                   the one before: every 2,048th row, to find lines by where they stand
 *           lines   (if parts & 1)  varint a row: line minus the line before
 *           others  (if parts & 2)  byte a row (`Other` of kernel/row-recorder.ts): 1 generated, 2 one more name of the line above, 4 no rule
 *           fates                   byte a row
 *           causes  (if parts & 4)  4 bytes: length of the part; for each row that another made redundant: zigzag varint, number of
 *                                   that row minus the one before (the first: minus chunk id × 65,536)
 *           blocks                  for each 2,048 rows a byte: 1 has lines of which no hash is kept, 2 those have letters that are not
 *                                   small ones of ASCII; then for each its filter of names (`kernel/name-filter.ts`), smaller for few rows
 *           special                     varint count; for each live rule that is more than a name: varint row minus the row before,
 *                                   varint length, text
 */
export const RECORD_VERSION = 2;

/** Bytes of the length of a part. */
export const LENGTH_BYTES = 4;

export const Part = { Lines: 1, Others: 2, Causes: 4 } as const;
/** What is said of a block of rows beside the names in it. */
export const Block = { Nameless: 1, OddLetters: 2 } as const;

/** A file that lines were read from. */
export interface RecordedFile {
  /** Index of its source. */
  readonly source: number;
  /** As a person would look for it. */
  readonly file: string;
  /** Not a file: lines of the compiler's own, such as banners. */
  readonly isOwn?: true;
  /** Its path, for a local file, and what it was like. */
  readonly path?: string;
  readonly stamp?: string;
  /** What it is written in, where that is not adblock syntax: its lines are then other texts than the rows. */
  readonly format?: string;
  /** SHA-256 of the kept copy, for one from the web. */
  readonly sha256?: string;
}

export interface RecordedSource {
  readonly label: string;
  readonly source: string;
  readonly type: string;
  readonly state: string;
  readonly goodAt?: string;
  readonly lines: number;
  readonly kept: number;
  readonly dropped: Readonly<Partial<Record<FateName, number>>>;
}

export interface RecordHeader {
  readonly version: typeof RECORD_VERSION;
  readonly tool: string;
  readonly name: string;
  readonly builtAt: string;
  readonly seconds: number;
  readonly rules: number;
  readonly lines: number;
  /** What the hashes of names in its filters began with. */
  readonly hashSeed: number;
  /** Size of the list. */
  readonly bytes: number;
  readonly sources: readonly RecordedSource[];
  readonly files: readonly RecordedFile[];
  /** Fates by number, as this version names them. */
  readonly fates: readonly string[];
}

export const FATE_NAMES: readonly string[] = FATES.map(([name]) => name);

/** Signed numbers are kept as unsigned ones, small for small: 0, -1, 1, -2 as 0, 1, 2, 3. */
export function unzigzag(value: number): number {
  return value % 2 === 1 ? -(value + 1) / 2 : value / 2;
}
