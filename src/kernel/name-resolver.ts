import { hashSlice } from "../bytes/hash.ts";
import { CHUNK_ROWS, CHUNK_SHIFT, COLUMN, type Chunk, Flag } from "../rules/chunk.ts";
import { type ChunkCache, rowOf } from "../rules/rule-table.ts";
import { AT, CURSOR, type KernelMemory, PART, PARTITION, RECORD, STOP, WIDE } from "./kernel.ts";
import { type ComparisonSlot, type InheritedResults, LONGEST_NAME, NamesSeen } from "./names.ts";
import { type MemoryBudget, PageStock, PagedLists, type RecordRun } from "./paged-lists.ts";

const NO_PAIRS = new Uint32Array(0);

/** Addresses of the partition that is being resolved. */
interface PartitionAddresses {
  readonly list: number;
  readonly runs: readonly RecordRun[];
  readonly runsAt: number;
  readonly table: number;
  readonly slots: number;
  readonly used: number;
}

/** Where the last compile of the same list left its results, and the cache of its chunks. */
interface LastCompile {
  readonly slot: ComparisonSlot;
  readonly cache: ChunkCache;
}

export interface NameOptions {
  /** Rules that lost modifiers (`Flag.Widened`) cover only rules that lost modifiers too. */
  readonly separatesWidened: boolean;
  /**
   * Whether the rule for this name stays in the list until the end. Called for rules that would cover others. The rule's
   * text is `||name^` unless `isVerbatim` is set: `losesByText` then checked its own text before.
   */
  survives(name: Uint8Array, isPlain: boolean, isVerbatim: boolean): boolean;
  /** Whether all ordinary names survive, so that `survives` need not be called for each. Called after the last chunk. */
  ordinarySurvive(): boolean;
  /** What the results depend on besides the names. Called after the last chunk. */
  conditions(): readonly unknown[];
  /** Whether the rule's own text, which is not `||name^`, removes it later. If absent, no text does. */
  readonly losesByText?: ((chunk: Chunk, row: number) => boolean) | undefined;
}

/**
 * Finds redundant rules among the live rules of `Kind.Block`: first those for a name that an earlier rule blocks
 * (`Fate.SameHost`), then those whose parent domain a surviving rule blocks (`Fate.Covered`, by the widest such rule).
 *
 * The registrable domain of a name selects its partition. So a name and its parents are in the same partition, and the
 * partition's table stays in the cache. Wide names (`||com^`, `||co.uk^`) are parents of names in all partitions and have
 * their own list.
 */
export class NameResolver {
  private readonly options: NameOptions;
  private readonly kernel: KernelMemory;
  private readonly stock: PageStock;
  private readonly names: PagedLists;
  private readonly wideList: number;
  private wide = { table: 0, slots: 0, oneLabel: 0 };
  private chunks = 0;
  private results: PartitionResults | undefined;
  private readonly lastCompile: LastCompile | undefined;
  private readonly seen: NamesSeen | undefined;
  /** The results of each list of names, for the next compile. */
  private readonly pairs: Uint32Array[];
  /** Chunks to be entered when it is known which of their names must be compared. */
  private waiting: Chunk[] = [];

  constructor(options: NameOptions, budget: MemoryBudget, lastCompile?: LastCompile) {
    this.options = options;
    this.lastCompile = lastCompile;
    this.seen = lastCompile && new NamesSeen(lastCompile.slot.last);
    this.kernel = budget.kernel;
    this.stock = new PageStock(this.kernel, budget);
    this.wideList = budget.partitions;
    this.pairs = Array.from({ length: budget.partitions + 1 }, () => NO_PAIRS);
    this.names = new PagedLists(this.stock, budget.partitions + 1);
  }

  /** Adds the chunks of the list, in order. Live rows of ordinary names become rules for them. */
  add(chunk: Chunk): void {
    this.chunks = Math.max(this.chunks, chunk.id + 1);
    this.seen?.see(chunk);
    if (this.lastCompile?.slot.last === undefined) this.enter(chunk, 0);
    else this.waiting.push(chunk);
  }

