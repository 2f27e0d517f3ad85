import { HASH_SEED, SliceTable, grown, hashEnd, hashLabel, hashName } from "../bytes/hash.ts";
import { ByteBuffer, DOT, decodeUtf8, encodeUtf8 } from "../bytes/text.ts";

/** Names of one list of popular names, in its order. */
export class RankList {
  readonly text: ByteBuffer = new ByteBuffer(4096);
  /** Where each name begins; it ends where the next one begins. */
  starts: Uint32Array = new Uint32Array(256);
  /** The place of each name in the list, from 1. Lines without a name count, too. */
  places: Uint32Array = new Uint32Array(256);
  length = 0;

  /** Takes the next name, in lower-case ASCII. */
  add(bytes: Uint8Array, start: number, end: number, place: number): void {
    if (this.length === this.starts.length) {
      this.starts = grown(this.starts);
      this.places = grown(this.places);
    }
    this.starts[this.length] = this.text.append(bytes, start, end);
    this.places[this.length++] = place;
  }

  endOf(index: number): number {
    return index + 1 < this.length ? this.starts[index + 1]! : this.text.length;
  }
}

/**
 * Popular names with their ranks: 1 is the most popular. Built for millions of names: their bytes, and a table of all names and
 * parents without a string for any of them.
 */
export class RankedNames {
  /** Names that have a rank. */
  readonly length: number;
  /** All names and their parents. */
  private readonly table: SliceTable;
  /** For each of them, index + 1 of the first name at or below it, … */
  private best: Uint32Array;
  /** … and index + 1 of the name itself; 0 if only names below it have a rank. */
  private own: Uint32Array;
  /** The number of each name in the table, and its rank. */
  private readonly numbers: Uint32Array;
  private readonly ranks: Uint32Array;

  /** A name that several lists contain has the best of its ranks. */
  constructor(lists: readonly RankList[]) {
    const total = lists.reduce((sum, { length }) => sum + length, 0);
    this.numbers = new Uint32Array(total);
    this.ranks = new Uint32Array(total);
    this.best = new Uint32Array(total + 1);
    this.own = new Uint32Array(total + 1);
    const bytes = lists.length === 1 ? lists[0]!.text.view() : joined(lists);
    this.table = new SliceTable(bytes, total + 1);
    let count = 0;
    eachInOrder(lists, (start, end, rank) => {
      this.ranks[count] = rank;
      if (this.enter(start, end, count)) count++;
    });
    this.length = count;
  }

  nameAt(index: number): string {
    const { table, numbers } = this;
    return decodeUtf8(table.bytes, table.startOf(numbers[index]!), table.endOf(numbers[index]!));
  }

  /** Ranks grow with the index. */
  rankAt(index: number): number {
    return this.ranks[index]!;
  }

  /** The rank of a name in lower case; undefined if it has none. */
  rankOf(name: string): number | undefined {
    const bytes = encodeUtf8(name);
    const rank = this.ownRank(bytes, 0, bytes.length, hashName(bytes, 0, bytes.length));
    return rank === 0 ? undefined : rank;
  }

  /** The best rank of a name and all names below it. */
  bestOf(name: string): number | undefined {
    const bytes = encodeUtf8(name);
    const rank = this.bestRank(bytes, 0, bytes.length, hashName(bytes, 0, bytes.length));
    return rank === 0 ? undefined : rank;
  }

  /** The same by bytes and their hash; 0 without a rank. */
  ownRank(bytes: Uint8Array, start: number, end: number, hash: number): number {
    return this.rankIn(this.own, this.table.find(bytes, start, end, hash));
  }

  bestRank(bytes: Uint8Array, start: number, end: number, hash: number): number {
    return this.rankIn(this.best, this.table.find(bytes, start, end, hash));
  }

  private rankIn(indexes: Uint32Array, number: number): number {
    const index = number === -1 ? 0 : indexes[number]!;
    return index === 0 ? 0 : this.ranks[index - 1]!;
  }

  /** How many different names and parents there are. Each has a number below that. */
  get numberCount(): number {
    return this.table.size;
  }

  /** The number of a name or of a parent of one; -1 for any other. */
  numberOf(bytes: Uint8Array, start: number, end: number): number {
    return this.table.find(bytes, start, end, hashName(bytes, start, end));
  }

  /** Whether a name has a rank. */
  hasRank(bytes: Uint8Array, start: number, end: number): boolean {
    const number = this.numberOf(bytes, start, end);
    return number !== -1 && this.own[number] !== 0;
  }

  appendTo(buffer: ByteBuffer, index: number): void {
    const { table, numbers } = this;
    const number = numbers[index]!;
    buffer.append(table.bytes, table.startOf(number), table.endOf(number));
  }

  /** The numbers of a name and its parents, the top-level domain first. Returns how many there are. */
  lineage(index: number, into: Uint32Array): number {
    const { table, numbers } = this;
    const { bytes } = table;
    const start = table.startOf(numbers[index]!);
    const end = table.endOf(numbers[index]!);
    let count = 0;
    let state = HASH_SEED;
    let labelEnd = end;
    for (let at = end - 1; at >= start - 1; at--) {
      if (at >= start && bytes[at] !== DOT) continue;
      state = hashLabel(state, bytes, at + 1, labelEnd);
      labelEnd = at;
      into[count++] = table.find(bytes, at + 1, end, hashEnd(state));
    }
    return count;
  }

