import { equalBytes } from "../bytes/search.ts";
import { CHUNK_ROWS, CHUNK_SHIFT, type Chunk } from "../rules/chunk.ts";
import { Fate } from "../rules/fate.ts";
import type { KeptChunk } from "../rules/kept-chunk.ts";
import { Flag, Kind } from "../rules/kind.ts";
import { RESULT, WIDE } from "./kernel-layout.ts";
import { LONGEST_NAME } from "./longest-name.ts";

type Column = KeptChunk["columns"][number];

/** A chunk as it was when its names were compared. Columns that no stage had changed are those of its kept rows. */
interface ComparedChunk {
  readonly id: number;
  readonly kept: KeptChunk;
  readonly columns: readonly Column[];
  readonly rewritten: Uint8Array;
}

/** All names of a list that were compared with each other, and the results. */
export interface NameComparison {
  /** What the results depend on besides the names. */
  readonly conditions: readonly unknown[];
  readonly chunks: readonly ComparedChunk[];
  /** For each list of names, pairs of a redundant row and its cause, as `PartitionResults` has them. */
  readonly results: readonly Uint32Array[];
}

/** The comparison of the last compile of a list, and where this compile leaves its own. */
export interface ComparisonSlot {
  readonly last: NameComparison | undefined;
  next: NameComparison | undefined;
}

/** Places of columns among `Chunk.allColumns()`. */
const INDEX = {
  hostStart: 2,
  hostEnd: 3,
  hostHash: 4,
  flags: 5,
  hostPart: 6,
  kind: 7,
  fate: 8,
} as const;

/** The row in the cause of a result. */
const ROW_ID = 0x7fffffff;

/** Flags that decide how a name is compared. */
const COMPARED_FLAGS =
  Flag.Rewritten | Flag.DeepHost | Flag.Widened | Flag.PlainHost | Flag.Ordinary;

/**
 * Collects the names of a list and finds out which lists of names have the same names, in the same order, as in the last compile. Only
 * the others need to be compared again. Nothing is assumed about why: rows count as the same if all their columns and bytes are.
 */
export class NamesSeen {
  private readonly known: ReadonlyMap<KeptChunk, ComparedChunk>;
  private readonly chunks: ComparedChunk[] = [];
  private readonly seen = new Set<KeptChunk>();
  /** Whether a later compile can compare its names with these. */
  private isComplete = true;

  constructor(last: NameComparison | undefined) {
    this.known = new Map(last?.chunks.map((chunk) => [chunk.kept, chunk]));
  }

  /** Takes the chunks of the list, in order, before their names are compared. */
  see(chunk: Chunk): void {
    const { kept } = chunk;
    if (kept === undefined) {
      // A banner has no names.
      for (let row = 0; row < chunk.length; row++)
        if (isCompared(chunk.fate[row]!, chunk.kind[row]!, chunk.flags[row]!))
          this.isComplete = false;
      return;
    }
    const columns = chunk.allColumns().map((column) => column.subarray(0, chunk.length));
    const rewritten = chunk.rewritten.view();
    // A source may be in the list twice.
    if (this.seen.has(kept)) this.isComplete = false;
    this.seen.add(kept);
    const known = this.known.get(kept);
    const isKnown =
      known !== undefined &&
      equalBytes(known.rewritten, rewritten) &&
      columns.every((column, index) => isSameColumn(column, known.columns[index]!));
    this.chunks.push(
      isKnown
        ? { ...known, id: chunk.id }
        : {
            id: chunk.id,
            kept,
            columns: columns.map((column, index) => {
              const own = kept.columns[index]!;
              return isSameColumn(column, own) ? own : column.slice();
            }),
            rewritten: rewritten.slice(),
          },
    );
  }

  /**
   * What the results of the last compile say about these names; undefined if they say nothing. `wideList` is the last list of names:
   * those that are parents in all partitions.
   */
  inheritedFrom(
    last: NameComparison,
    conditions: readonly unknown[],
    wideList: number,
  ): InheritedResults | undefined {
    const isSame =
      last.conditions.length === conditions.length &&
      conditions.every((condition, index) => Object.is(condition, last.conditions[index]));
    if (!this.isComplete || !isSame) return undefined;
    const places = placesOf(last.chunks, this.chunks, wideList);
    return places && new InheritedResults(last, places, wideList);
  }

