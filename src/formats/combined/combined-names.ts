import { HASH_SEED, SliceTable, hashEnd, hashLabel, hashName, hashStep } from "../../bytes/hash.ts";
import { DOT, eachLine } from "../../bytes/text.ts";
import { ScratchPartitions } from "../../host/files.ts";
import type { Scratch } from "../../host/host.ts";
import { LONGEST_NAME, type NameFormat } from "../name-format.ts";
import type { CombinedName } from "./registry.ts";

/** The first byte of a line: what a list says about the name after it. */
const Mark = {
  Subtree: 97,
  Exact: 98,
  Below: 99,
  AllowSubtree: 100,
  AllowExact: 101,
  AllowBelow: 102,
} as const;

/** A list as lines of marks and names, of which the most specific decides. Combined formats are made from it; it is never published. */
export const scopeMarks: NameFormat = {
  summary: "",
  usedBy: "",
  extension: "",
  lines: () => ({
    subtree: ["a%"],
    exact: ["b%"],
    below: ["c%"],
    allowSubtree: ["d%"],
    allowExact: ["e%"],
    allowBelow: ["f%"],
  }),
  header: () => [],
  memoryPerName: 0,
};

/** Names of one partition, about, for each number of bits; a table of them needs about three times as much. */
const PARTITION_BYTES = 16 * 1024 * 1024;
const MOST_PARTITIONS = 1024;

/** What a mark says: `self`, `below`, `allowSelf`, `allowBelow`, as four bits. */
const MEANINGS = new Uint8Array(128);
MEANINGS[Mark.Subtree] = 0b0011;
MEANINGS[Mark.Exact] = 0b0001;
MEANINGS[Mark.Below] = 0b0010;
MEANINGS[Mark.AllowSubtree] = 0b1100;
MEANINGS[Mark.AllowExact] = 0b0100;
MEANINGS[Mark.AllowBelow] = 0b1000;

/**
 * Merges the names of several lists in bounded memory. Names with the same last two labels are in the same partition, with all
 * their parents but top-level domains, which are few and have the first partition. Within one, a table finds equal names and parents.
 */
export class CombinedNames {
  private readonly partitions: ScratchPartitions;
  /** Numbers with a bit for each list. */
  private readonly words: number;

  /** `bytes` is the size of all lists, about. */
  constructor(openScratch: () => Scratch, bytes: number, lists: number) {
    this.words = Math.max(1, Math.ceil(lists / 32));
    const wanted = Math.ceil((bytes * this.words) / PARTITION_BYTES);
    const count = Math.min(MOST_PARTITIONS, Math.max(1, wanted));
    this.partitions = new ScratchPartitions(openScratch, 1 + count);
  }

  /** Adds lines of marks and names from a list. */
  add(lines: Uint8Array, list: number): void {
    const { partitions } = this;
    const others = partitions.count - 1;
    eachLine(lines, (start, end) => {
      let dots = 0;
      // Not from a random seed: the order of names must be the same in every run.
      let hash = 0;
      for (let at = end - 1; at > start; at--) {
        if (lines[at] === DOT && ++dots === 2) break;
        hash = hashStep(hash, lines[at]!);
      }
      const index = dots === 0 ? 0 : 1 + ((hashEnd(hash) >>> 0) % others);
      const entries = partitions.end(index);
      entries.push(MEANINGS[lines[start]!]!);
      entries.push(list);
      entries.push(list >>> 8);
      entries.push(end - start - 1);
      entries.append(lines, start + 1, end);
      partitions.settle(index);
    });
  }

  /** Every name once. The entry is valid until the next one. */
  *names(): Generator<CombinedName, void, undefined> {
    const { partitions, words } = this;
    const tops = new PartitionNames(partitions.load(0), words, undefined);
    yield* tops.entries();
    for (let index = 1; index < partitions.count; index++)
      yield* new PartitionNames(partitions.load(index), words, tops).entries();
  }

  close(): void {
    this.partitions.close();
  }
}

/** Bytes before the name of an entry: its meaning, its list, the length of the name. */
const HEAD = 4;

/** The names of a partition, each once, with what every list says about it. */
class PartitionNames {
  private readonly names: SliceTable;
  private readonly words: number;
  private readonly tops: PartitionNames | undefined;
  /** `words` numbers for each name. */
  private readonly self: Int32Array;
  private readonly below: Int32Array;
  private readonly allowSelf: Int32Array;
  private readonly allowBelow: Int32Array;
  /** Positions of the dots of a name, from its end, and the hashes of what follows each. */
  private readonly dots = new Int32Array(LONGEST_NAME);
  private readonly hashes = new Int32Array(LONGEST_NAME);
  /** The number of each parent in its table; -1 if it has no rules. */
  private readonly rows = new Int32Array(LONGEST_NAME);

