import { DOT } from "../bytes/ascii.ts";
import { HASH_SEED, hashBytes } from "../bytes/hash.ts";
import type { CdbWriter } from "./cdb-writer.ts";

/** The first byte of an entry: the list, whether it is for the name alone, and whether the list blocks it. */
export const EntryFlag = { List: 0x1f, Alone: 0x20, Blocked: 0x40 } as const;

/** Lists as bits: those with an entry for a name and everything below it, for the name alone, and those that block it. */
export interface ListBits {
  set: number;
  blocked: number;
  setAlone: number;
  blockedAlone: number;
}

/** The names of one partition at a time, in a hash table. */
export class JoinedNames {
  private readonly tops: ReadonlyMap<string, ListBits>;
  private readonly writer: CdbWriter;
  private readonly key = new Uint8Array(512);
  private readonly values = new Map<number, Uint8Array>();
  private bytes: Uint8Array = new Uint8Array(0);
  /** Numbers of names, counted from 1. */
  private table = new Uint32Array(0);
  private count = 0;
  /** Positions of names, and the columns of `ListBits`. */
  private at = new Uint32Array(0);
  private set = new Int32Array(0);
  private blocked = new Int32Array(0);
  private setAlone = new Int32Array(0);
  private blockedAlone = new Int32Array(0);

  constructor(tops: ReadonlyMap<string, ListBits>, writer: CdbWriter) {
    this.tops = tops;
    this.writer = writer;
  }

  writeTops(): void {
    for (const [name, bits] of this.tops) {
      const bytes = Uint8Array.from(name, (char) => char.charCodeAt(0));
      this.writeName(bytes, [0, bytes.length], bits, 0);
    }
  }

  /** Writes the records of a partition. */
  write(bytes: Uint8Array): void {
    if (bytes.length === 0) return;
    this.read(bytes);
    for (let name = 0; name < this.count; name++) {
      const start = this.at[name]! + 2;
      const end = start + bytes[start - 1]!;
      const bits = {
        set: this.set[name]!,
        blocked: this.blocked[name]!,
        setAlone: this.setAlone[name]!,
        blockedAlone: this.blockedAlone[name]!,
      };
      this.writeName(bytes, [start, end], bits, this.inherited(start, end));
    }
  }

  private read(bytes: Uint8Array): void {
    this.bytes = bytes;
    let entries = 0;
    for (let at = 0; at < bytes.length; at += 2 + bytes[at + 1]!) entries++;
    this.table = new Uint32Array(2 ** Math.ceil(Math.log2(2 * entries)));
    this.at = new Uint32Array(entries);
    this.set = new Int32Array(entries);
    this.blocked = new Int32Array(entries);
    this.setAlone = new Int32Array(entries);
    this.blockedAlone = new Int32Array(entries);
    this.count = 0;
    for (let at = 0; at < bytes.length; at += 2 + bytes[at + 1]!) this.enter(at);
  }

  private enter(at: number): void {
    const start = at + 2;
    const slot = this.slotOf(start, start + this.bytes[at + 1]!);
    let name = this.table[slot]! - 1;
    if (name === -1) {
      name = this.count++;
      this.at[name] = at;
      this.table[slot] = name + 1;
    }
    const flags = this.bytes[at]!;
    const isAlone = (flags & EntryFlag.Alone) !== 0;
    const set = isAlone ? this.setAlone : this.set;
    const blocked = isAlone ? this.blockedAlone : this.blocked;
    const bit = 1 << (flags & EntryFlag.List);
    // The first of several records counts, as in a database.
    if ((flags & EntryFlag.Blocked) !== 0 && (set[name]! & bit) === 0) blocked[name]! |= bit;
    set[name]! |= bit;
  }

  /** The slot of a name, or the free one where it belongs. */
  private slotOf(start: number, end: number): number {
    const { bytes, table } = this;
    const mask = table.length - 1;
    let slot = hashBytes(HASH_SEED, bytes, start, end) & mask;
    for (; table[slot] !== 0; slot = (slot + 1) & mask) {
      const known = this.at[table[slot]! - 1]! + 1;
      let same = bytes[known] === end - start ? 0 : -1;
      while (same >= 0 && same < end - start)
        same = bytes[known + 1 + same] === bytes[start + same] ? same + 1 : -1;
      if (same >= 0) break;
    }
    return slot;
  }

  /** The lists that block the names below the parent of a name; in each list, the closest parent decides. */
  private inherited(start: number, end: number): number {
    const { bytes, tops } = this;
    let known = 0;
    let blocked = 0;
    let parent = start + 1 + bytes[start]!;
    for (let next = parent + 1 + bytes[parent]!; next < end; next = parent + 1 + bytes[parent]!) {
      const name = this.table[this.slotOf(parent, end)]! - 1;
      if (name !== -1) {
        blocked |= this.blocked[name]! & ~known;
        known |= this.set[name]!;
      }
      parent = next;
    }
    if (tops.size === 0) return blocked;
    const top = tops.get(String.fromCharCode(...bytes.subarray(parent, end)));
    return top === undefined ? blocked : blocked | (top.blocked & ~known);
  }

  /** Writes what differs from the parents of a name. */
  private writeName(
    bytes: Uint8Array,
    [start, end]: readonly [number, number],
    { set, blocked, setAlone, blockedAlone }: ListBits,
    inherited: number,
  ): void {
    const { key, writer } = this;
    const below = (inherited & ~set) | blocked;
    const self = (below & ~setAlone) | blockedAlone;
    const length = end - start;
    for (let at = 0; at < length; at++) key[at] = bytes[start + at]!;
    key[length] = 0;
    if (below !== inherited) writer.add(key, length + 1, this.valueOf(below));
    if (self === below) return;
    for (let at = key[0]! + 1; at < length;) {
      const next = at + 1 + key[at]!;
      key[at] = DOT;
      at = next;
    }
    writer.add(key.subarray(1), length - 1, this.valueOf(self));
  }

  /** A hexadecimal digit for every four lists, the first lists first; digits at the end that are 0 are left out. */
  private valueOf(lists: number): Uint8Array {
    let value = this.values.get(lists);
    if (value === undefined) {
      const digits = Array.from({ length: 8 }, (_, place) =>
        ((lists >>> (4 * place)) & 15).toString(16),
      );
      const text = digits.join("").replace(/0+$/, "") || "0";
      this.values.set(lists, (value = Uint8Array.from(text, (char) => char.charCodeAt(0))));
    }
    return value;
  }
}