  /** For the next compile. */
  comparison(
    conditions: readonly unknown[],
    results: readonly Uint32Array[],
  ): NameComparison | undefined {
    return this.isComplete ? { conditions, chunks: this.chunks, results } : undefined;
  }
}

/** Where the rows of the last compile are now. */
interface Places {
  /** For each old chunk, by its id: the id of the chunk that has the same rows, or -1. */
  readonly chunks: Int32Array;
  /** For the other old chunks: the id of each row whose list of names has not changed. */
  readonly rows: readonly (Int32Array | undefined)[];
  /** For each list of names, whether it must be compared again. */
  readonly isChanged: Uint8Array;
}

/** The results of the last compile that still hold. */
export class InheritedResults {
  /** For each list of names, 1 if it must be compared again. */
  readonly entered: Uint8Array;
  private readonly last: NameComparison;
  private readonly places: Places;
  private readonly areSamePlaces: boolean;

  constructor(last: NameComparison, places: Places, wideList: number) {
    this.last = last;
    this.places = places;
    this.entered = places.isChanged.slice();
    // The other lists need the table of these names.
    this.entered[wideList] = 1;
    this.areSamePlaces = last.chunks.every(({ id }) => {
      const rows = places.rows[id];
      if (rows === undefined) return places.chunks[id] === id;
      return rows.every((to, row) => to === -1 || to === ((id << CHUNK_SHIFT) | row));
    });
  }

  /** The results of a list of names, with the ids that the rows have now. */
  of(list: number): Uint32Array {
    const pairs = this.last.results[list]!;
    return this.areSamePlaces ? pairs : moved(pairs, this.places);
  }
}

function moved(pairs: Uint32Array, places: Places): Uint32Array {
  const result = new Uint32Array(pairs.length);
  for (let index = 0; index < pairs.length; index += 2) {
    const by = pairs[index + 1]!;
    const cause = by & ROW_ID;
    result[index] = placeOf(pairs[index]!, places);
    result[index + 1] =
      cause === RESULT.NotWidened ? by : (by & RESULT.Covered) | placeOf(cause, places);
  }
  return result;
}

function placeOf(id: number, { chunks, rows }: Places): number {
  const chunk = chunks[id >>> CHUNK_SHIFT]!;
  const row = id & (CHUNK_ROWS - 1);
  return chunk === -1 ? rows[id >>> CHUNK_SHIFT]![row]! : (chunk << CHUNK_SHIFT) | row;
}

/** Undefined if the order of chunks differs, or the names that are parents in all partitions: then all names are compared again. */
function placesOf(
  old: readonly ComparedChunk[],
  fresh: readonly ComparedChunk[],
  wideList: number,
): Places | undefined {
  const same = new Map(fresh.map((chunk) => [chunk.columns, chunk.id]));
  const isOld = new Set(old.map(({ columns }) => columns));
  const chunks = new Int32Array((old.at(-1)?.id ?? -1) + 1).fill(-1);
  const rows: Int32Array[] = [];
  const names = new ChangedNames(wideList);
  // Names between the same two chunks keep their place in the list.
  let gap = 0;
  let last = -1;
  for (const chunk of old) {
    const again = same.get(chunk.columns);
    if (again === undefined) rows[chunk.id] = names.expect(chunk, gap);
    else {
      if (again < last) return undefined;
      last = chunks[chunk.id] = again;
      gap++;
    }
  }
  gap = 0;
  for (const chunk of fresh)
    if (isOld.has(chunk.columns)) gap++;
    else names.compare(chunk, gap);
  const isChanged = names.changedLists();
  return isChanged[wideList] === 0 ? { chunks, rows, isChanged } : undefined;
}

/** Compares the names of chunks that changed, list by list. */
class ChangedNames {
  private readonly wideList: number;
  private readonly old: {
    readonly chunk: ComparedChunk;
    readonly gap: number;
    readonly places: Int32Array;
  }[] = [];
  /** For each list, its names: the place of the chunk in `old`, and the row. */
  private readonly expected: number[][];
  private readonly next: Uint32Array;
  private readonly isChanged: Uint8Array;

  constructor(wideList: number) {
    this.wideList = wideList;
    this.expected = Array.from({ length: wideList + 1 }, () => []);
    this.next = new Uint32Array(wideList + 1);
    this.isChanged = new Uint8Array(wideList + 1);
  }

