import type { FeedSettings } from "../feeds/feed-settings.ts";
import type { FateName } from "../rules/fate.ts";
import { FATES } from "../rules/fate.ts";

/**
 * A build record: the fate of every line of every source. One frame per chunk, in list order; then the header (`RecordHeader`)
 * as JSON and its length in four bytes. The whole is packed with zstd, or gzip if zstd is unavailable.
 *
 *   frame   varints: chunk id, origin, rows, first line, byte of the file, bytes of the list since the last frame, parts
 *           marks                   varint count; each: varint row minus the row before, varint byte of its text in the chunk minus
 *                                   the one before: every 2,048th row, to find lines by their offset
 *           lines   (if parts & 1)  varint per row: line minus the line before
 *           others  (if parts & 2)  byte per row (`Other` of kernel/row-recorder.ts): 1 generated, 2 next name of the line above, 4 not a rule
 *           fates                   byte per row
 *           causes  (if parts & 4)  4 bytes: length of the part; for each redundant row: zigzag varint, number of its cause
 *                                   minus the one before (the first: minus chunk id × 65,536)
 *           blocks                  byte per 2,048 rows: 1 has lines without a hash, 2 these have letters other than lower-case ASCII;
 *                                   then a filter of names for each (`kernel/name-filter.ts`), smaller for few rows
 *           special                 varint count; for each live rule that is more than a name: varint row minus the row before,
 *                                   varint length, text
 */
export const RECORD_VERSION = 2;

/** Size of a length field. */
export const LENGTH_BYTES = 4;

export const Part = { Lines: 1, Others: 2, Causes: 4 } as const;
/** Flags for a block of rows. */
export const Block = { Nameless: 1, OddLetters: 2 } as const;

export interface RecordedFile {
  /** Index of its source. */
  readonly source: number;
  /** As a user would search for it. */
  readonly file: string;
  /** Generated lines, such as banners, instead of a file. */
  readonly isOwn?: true;
  /** For a local file, its path and stamp. */
  readonly path?: string;
  readonly stamp?: string;
  /** Its syntax, if not adblock: its lines then differ from the rows. */
  readonly format?: string;
  /** The feed that its lines were made from. */
  readonly feed?: FeedSettings;
  /** Selects a file of a local archive. */
  readonly member?: string;
  /** SHA-256 of the cached copy, for a remote file. */
  readonly sha256?: string;
  /** Whether it contains rules that the source no longer has. */
  readonly isKept?: true;
}

export interface RecordedSource {
  readonly label: string;
  readonly source: string;
  readonly type: string;
  readonly state: string;
  readonly goodAt?: string;
  /** SHA-256 of the cached file that says when its rules were seen. */
  readonly ledger?: string;
  readonly lines: number;
  readonly kept: number;
  readonly dropped: Readonly<Partial<Record<FateName, number>>>;
  /** Names that people need and that it tried to block. */
  readonly household?: readonly string[];
}

export interface RecordHeader {
  readonly version: typeof RECORD_VERSION;
  readonly tool: string;
  readonly name: string;
  readonly builtAt: string;
  readonly seconds: number;
  readonly rules: number;
  readonly lines: number;
  /** The number of sources that a rule needs, if it is more than one. */
  readonly minSources?: number;
  /** Seed for the hashes of names in its filters. */
  readonly hashSeed: number;
  /** Size of the list. */
  readonly bytes: number;
  /** Whether a published file changed, of the list or of one of its outputs. */
  readonly hasChanged?: true;
  /** Who asked for the build. */
  readonly by?: string;
  /** The stamp of the kept build that it repeats, after a rollback. */
  readonly of?: string;
  readonly sources: readonly RecordedSource[];
  readonly files: readonly RecordedFile[];
  /** Fate names of this version, by number. */
  readonly fates: readonly string[];
}

export const FATE_NAMES: readonly string[] = FATES.map(([name]) => name);

/** Maps unsigned to signed numbers. Small numbers stay small: 0, 1, 2, 3 are 0, -1, 1, -2. */
export function unzigzag(value: number): number {
  return value % 2 === 1 ? -(value + 1) / 2 : value / 2;
}
