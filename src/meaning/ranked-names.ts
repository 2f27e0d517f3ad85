import { HASH_SEED, hashEnd, hashLabel, hashName } from "../bytes/hash.ts";
import { ByteBuffer, DOT, decodeUtf8, encodeUtf8 } from "../bytes/text.ts";
import { tableSlots } from "../kernel/name-resolver.ts";

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
 *
 *   hashes  hash of a name or a parent of names
 *   best    index + 1 of the first name at or below it; 0: free slot
 *   own     index + 1 of the name itself; 0: only names below it have a rank
 */
export class RankedNames {
  /** Names that have a rank. */
  readonly length: number;
  private readonly bytes: Uint8Array;
  private readonly starts: Uint32Array;
  private readonly ends: Uint32Array;
  private readonly ranks: Uint32Array;
  private hashes: Int32Array;
  private best: Uint32Array;
  private own: Uint32Array;
  private used = 0;

  /** A name that several lists contain has the best of its ranks. */
  constructor(lists: readonly RankList[]) {
    const total = lists.reduce((sum, { length }) => sum + length, 0);
    this.starts = new Uint32Array(total);
    this.ends = new Uint32Array(total);
    this.ranks = new Uint32Array(total);
    const slots = tableSlots(total);
    this.hashes = new Int32Array(slots);
    this.best = new Uint32Array(slots);
    this.own = new Uint32Array(slots);
    this.bytes = lists.length === 1 ? lists[0]!.text.view() : joined(lists);
    let count = 0;
    eachInOrder(lists, (start, end, rank) => {
      this.starts[count] = start;
      this.ends[count] = end;
      this.ranks[count] = rank;
      if (this.enter(count)) count++;
    });
    this.length = count;
  }

  nameAt(index: number): string {
    return decodeUtf8(this.bytes, this.starts[index], this.ends[index]);
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
    const index = this.own[this.slotOf(bytes, start, end, hash)]!;
    return index === 0 ? 0 : this.ranks[index - 1]!;
  }

  bestRank(bytes: Uint8Array, start: number, end: number, hash: number): number {
    const index = this.best[this.slotOf(bytes, start, end, hash)]!;
    return index === 0 ? 0 : this.ranks[index - 1]!;
  }

  /** Marks, by their indexes, a name and the most popular one at or below it. */
  mark(marks: Uint8Array, name: string): void {
    const bytes = encodeUtf8(name);
    this.markBytes(marks, bytes, 0, bytes.length);
  }

  markBytes(marks: Uint8Array, bytes: Uint8Array, start: number, end: number): void {
    const slot = this.slotOf(bytes, start, end, hashName(bytes, start, end));
    if (this.own[slot] !== 0) marks[this.own[slot]! - 1] = 1;
    if (this.best[slot] !== 0) marks[this.best[slot]! - 1] = 1;
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
    for (let index = 0; index < this.length && this.ranks[index]! <= rank; index++)
      if (!visit(this.bytes, this.starts[index]!, this.ends[index]!, index)) return;
  }

  /** Enters a name and its parents; false if the name was entered before. */
  private enter(index: number): boolean {
    const { bytes } = this;
    const start = this.starts[index]!;
    const end = this.ends[index]!;
    let state = HASH_SEED;
    let labelEnd = end;
    for (let at = end - 1; at >= start - 1; at--) {
      if (at >= start && bytes[at] !== DOT) continue;
      state = hashLabel(state, bytes, at + 1, labelEnd);
      labelEnd = at;
      const isSelf = at + 1 === start;
      const hash = hashEnd(state);
      const slot = this.slotOf(bytes, at + 1, end, hash);
      if (isSelf && this.own[slot] !== 0) return false;
      if (isSelf) this.own[slot] = index + 1;
      if (this.best[slot] !== 0) continue;
      this.best[slot] = index + 1;
      this.hashes[slot] = hash;
      if (++this.used * 2 > this.best.length) this.grow();
    }
    return true;
  }

  /** The slot of a name, or the free slot where it belongs. */
  private slotOf(bytes: Uint8Array, start: number, end: number, hash: number): number {
    const { best, hashes } = this;
    const mask = best.length - 1;
    let slot = hash & mask;
    while (best[slot] !== 0) {
      if (hashes[slot] === hash && this.endsIn(best[slot]! - 1, bytes, start, end)) return slot;
      slot = (slot + 1) & mask;
    }
    return slot;
  }

  /** Whether a name is these bytes, or is below them. */
  private endsIn(index: number, bytes: Uint8Array, start: number, end: number): boolean {
    const from = this.ends[index]! - (end - start);
    const first = this.starts[index]!;
    if (from < first || (from > first && this.bytes[from - 1] !== DOT)) return false;
    for (let at = start, other = from; at < end; at++, other++)
      if (bytes[at] !== this.bytes[other]) return false;
    return true;
  }

  private grow(): void {
    const { hashes, best, own } = this;
    const mask = best.length * 2 - 1;
    this.hashes = new Int32Array(mask + 1);
    this.best = new Uint32Array(mask + 1);
    this.own = new Uint32Array(mask + 1);
    for (let old = 0; old < best.length; old++) {
      if (best[old] === 0) continue;
      let slot = hashes[old]! & mask;
      while (this.best[slot] !== 0) slot = (slot + 1) & mask;
      this.hashes[slot] = hashes[old]!;
      this.best[slot] = best[old]!;
      this.own[slot] = own[old]!;
    }
  }
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

function grown(words: Uint32Array): Uint32Array {
  const more = new Uint32Array(words.length * 2);
  more.set(words);
  return more;
}