  /** Enters the names of the lists that have a 1 at this address, or of all lists if it is 0. */
  private enter(chunk: Chunk, entered: number): void {
    const { options } = this;
    const { exports } = this.kernel;
    const { length } = chunk;
    let row = 0;
    while (true) {
      const descriptor = this.kernel.describe(PARTITION, {
        bytes: chunk.bytesAt,
        columns: chunk.columnsAt,
        capacity: chunk.capacity,
        fromRow: row,
        rows: length,
        firstId: chunk.id << CHUNK_SHIFT,
        cursors: this.names.cursors,
        listMask: this.wideList - 1,
        wideList: this.wideList,
        checksText: Number(options.losesByText !== undefined),
        entered,
      });
      row = exports.partition(descriptor);
      const stop = exports.stop.value;
      if (stop === STOP.End) return;
      if (stop === STOP.Row) this.addRow(chunk, row++);
      else this.names.refill(exports.stopList.value, exports.stopSize.value);
    }
  }

  /** Adds a row that the kernel skipped: its text was rewritten, must be checked, or is far too long. */
  private addRow(chunk: Chunk, row: number): void {
    const bytes = chunk.bytesOf(row);
    const start = chunk.hostStart[row]!;
    const end = chunk.hostEnd[row]!;
    if (end - start > LONGEST_NAME) return;
    const flags = chunk.flags[row]!;
    let recordFlags = 0;
    if ((flags & Flag.DeepHost) !== 0) recordFlags |= RECORD.Deep;
    if ((flags & Flag.Widened) !== 0) recordFlags |= RECORD.Widened | RECORD.WasWidened;
    if ((flags & Flag.PlainHost) !== 0) recordFlags |= RECORD.Plain;
    const { losesByText } = this.options;
    if (losesByText !== undefined && (flags & Flag.AsBlock) === 0) {
      recordFlags |= RECORD.Verbatim;
      if (losesByText(chunk, row)) recordFlags |= RECORD.Excluded;
    }
    const part = chunk.hostPart[row]!;
    const list = part === WIDE ? this.wideList : part & (this.wideList - 1);
    this.names.append(list, chunk.hostHash[row]!, chunk.idOf(row), recordFlags, bytes, start, end);
  }

  /** Must be called after the last chunk and before the first `apply`. */
  resolve(): void {
    const inherited = this.enterWaiting();
    this.results = new PartitionResults(this.stock, this.chunks);
    // Allocate for the largest partition at once: areas that grow would leave gaps behind.
    const { records, away, pages } = this.names.largest();
    this.stock.workArea("pages", away);
    const areaSize = tableSlots(records) * 8 + records * 4 + pages * 8;
    const area = this.stock.workArea("table", areaSize);
    this.resolveWide();
    for (let list = 0; list < this.wideList; list++) this.resolvePart(list, area);
    if (this.lastCompile === undefined) return;
    const { slot } = this.lastCompile;
    for (const [list, isEntered] of inherited?.entered.entries() ?? []) {
      if (isEntered !== 0) continue;
      this.pairs[list] = inherited!.of(list);
      this.results.takePairs(this.pairs[list]);
    }
    slot.next = this.seen!.comparison(this.conditions(), this.pairs);
  }

  /** Enters the names whose results the last compile does not tell. Returns the results that it does. */
  private enterWaiting(): InheritedResults | undefined {
    const { waiting, seen, lastCompile, wideList } = this;
    if (lastCompile?.slot.last === undefined) return undefined;
    const { cache, slot } = lastCompile;
    const inherited = seen!.inheritedFrom(slot.last!, this.conditions(), wideList);
    let entered = 0;
    if (inherited !== undefined) {
      entered = this.stock.keep(inherited.entered.length);
      this.kernel.bytes(entered, inherited.entered.length).set(inherited.entered);
    }
    for (const chunk of waiting) {
      cache.use(chunk);
      chunk.isChanged = true;
      this.enter(chunk, entered);
      cache.done(chunk);
    }
    this.waiting = [];
    return inherited;
  }