  /** Marks, by their indexes, a name and the most popular one at or below it. */
  mark(marks: Uint8Array, name: string): void {
    const bytes = encodeUtf8(name);
    this.markBytes(marks, bytes, 0, bytes.length);
  }

  markBytes(marks: Uint8Array, bytes: Uint8Array, start: number, end: number): void {
    const number = this.table.find(bytes, start, end, hashName(bytes, start, end));
    if (number === -1) return;
    if (this.own[number] !== 0) marks[this.own[number]! - 1] = 1;
    marks[this.best[number]! - 1] = 1;
  }

  /** The names up to a rank. */
  top(rank: number): string[] {
    const names: string[] = [];
    for (let index = 0; index < this.length && this.ranks[index]! <= rank; index++)
      names.push(this.nameAt(index));
    return names;
  }

  /** Visits the names up to a rank, best first, as bytes. It stops when `visit` returns false. */
  each(
    rank: number,
    visit: (bytes: Uint8Array, start: number, end: number, index: number) => boolean,
  ): void {
    const { table, numbers } = this;
    for (let index = 0; index < this.length && this.ranks[index]! <= rank; index++) {
      const number = numbers[index]!;
      if (!visit(table.bytes, table.startOf(number), table.endOf(number), index)) return;
    }
  }

  /** Enters a name and its parents; false if the name was entered before. */
  private enter(start: number, end: number, index: number): boolean {
    const { table } = this;
    const { bytes } = table;
    let state = HASH_SEED;
    let labelEnd = end;
    let number = -1;
    for (let at = end - 1; at >= start - 1; at--) {
      if (at >= start && bytes[at] !== DOT) continue;
      state = hashLabel(state, bytes, at + 1, labelEnd);
      labelEnd = at;
      number = table.numberOf(at + 1, end, hashEnd(state));
      if (number === this.best.length) {
        this.best = grown(this.best);
        this.own = grown(this.own);
      }
      if (this.best[number] === 0) this.best[number] = index + 1;
    }
    if (this.own[number] !== 0) return false;
    this.own[number] = index + 1;
    this.numbers[index] = number;
    return true;
  }
}

/** The names of query logs that a list blocks, with the number of their queries. */
export class LoggedNames {
  /** All queries of the logs. */
  readonly queries: number;
  /** Those that the list blocks. */
  blocked = 0;
  private readonly text = new ByteBuffer(4096);
  private readonly table = new SliceTable(this.text.bytes);
  private readonly counts: number[] = [];

  constructor(queries: number) {
    this.queries = queries;
  }

  /** Adds a name that the list blocks. Each may be added once. */
  add(name: string, count: number): void {
    const bytes = encodeUtf8(name);
    const { text, table } = this;
    const start = text.append(bytes, 0, bytes.length);
    table.bytes = text.bytes;
    table.enter(start, text.length, hashName(bytes, 0, bytes.length));
    this.counts.push(count);
    this.blocked += count;
  }

  /** Counts the queries of names that a file has. */
  counter(): LoggedCounter {
    const seen = new Uint8Array(this.counts.length);
    const take = (bytes: Uint8Array, start: number, end: number): void => {
      const number = this.table.find(bytes, start, end, hashName(bytes, start, end));
      if (number === -1 || seen[number] === 1) return;
      seen[number] = 1;
      counter.queries += this.counts[number]!;
    };
    const counter = { queries: 0, take };
    return counter;
  }
}

/** The queries for the names that it has seen, each once. */
export interface LoggedCounter {
  readonly queries: number;
  readonly take: (bytes: Uint8Array, start: number, end: number) => void;
}

/** Names in lower-case ASCII, the most popular first. */
export function rankedInOrder(names: readonly string[]): RankedNames {
  const list = new RankList();
  for (const [index, name] of names.entries()) {
    const bytes = encodeUtf8(name);
    list.add(bytes, 0, bytes.length, index + 1);
  }
  return new RankedNames([list]);
}

/** Visits all names by their places; at the same place, in the order of the lists. */
function eachInOrder(
  lists: readonly RankList[],
  visit: (start: number, end: number, rank: number) => void,
): void {
  const next = lists.map(() => 0);
  const offsets = lists.map((_, index) =>
    lists.slice(0, index).reduce((sum, { text }) => sum + text.length, 0),
  );
  for (;;) {
    let from = -1;
    let rank = Infinity;
    for (let index = 0; index < lists.length; index++) {
      const list = lists[index]!;
      const at = next[index]!;
      if (at >= list.length || list.places[at]! >= rank) continue;
      from = index;
      rank = list.places[at]!;
    }
    if (from === -1) return;
    const list = lists[from]!;
    const at = next[from]!++;
    const offset = offsets[from]!;
    visit(offset + list.starts[at]!, offset + list.endOf(at), rank);
  }
}

function joined(lists: readonly RankList[]): Uint8Array {
  const all = new ByteBuffer(lists.reduce((sum, { text }) => sum + text.length, 0));
  for (const { text } of lists) all.append(text.bytes, 0, text.length);
  return all.view();
}