  /** Takes a chunk of the last compile. Returns the ids that `compare` will find for its rows. */
  expect(chunk: ComparedChunk, gap: number): Int32Array {
    const { expected, wideList } = this;
    const first = this.old.length << CHUNK_SHIFT;
    const parts = chunk.columns[INDEX.hostPart]!;
    const places = new Int32Array(parts.length).fill(-1);
    this.old.push({ chunk, gap, places });
    const rows = namesOf(chunk);
    for (let index = 0; index < rows.length; index++) {
      const row = rows[index]!;
      expected[listOf(parts[row]!, wideList)]!.push(first | row);
    }
    return places;
  }

  /** Takes a chunk of this compile. */
  compare(chunk: ComparedChunk, gap: number): void {
    const { expected, next, isChanged, wideList } = this;
    const parts = chunk.columns[INDEX.hostPart]!;
    const first = chunk.id << CHUNK_SHIFT;
    const rows = namesOf(chunk);
    for (let index = 0; index < rows.length; index++) {
      const row = rows[index]!;
      const list = listOf(parts[row]!, wideList);
      const place = expected[list]![next[list]!++];
      if (isChanged[list] !== 0) continue;
      const before = place === undefined ? undefined : this.old[place >> CHUNK_SHIFT]!;
      const its = place! & (CHUNK_ROWS - 1);
      if (before === undefined || before.gap !== gap || !isSameName(before.chunk, its, chunk, row))
        isChanged[list] = 1;
      else before.places[its] = first | row;
    }
  }

  changedLists(): Uint8Array {
    for (const [list, names] of this.expected.entries())
      if (this.next[list] !== names.length) this.isChanged[list] = 1;
    return this.isChanged;
  }
}

/** The rows whose names are compared. */
function namesOf({ columns }: ComparedChunk): Uint32Array {
  const kinds = columns[INDEX.kind]!;
  const fates = columns[INDEX.fate]!;
  const flags = columns[INDEX.flags]!;
  const starts = columns[INDEX.hostStart]!;
  const ends = columns[INDEX.hostEnd]!;
  const rows = new Uint32Array(fates.length);
  let count = 0;
  for (let row = 0; row < fates.length; row++) {
    if (!isCompared(fates[row]!, kinds[row]!, flags[row]!)) continue;
    if (ends[row]! - starts[row]! <= LONGEST_NAME) rows[count++] = row;
  }
  return rows.subarray(0, count);
}

function isCompared(fate: number, kind: number, flags: number): boolean {
  return fate === Fate.Kept && (kind === Kind.Block || (flags & Flag.Ordinary) !== 0);
}

// oxlint-disable-next-line max-params -- two rows
function isSameName(one: ComparedChunk, row: number, other: ComparedChunk, its: number): boolean {
  const flags = one.columns[INDEX.flags]![row]!;
  const difference = flags ^ other.columns[INDEX.flags]![its]!;
  if ((difference & COMPARED_FLAGS) !== 0) return false;
  if (one.columns[INDEX.hostHash]![row] !== other.columns[INDEX.hostHash]![its]) return false;
  const isRewritten = (flags & Flag.Rewritten) !== 0;
  const bytes = isRewritten ? one.rewritten : one.kept.bytes;
  const others = isRewritten ? other.rewritten : other.kept.bytes;
  let at = one.columns[INDEX.hostStart]![row]!;
  const end = one.columns[INDEX.hostEnd]![row]!;
  let beside = other.columns[INDEX.hostStart]![its]!;
  if (end - at !== other.columns[INDEX.hostEnd]![its]! - beside) return false;
  while (at < end) if (bytes[at++] !== others[beside++]) return false;
  return true;
}

function listOf(part: number, wideList: number): number {
  return part === WIDE ? wideList : part & (wideList - 1);
}

function isSameColumn(one: Column, other: Column): boolean {
  return one.length === other.length && equalBytes(bytesOf(one), bytesOf(other));
}

function bytesOf({ buffer, byteOffset, byteLength }: Column): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength);
}

/** Bytes that a comparison holds besides the kept rows. */
export function comparisonBytes({ chunks, results }: NameComparison): number {
  let bytes = results.reduce((sum, { byteLength }) => sum + byteLength, 0);
  for (const { columns, kept, rewritten } of chunks) {
    bytes += rewritten.length;
    for (const [index, column] of columns.entries())
      if (column !== kept.columns[index]) bytes += column.byteLength;
  }
  return bytes;
}