  private conditions(): readonly unknown[] {
    const { options, wideList } = this;
    return [wideList, options.separatesWidened, ...options.conditions()];
  }

  private resolvePart(list: number, area: number): void {
    const part = this.partOf(list, area);
    if (part !== undefined)
      this.conclude(part, this.kernel.exports.resolvePart(this.describe(part)));
  }

  /** Resolves the wide names first, because all other partitions need them and their table. */
  private resolveWide(): void {
    const { exports } = this.kernel;
    const list = this.wideList;
    this.wide = { table: 0, slots: 0, oneLabel: 0 };
    const count = this.names.countOf(list);
    if (count === 0) return;
    const runs = this.names.runsOf(list, true);
    const slots = tableSlots(count);
    const area = this.stock.keep(slots * 8 + count * 4 + runs.length * 8);
    const oneLabel = runs.some(({ start, end }) => exports.namesOneLabel(start, end) !== 0);
    this.wide = { table: area, slots, oneLabel: oneLabel ? 1 : 0 };
    const part = this.placed(list, runs, area, count);
    this.conclude(part, exports.resolvePart(this.describe(part)));
  }

  private partOf(list: number, area: number, isKept = false): PartitionAddresses | undefined {
    const count = this.names.countOf(list);
    if (count === 0) return undefined;
    return this.placed(list, this.names.runsOf(list, isKept), area, count);
  }

  /** Places the table, the list of used parents and the runs in the area, in this order. */
  private placed(list: number, runs: readonly RecordRun[], table: number, count: number): PartitionAddresses {
    const slots = tableSlots(count);
    const used = table + slots * 8;
    const runsAt = used + count * 4;
    this.kernel.words(runsAt, runs.length * 2).set(runs.flatMap(({ start, end }) => [start, end]));
    return { list, runs, runsAt, table, slots, used };
  }

  private describe({ runsAt, runs, table, slots, used }: PartitionAddresses): number {
    const { wide, options } = this;
    return this.kernel.describe(PART, {
      runs: runsAt,
      runCount: runs.length,
      table,
      slots,
      used,
      separatesWidened: Number(options.separatesWidened),
      trustsOrdinary: Number(options.ordinarySurvive()),
      wideTable: wide.table,
      wideSlots: wide.slots,
      hasOneLabel: wide.oneLabel,
    });
  }

  /** Checks whether the used parents survive, then distributes the results. */
  private conclude(part: PartitionAddresses, usedCount: number): void {
    const { exports } = this.kernel;
    let count = usedCount >>> 0;
    while (this.markSurvivors(this.kernel.words(part.used, count)))
      count = exports.coverPart(this.describe(part)) >>> 0;
    for (const run of part.runs) this.results!.takeFrom(run);
    if (this.lastCompile !== undefined) this.pairs[part.list] = pairsOf(part.runs, this.kernel);
    if (part.list !== this.wideList) this.names.clear(part.list);
  }

  /** Excludes parents that do not survive. Returns true if there were any: the names that they covered need another pass. */
  private markSurvivors(parents: Iterable<number>): boolean {
    const { kernel, options } = this;
    let isExcluded = false;
    for (const record of parents) {
      const head = kernel.shorts(record + AT.Length, 2);
      const flags = head[1]!;
      const survives = options.survives(
        kernel.bytes(record + AT.Text, head[0]!),
        (flags & RECORD.Plain) !== 0,
        (flags & RECORD.Verbatim) !== 0,
      );
      head[1] = (flags & ~RECORD.Used) | (survives ? RECORD.Trusted : RECORD.Excluded);
      if (!survives) isExcluded = true;
    }
    return isExcluded;
  }

