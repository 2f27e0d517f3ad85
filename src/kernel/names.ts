import { LF, equalBytes } from "../bytes/text.ts";
import { CHUNK_ROWS, CHUNK_SHIFT, type Chunk, Flag, Kind } from "../rules/chunk.ts";
import { Fate } from "../rules/fate.ts";
import type { KeptChunk } from "../rules/rule-table.ts";
import { KernelArea, KernelMemory, RESULT, WIDE } from "./kernel.ts";

/** Bytes behind a text that the kernel may read. */
const AFTER = 32;
/** Bytes of a filter of names, 2^20 bits. Names take two bits each. */
const NAME_FILTER_BYTES = 128 * 1024;

/** Names in the kernel's memory, valid until the next call. */
interface TakenNames {
  /** The names, each with a line feed behind it. */
  readonly names: Uint8Array;
  readonly count: number;
  /** How much of the text was read: up to the first line that is not `||name^`. */
  readonly read: number;
}

/** Finds names in the text of a list, and names by their last labels, in a memory of its own. */
export class NameReader {
  private readonly kernel = new KernelMemory();
  private readonly text = new KernelArea(this.kernel);
  private readonly filter = new KernelArea(this.kernel);
  private readonly out = new KernelArea(this.kernel);
  private length = 0;

  /** Sets the text for `takeFrom`: lines with a line feed before each. */
  setText(text: Uint8Array): void {
    this.length = text.length;
    this.text.need(text.length + AFTER);
    const bytes = this.kernel.bytes(this.text.at, text.length + AFTER);
    bytes.set(text);
    bytes.fill(0, text.length);
    bytes[text.length] = LF;
  }

  /** Takes the names of the lines `||name^` from a position up to the first other line; names may have `longest` bytes. */
  takeFrom(position: number, longest: number): TakenNames {
    const { kernel, length } = this;
    this.out.need(length + AFTER);
    const { at } = this.text;
    const out = this.out.at;
    const read = kernel.exports.takeNames(at + position, at + length, longest, out) >>> 0;
    const end = kernel.exports.namesEnd.value >>> 0;
    return {
      names: kernel.bytes(out, end - out),
      count: kernel.exports.namesCount.value,
      read: read - at,
    };
  }

  /** The positions of names that may be in a filter: their ends or the whole name. A line feed follows each name. */
  findEnds(names: Uint8Array, filter: Uint8Array): Uint32Array {
    const { kernel } = this;
    this.text.need(names.length + AFTER);
    this.filter.need(NAME_FILTER_BYTES);
    this.out.need(names.length * 4);
    kernel.bytes(this.text.at, names.length).set(names);
    kernel.bytes(this.filter.at, NAME_FILTER_BYTES).set(filter);
    const { at } = this.text;
    const out = this.out.at;
    const count = kernel.exports.findEnds(at, at + names.length, this.filter.at, out);
    return kernel.words(out, count).slice();
  }
}

let shared: NameReader | undefined;

/** One reader for all lists, because a memory takes longer to make than a small list. No call leaves it in use. */
export function sharedReader(): NameReader {
  return (shared ??= new NameReader());
}

/** An empty filter of names. */
export function nameFilter(): Uint8Array {
  return new Uint8Array(NAME_FILTER_BYTES);
}

/** Adds a name to a filter that finds it and all names that end in it, from a dot on. */
export function addEnd(filter: Uint8Array, name: string): void {
  setBits(filter, hashOf(name));
}

/** Adds a name to a filter that finds it alone. */
export function addWhole(filter: Uint8Array, name: string): void {
  setBits(filter, ~hashOf(name));
}

/** From the end to the start, so that the kernel has the hashes of all ends on the way. */
function hashOf(name: string): number {
  let hash = 0;
  for (let at = name.length - 1; at >= 0; at--)
    hash = Math.imul(hash ^ name.charCodeAt(at), 0x01000193) ^ (hash >>> 15);
  return hash;
}

function setBits(filter: Uint8Array, hash: number): void {
  for (const bit of [hash >>> 12, Math.imul(hash, 0x9e3779b1) >>> 12])
    filter[bit >> 3]! |= 1 << (bit & 7);
}

const STEP = 16;

