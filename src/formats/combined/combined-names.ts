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

/** Names of one partition, about; a table of them needs about three times as much. */
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

  /** `bytes` is the size of all lists, about. */
  constructor(openScratch: () => Scratch, bytes: number) {
    const count = Math.min(MOST_PARTITIONS, Math.max(1, Math.ceil(bytes / PARTITION_BYTES)));
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
      entries.push(end - start - 1);
      entries.append(lines, start + 1, end);
      partitions.settle(index);
    });
  }

  /** Every name once. The entry is valid until the next one. */
  *names(): Generator<CombinedName, void, undefined> {
    const { partitions } = this;
    const tops = new PartitionNames(partitions.load(0), undefined);
    yield* tops.entries();
    for (let index = 1; index < partitions.count; index++)
      yield* new PartitionNames(partitions.load(index), tops).entries();
  }

  close(): void {
    this.partitions.close();
  }
}

/** Bytes before the name of an entry: its meaning, its list, the length of the name. */
const HEAD = 3;

/** The names of a partition, each once, with what every list says about it. */
class PartitionNames {
  private readonly names: SliceTable;
  private readonly tops: PartitionNames | undefined;
  private readonly self: Int32Array;
  private readonly below: Int32Array;
  private readonly allowSelf: Int32Array;
  private readonly allowBelow: Int32Array;
  /** Positions of the dots of a name, from its end, and the hashes of what follows each. */
  private readonly dots = new Int32Array(LONGEST_NAME);
  private readonly hashes = new Int32Array(LONGEST_NAME);

  /** `bytes` are entries: four bits of meaning, a list, the length of a name, the name. */
  constructor(bytes: Uint8Array, tops: PartitionNames | undefined) {
    this.tops = tops;
    let count = 0;
    for (let at = 0; at < bytes.length; at += HEAD + bytes[at + 2]!) count++;
    this.names = new SliceTable(bytes, count);
    this.self = new Int32Array(count);
    this.below = new Int32Array(count);
    this.allowSelf = new Int32Array(count);
    this.allowBelow = new Int32Array(count);
    for (let at = 0; at < bytes.length; at += HEAD + bytes[at + 2]!) this.enter(at);
  }

  private enter(at: number): void {
    const { bytes } = this.names;
    const meaning = bytes[at]!;
    const bit = 1 << bytes[at + 1]!;
    const start = at + HEAD;
    const end = start + bytes[at + 2]!;
    const row = this.names.numberOf(start, end, hashName(bytes, start, end));
    if ((meaning & 1) !== 0) this.self[row]! |= bit;
    if ((meaning & 2) !== 0) this.below[row]! |= bit;
    if ((meaning & 4) !== 0) this.allowSelf[row]! |= bit;
    if ((meaning & 8) !== 0) this.allowBelow[row]! |= bit;
  }

  *entries(): Generator<CombinedName, void, undefined> {
    const { names } = this;
    const { bytes } = names;
    const none = { self: 0, below: 0, allowSelf: 0, allowBelow: 0, own: 0, inherited: 0 };
    const entry: CombinedName = { bytes, start: 0, end: 0, ...none };
    for (let row = 0; row < names.size; row++) {
      entry.start = names.startOf(row);
      entry.end = names.endOf(row);
      entry.self = this.self[row]!;
      entry.below = this.below[row]!;
      entry.allowSelf = this.allowSelf[row]!;
      entry.allowBelow = this.allowBelow[row]!;
      entry.own = entry.self | entry.below | entry.allowSelf | entry.allowBelow;
      this.inherit(entry);
      yield entry;
    }
  }

  /** Adds what the parents say for lists that say nothing about the name. The closest parent decides. */
  private inherit(entry: CombinedName): void {
    const { bytes, start, end } = entry;
    const { dots, hashes } = this;
    const count = this.readParents(start, end);
    let blocks = 0;
    let allows = 0;
    for (let index = 0; index < count; index++) {
      const table = index === 0 ? this.tops : this;
      const row = table?.names.find(bytes, dots[index]! + 1, end, hashes[index]!) ?? -1;
      if (row === -1) continue;
      const decided = table!.below[row]! | table!.allowBelow[row]!;
      blocks = (blocks & ~decided) | table!.below[row]!;
      allows = (allows & ~decided) | table!.allowBelow[row]!;
    }
    entry.inherited = blocks;
    const silentSelf = ~(entry.self | entry.allowSelf);
    const silentBelow = ~(entry.below | entry.allowBelow);
    entry.self |= blocks & silentSelf;
    entry.allowSelf |= allows & silentSelf;
    entry.below |= blocks & silentBelow;
    entry.allowBelow |= allows & silentBelow;
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