  apply(chunk: Chunk): void {
    const { exports } = this.kernel;
    const runs = this.results!.runsOf(chunk);
    if (runs.length === 0) return;
    chunk.causes();
    const { byAt } = chunk;
    for (const { start, end } of runs) {
      const isChanged = exports.applyResults(
        start,
        end,
        chunk.id,
        CHUNK_SHIFT,
        chunk.columnAt(COLUMN.fate),
        byAt,
        chunk.columnAt(COLUMN.flags),
      );
      if (isChanged !== 0) chunk.isChanged = true;
    }
  }

  close(): void {
    this.stock.close();
  }
}

/** Slots of a hash table for this many entries: a power of two, at most half of them used. */
export function tableSlots(entries: number): number {
  let slots = 16;
  while (slots < entries * 2) slots *= 2;
  return slots;
}

const MOST_LISTS = 256;
/** Puts the results for all rows into one list. */
const ONE_LIST = 31;

/** Results for rows, computed per partition and applied per chunk. */
class PartitionResults {
  private readonly stock: PageStock;
  private readonly lists: PagedLists;
  private readonly idShift: number;
  private readonly count: number;
  private at = { list: -1, runs: [] as RecordRun[] };

  /** Holds results for chunks with ids below `chunks`. If there are very many, neighbouring chunks share a list. */
  constructor(stock: PageStock, chunks: number) {
    this.stock = stock;
    let shift = 0;
    while ((chunks - 1) >> shift >= MOST_LISTS) shift++;
    this.idShift = shift + CHUNK_SHIFT;
    this.count = chunks;
    this.lists = new PagedLists(stock, ((chunks - 1) >> shift) + 1);
  }

  /** Collects the results that these records contain. */
  takeFrom({ start, end }: RecordRun): void {
    const { exports } = this.stock.kernel;
    let record = start;
    while (true) {
      record = exports.deliver(record, end, this.lists.cursors, this.idShift) >>> 0;
      if (exports.stop.value === STOP.End) return;
      this.lists.refill(exports.stopList.value, exports.stopSize.value);
    }
  }

  /** Takes results, as pairs, that `pairsOf` returned. */
  takePairs(pairs: Uint32Array): void {
    const { kernel } = this.stock;
    const bytes = pairs.byteLength;
    const area = kernel.allocate(bytes);
    kernel.words(area, pairs.length).set(pairs);
    let pair = area;
    while (true) {
      pair = kernel.exports.passOn(pair, area + bytes, this.lists.cursors, this.idShift) >>> 0;
      if (kernel.exports.stop.value === STOP.End) break;
      this.lists.refill(kernel.exports.stopList.value, kernel.exports.stopSize.value);
    }
    kernel.free(area, bytes);
  }

  /**
   * Runs that contain the results for the chunk's rows, and possibly others: pairs of the row's id and the id of the row
   * that makes it redundant, with the marks that `deliver` set (see kernel/kernel.ts).
   */
  runsOf(chunk: Chunk): readonly RecordRun[] {
    if (chunk.id >= this.count) return [];
    const list = (chunk.id << CHUNK_SHIFT) >> this.idShift;
    if (list !== this.at.list) this.at = { list, runs: this.lists.runsOf(list) };
    return this.at.runs;
  }
}

/** The results that these records contain, as pairs of the row's id and that of its cause. */
function pairsOf(runs: readonly RecordRun[], kernel: KernelMemory): Uint32Array {
  const { exports } = kernel;
  const most = runs.reduce((sum, { start, end }) => sum + end - start, 0);
  // A record is longer than a pair.
  const area = kernel.allocate(CURSOR.Bytes + most);
  const cursor = kernel.words(area, CURSOR.Bytes / 4);
  const first = area + CURSOR.Bytes;
  cursor[CURSOR.Next / 4] = first;
  cursor[CURSOR.End / 4] = first + most;
  for (const { start, end } of runs) exports.deliver(start, end, area, ONE_LIST);
  const pairs = kernel.words(first, (cursor[CURSOR.Next / 4]! - first) / 4).slice();
  kernel.free(area, CURSOR.Bytes + most);
  return pairs;
}

/** Flags of a record. Texts with different flags are never equal. */
const IS_NAME = 512;
const IS_DIGEST = 1024;

