import { DOT } from "../bytes/ascii.ts";
import { ByteBuffer } from "../bytes/byte-buffer.ts";
import { hashBytes } from "../bytes/hash.ts";
import type { Scratch } from "../host/host.ts";
import type { CdbWriter } from "./cdb-writer.ts";
import { EntryFlag, JoinedNames, type ListBits } from "./joined-names.ts";

/** Names below one registrable domain are in one partition; there, their parents are found. */
const PARTITIONS = 256;
/** The same in every run, because the order of the records depends on it. */
const FIXED_SEED = 1;
const BLOCK = 32 * 1024;
/** Lists of one database; `EntryFlag.List` counts them from 0. */
export const MOST_JOINED_LISTS: number = EntryFlag.List + 1;

interface Partition {
  readonly current: ByteBuffer;
  readonly blocks: { readonly position: number; readonly length: number }[];
}

/**
 * Joins the databases of several lists into one, whose values say which lists block a name. The closest entry decides in a
 * database, so each entry contains what other lists have for its parents.
 */
export class CdbJoin {
  private readonly openScratch: () => Scratch;
  private scratch: Scratch | undefined;
  private readonly partitions: readonly Partition[];
  /** Names with one label, which have names below them in all partitions. */
  private readonly tops = new Map<string, ListBits>();
  private readonly entry = new Uint8Array(512);

  constructor(openScratch: () => Scratch) {
    this.openScratch = openScratch;
    this.partitions = Array.from({ length: PARTITIONS }, () => ({
      current: new ByteBuffer(),
      blocks: [],
    }));
  }

  /** Adds the record of a list: its key, a name as text or as in a DNS message. */
  add(
    list: number,
    bytes: Uint8Array,
    [start, end]: readonly [number, number],
    isBlocked: boolean,
  ): void {
    const { entry } = this;
    const isAlone = bytes[end - 1] !== 0;
    const length = isAlone ? wireName(bytes, start, end, entry) : end - start - 1;
    if (!isAlone) for (let at = 0; at < length; at++) entry[2 + at] = bytes[start + at]!;
    entry[0] = list | (isAlone ? EntryFlag.Alone : 0) | (isBlocked ? EntryFlag.Blocked : 0);
    entry[1] = length;
    // The positions of the last two labels.
    let tail = 2;
    let top = 2;
    for (let at = 2; at < 2 + length; at += 1 + entry[at]!) {
      tail = top;
      top = at;
    }
    if (top === 2) this.addTop(length);
    else this.append(hashBytes(FIXED_SEED, entry, tail, 2 + length) & (PARTITIONS - 1), 2 + length);
  }

  private addTop(length: number): void {
    const { entry, tops } = this;
    const name = String.fromCharCode(...entry.subarray(2, 2 + length));
    let bits = tops.get(name);
    if (bits === undefined)
      tops.set(name, (bits = { set: 0, blocked: 0, setAlone: 0, blockedAlone: 0 }));
    const bit = 1 << (entry[0]! & EntryFlag.List);
    const blocked = (entry[0]! & EntryFlag.Blocked) === 0 ? 0 : bit;
    if ((entry[0]! & EntryFlag.Alone) === 0) {
      bits.set |= bit;
      bits.blocked |= blocked;
    } else {
      bits.setAlone |= bit;
      bits.blockedAlone |= blocked;
    }
  }

  private append(index: number, length: number): void {
    const { current, blocks } = this.partitions[index]!;
    current.append(this.entry, 0, length);
    if (current.length < BLOCK) return;
    this.scratch ??= this.openScratch();
    blocks.push({ position: this.scratch.append(current.view()), length: current.length });
    current.length = 0;
  }

  /** Writes the records of all lists. */
  finish(writer: CdbWriter): void {
    const names = new JoinedNames(this.tops, writer);
    names.writeTops();
    for (const partition of this.partitions) names.write(this.load(partition));
    this.close();
  }

  close(): void {
    this.scratch?.close();
    this.scratch = undefined;
  }

  private load({ current, blocks }: Partition): Uint8Array {
    const size = blocks.reduce((sum, { length }) => sum + length, current.length);
    const bytes = new Uint8Array(size);
    let at = 0;
    for (const { position, length } of blocks) {
      this.scratch!.read(position, bytes.subarray(at, at + length));
      at += length;
    }
    bytes.set(current.view(), at);
    current.bytes = new Uint8Array(0);
    current.length = 0;
    return bytes;
  }
}

/** Writes a name into an entry as in a DNS message, without the final zero, and returns its length. */
function wireName(bytes: Uint8Array, start: number, end: number, entry: Uint8Array): number {
  let label = 2;
  let to = 3;
  for (let at = start; at < end; at++, to++) {
    entry[to] = bytes[at]!;
    if (bytes[at] !== DOT) continue;
    entry[label] = to - label - 1;
    label = to;
  }
  entry[label] = to - label - 1;
  return to - 2;
}