/** Writes lines for many names with the kernel, in its own memory. */
export class NameExpander {
  private readonly kernel = new KernelMemory();
  private readonly areas = {
    names: new KernelArea(this.kernel),
    parts: new KernelArea(this.kernel),
    out: new KernelArea(this.kernel),
  };
  private lastNames: Uint8Array | undefined;

  /**
   * Returns the lines for the first `count` names of a block, in which a line feed follows each name. `parts` are the
   * texts before, between and after the places of the name. The result is valid until the next call. Do not change `names`
   * between two calls with the same array.
   */
  expand(parts: readonly Uint8Array[], names: Uint8Array, count: number): Uint8Array {
    const { kernel, areas } = this;
    const places = parts.length - 1;
    const fixed = parts.reduce((sum, part) => sum + part.length, 0);
    const isMoved = areas.names.need(names.length + STEP);
    if (isMoved || names !== this.lastNames) {
      kernel.bytes(areas.names.at, names.length).set(names);
      this.lastNames = names;
    }
    areas.out.need(names.length * places + count * fixed + 2 * STEP);
    this.setParts(parts);
    const { at } = areas.out;
    const end = kernel.exports.expandNames(areas.names.at, count, areas.parts.at, places, at) >>> 0;
    return kernel.bytes(at, end - at);
  }

  private setParts(parts: readonly Uint8Array[]): void {
    const { kernel, areas } = this;
    const sizes = parts.map(({ length }) => STEP + Math.ceil(length / STEP) * STEP);
    areas.parts.need(sizes.reduce((sum, size) => sum + size, STEP));
    let { at } = areas.parts;
    for (const [index, part] of parts.entries()) {
      kernel.words(at, 1)[0] = part.length;
      kernel.bytes(at + STEP, part.length).set(part);
      at += sizes[index]!;
    }
  }
}

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

/** Longer names are not compared. A real name has at most 253 characters. */
export const LONGEST_NAME = 2048;

/**
 * Filters that tell which names may be in a block of rows. The hash of each name sets two bits. If both bits of a name are
 * set, it may be in the block (a false positive in one block of seventy). Otherwise it is certainly not.
 */

export const BLOCK_SHIFT = 11;
export const BLOCK_ROWS: number = 1 << BLOCK_SHIFT;
/** Bytes of the filter of a whole block, and the number of bits in a bit index. */
export const FILTER_BYTES = 4096;
export const FILTER_BITS = 15;
const SMALLEST_BYTES = 64;

export function blocksOf(rows: number): number {
  return (rows + BLOCK_ROWS - 1) >> BLOCK_SHIFT;
}

export function blockOf(row: number): number {
  return row >> BLOCK_SHIFT;
}

/** Adds a name to the filter of a whole block, which begins at byte `start`. */
export function addName(filters: Uint8Array, start: number, hash: number): void {
  const [first, second] = bitsOf(hash);
  filters[start + (first >> 3)]! |= 1 << (first & 7);
  filters[start + (second >> 3)]! |= 1 << (second & 7);
}

/** Whether a name may be in the block of a filter, which may have been folded. */
export function mayHaveName(filter: Uint8Array, hash: number): boolean {
  const mask = filter.length * 8 - 1;
  return bitsOf(hash).every((bit) => (filter[(bit & mask) >> 3]! & (1 << (bit & 7))) !== 0);
}

/** Whether any of the names may be in any of the blocks. */
export function mayHaveAny(filters: readonly Uint8Array[], hashes: readonly number[]): boolean {
  return filters.some((filter) => hashes.some((hash) => mayHaveName(filter, hash)));
}

function bitsOf(hash: number): [number, number] {
  const mask = FILTER_BYTES * 8 - 1;
  return [hash & mask, (hash >>> FILTER_BITS) & mask];
}

/** The filter size for this many rows: about two bytes per row. */
export function filterBytesFor(rows: number): number {
  let bytes = FILTER_BYTES;
  while (bytes > SMALLEST_BYTES && bytes >= rows * 4) bytes /= 2;
  return bytes;
}

/** Shrinks the filter of a whole block: merges its halves until `bytes` bytes are left at its start. */
export function foldFilter(filter: Uint8Array, bytes: number): void {
  for (let half = FILTER_BYTES / 2; half >= bytes; half /= 2)
    for (let at = 0; at < half; at++) filter[at]! |= filter[half + at]!;
}