/** Longer texts are compared by their SHA-256. */
const LONGEST_TEXT = 4096;

/** Finds duplicate lines; the last copy stays. The hash of a text selects its partition. */
export class TextResolver {
  private readonly kernel: KernelMemory;
  private readonly budget: MemoryBudget;
  private readonly stock: PageStock;
  private readonly texts: PagedLists;
  private results: PartitionResults | undefined;
  private readonly copies = new Int32Array(CHUNK_ROWS);
  private chunks = 0;

  constructor(budget: MemoryBudget) {
    this.budget = budget;
    this.kernel = budget.kernel;
    this.stock = new PageStock(this.kernel, budget);
    this.texts = new PagedLists(this.stock, budget.partitions);
  }

  /** Adds a row, in the order of the list: with `isName` by its name, as `||name^`, otherwise by its text. */
  add(chunk: Chunk, row: number, isName: boolean): void {
    this.chunks = Math.max(this.chunks, chunk.id + 1);
    const id = chunk.idOf(row);
    const bytes = chunk.bytesOf(row);
    const start = (isName ? chunk.hostStart : chunk.start)[row]!;
    const end = (isName ? chunk.hostEnd : chunk.end)[row]!;
    const hash = isName ? chunk.hostHash[row]! : hashSlice(bytes, start, end);
    const flags = isName ? IS_NAME : 0;
    // The high bits, because the table uses the low ones.
    const list = (hash >>> 24) & (this.budget.partitions - 1);
    if (end - start <= LONGEST_TEXT) {
      this.texts.append(list, hash, id, flags, bytes, start, end);
      return;
    }
    const digest = digestOf(bytes.subarray(start, end));
    this.texts.append(list, hash, id, flags | IS_DIGEST, digest, 0, digest.length);
  }

  /** Must be called after the last row. */
  resolve(): void {
    const { exports } = this.kernel;
    if (this.chunks === 0) return;
    this.results = new PartitionResults(this.stock, this.chunks);
    const { records, away } = this.texts.largest();
    this.stock.workArea("pages", away);
    this.stock.workArea("table", tableSlots(records) * 8);
    for (let list = 0; list < this.budget.partitions; list++) {
      const runs = this.texts.runsOf(list);
      const count = this.texts.countOf(list);
      if (count === 0) continue;
      const slots = tableSlots(count);
      exports.useTable(this.stock.workArea("table", slots * 8), slots);
      for (const { start, end } of runs) exports.indexTexts(start, end);
      for (const { start, end } of runs) exports.resolveTexts(start, end);
      for (const run of runs) this.results.takeFrom(run);
      this.texts.clear(list);
    }
  }

  /** For each row of the chunk, the id of the copy that stays, or -1. Valid until the next call. */
  copiesOf(chunk: Chunk): Int32Array {
    const { copies } = this;
    copies.fill(-1, 0, chunk.length);
    const runs = this.results?.runsOf(chunk) ?? [];
    // Must come after `runsOf`, which may make the arena grow.
    const { u32 } = this.kernel;
    for (const { start, end } of runs) {
      for (let index = start >>> 2; index < end >>> 2; index += 2) {
        const id = u32[index]!;
        if (id >> CHUNK_SHIFT === chunk.id) copies[rowOf(id)] = u32[index + 1]!;
      }
    }
    return copies;
  }

  close(): void {
    this.stock.close();
  }
}

/** SHA-256 for texts that are too long to keep for a comparison. Loaded only for lists with such lines: it costs 6 ms. */
let createHash: typeof import("node:crypto").createHash | undefined;

export async function loadDigest(): Promise<void> {
  ({ createHash } = await import("node:crypto"));
}

/** Requires `loadDigest`: a raw text never equals a digest. */
function digestOf(text: Uint8Array): Uint8Array {
  if (createHash === undefined) throw new Error("a long line was not noted when it was read");
  return createHash("sha256").update(text).digest();
}

/** Lines of this length may need a digest, as may lines that are not ASCII; other passes add only a few bytes. */
export const LONG_LINE = 4000;