  /** `bytes` are entries: four bits of meaning, a list in two bytes, the length of a name, the name. */
  constructor(bytes: Uint8Array, words: number, tops: PartitionNames | undefined) {
    this.words = words;
    this.tops = tops;
    let count = 0;
    for (let at = 0; at < bytes.length; at += HEAD + bytes[at + 3]!) count++;
    this.names = new SliceTable(bytes, count);
    this.self = new Int32Array(count * words);
    this.below = new Int32Array(count * words);
    this.allowSelf = new Int32Array(count * words);
    this.allowBelow = new Int32Array(count * words);
    for (let at = 0; at < bytes.length; at += HEAD + bytes[at + 3]!) this.enter(at);
  }

  private enter(at: number): void {
    const { bytes } = this.names;
    const meaning = bytes[at]!;
    const list = bytes[at + 1]! | (bytes[at + 2]! << 8);
    const bit = 1 << (list & 31);
    const start = at + HEAD;
    const end = start + bytes[at + 3]!;
    const row = this.names.numberOf(start, end, hashName(bytes, start, end));
    const word = row * this.words + (list >>> 5);
    if ((meaning & 1) !== 0) this.self[word]! |= bit;
    if ((meaning & 2) !== 0) this.below[word]! |= bit;
    if ((meaning & 4) !== 0) this.allowSelf[word]! |= bit;
    if ((meaning & 8) !== 0) this.allowBelow[word]! |= bit;
  }

  *entries(): Generator<CombinedName, void, undefined> {
    const { names, words } = this;
    const { bytes } = names;
    const entry: CombinedName = {
      bytes,
      start: 0,
      end: 0,
      self: new Int32Array(words),
      below: new Int32Array(words),
      allowSelf: new Int32Array(words),
      allowBelow: new Int32Array(words),
      own: new Int32Array(words),
      inherited: new Int32Array(words),
    };
    for (let row = 0; row < names.size; row++) {
      entry.start = names.startOf(row);
      entry.end = names.endOf(row);
      for (let word = 0, at = row * words; word < words; word++, at++) {
        entry.self[word] = this.self[at]!;
        entry.below[word] = this.below[at]!;
        entry.allowSelf[word] = this.allowSelf[at]!;
        entry.allowBelow[word] = this.allowBelow[at]!;
        entry.own[word] =
          this.self[at]! | this.below[at]! | this.allowSelf[at]! | this.allowBelow[at]!;
      }
      this.inherit(entry);
      yield entry;
    }
  }

  /** Adds what the parents say for lists that say nothing about the name. The closest parent decides. */
  private inherit(entry: CombinedName): void {
    const { bytes, start, end, inherited } = entry;
    const { dots, hashes, rows, words } = this;
    const count = this.readParents(start, end);
    for (let index = 0; index < count; index++) {
      const table = index === 0 ? this.tops : this;
      rows[index] = table?.names.find(bytes, dots[index]! + 1, end, hashes[index]!) ?? -1;
    }
    for (let word = 0; word < words; word++) {
      let blocks = 0;
      let allows = 0;
      for (let index = 0; index < count; index++) {
        if (rows[index] === -1) continue;
        const table = index === 0 ? this.tops! : this;
        const at = rows[index]! * words + word;
        const decided = table.below[at]! | table.allowBelow[at]!;
        blocks = (blocks & ~decided) | table.below[at]!;
        allows = (allows & ~decided) | table.allowBelow[at]!;
      }
      inherited[word] = blocks;
      const silentSelf = ~(entry.self[word]! | entry.allowSelf[word]!);
      const silentBelow = ~(entry.below[word]! | entry.allowBelow[word]!);
      entry.self[word]! |= blocks & silentSelf;
      entry.allowSelf[word]! |= allows & silentSelf;
      entry.below[word]! |= blocks & silentBelow;
      entry.allowBelow[word]! |= allows & silentBelow;
    }
  }

  /** Finds the dots before the parents of a name, and their hashes; the outermost parent is the first. Returns their number. */
  private readParents(start: number, end: number): number {
    const { dots, hashes } = this;
    const { bytes } = this.names;
    let count = 0;
    let state = HASH_SEED;
    let labelEnd = end;
    for (let at = end - 1; at >= start; at--) {
      if (bytes[at] !== DOT) continue;
      state = hashLabel(state, bytes, at + 1, labelEnd);
      labelEnd = at;
      hashes[count] = hashEnd(state);
      dots[count++] = at;
    }
    return count;
  }
}
