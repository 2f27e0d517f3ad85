import { ByteBuffer } from "../bytes/byte-buffer.ts";
import type { Scratch } from "../host/host.ts";
import { cdbHash } from "./cdb-hash.ts";

/** Number of hash tables; the header has the position and the number of slots of each. */
const TABLES = 256;
export const CDB_HEADER_BYTES: number = TABLES * 8;
/** Positions have 32 bits. */
const LARGEST_FILE = 2 ** 32 - 1;
/** A record has two slots, so that half of each table is empty. */
const SLOTS_PER_RECORD = 2;
const SLOT_BYTES = 8;
const RECORD_HEAD_BYTES = 8;
/** Slots of one table that are kept in memory; the others go to a scratch file. */
const MOST_WAITING = 1024;
const BLOCK = 1024 * 1024;

/** Where a database is written to. */
export interface CdbTarget {
  write(bytes: Uint8Array): void;
  /** Replaces bytes that were written before. */
  rewrite(position: number, bytes: Uint8Array): void;
}

/** Hashes and positions of the records of one table. */
interface WaitingTable {
  /** Allocated with the first record. */
  slots: Uint32Array;
  count: number;
  /** Positions of full blocks in the scratch file. */
  readonly blocks: number[];
}

/**
 * Writes a constant database (D. J. Bernstein's cdb): header, records, hash tables. Memory does not grow with the number of
 * records, except for one of 256 tables. The numbers in typed arrays are little-endian, as on every supported processor.
 */
export class CdbWriter {
  /** The number of records. */
  count = 0;
  /** Whether a record did not fit into 4 GiB. The file is then invalid. */
  isFull = false;
  private readonly target: CdbTarget;
  private readonly openScratch: () => Scratch;
  private readonly largest: number;
  private scratch: Scratch | undefined;
  private readonly tables: readonly WaitingTable[];
  private readonly out = new ByteBuffer();
  private position = CDB_HEADER_BYTES;

  constructor(target: CdbTarget, openScratch: () => Scratch, largest: number = LARGEST_FILE) {
    this.target = target;
    this.openScratch = openScratch;
    this.largest = largest;
    this.tables = Array.from({ length: TABLES }, () => ({
      slots: new Uint32Array(0),
      count: 0,
      blocks: [],
    }));
    target.write(new Uint8Array(CDB_HEADER_BYTES));
  }

  /** The size of the file. */
  get bytes(): number {
    return this.position + this.count * SLOTS_PER_RECORD * SLOT_BYTES;
  }

  /** Adds a record. Of several records with one key, readers find the first. */
  add(key: Uint8Array, keyLength: number, value: Uint8Array): void {
    const length = RECORD_HEAD_BYTES + keyLength + value.length;
    this.isFull ||= this.bytes + length + SLOTS_PER_RECORD * SLOT_BYTES > this.largest;
    if (this.isFull) return;
    const { out } = this;
    const at = out.reserve(length);
    const { bytes } = out;
    bytes[at] = keyLength;
    bytes[at + 1] = keyLength >>> 8;
    bytes[at + 2] = bytes[at + 3] = 0;
    bytes[at + 4] = value.length;
    bytes[at + 5] = bytes[at + 6] = bytes[at + 7] = 0;
    let to = at + RECORD_HEAD_BYTES;
    for (let from = 0; from < keyLength; from++) bytes[to++] = key[from]!;
    for (let from = 0; from < value.length; from++) bytes[to++] = value[from]!;
    out.length = to;
    this.enter(cdbHash(key, keyLength));
    this.position += length;
    this.count++;
    if (to >= BLOCK) this.flush();
  }

  private enter(hash: number): void {
    const table = this.tables[hash & (TABLES - 1)]!;
    if (table.slots.length === 0) table.slots = new Uint32Array(2 * MOST_WAITING);
    const { slots } = table;
    slots[2 * table.count] = hash;
    slots[2 * table.count + 1] = this.position;
    if (++table.count < MOST_WAITING) return;
    this.scratch ??= this.openScratch();
    table.blocks.push(this.scratch.append(bytesOf(slots)));
    table.count = 0;
  }

  /** Writes the tables and the header. */
  finish(): void {
    this.flush();
    const header = new Uint32Array(2 * TABLES);
    let { position } = this;
    for (const [index, table] of this.tables.entries()) {
      const slots = tableOf(this.waiting(table));
      header[2 * index] = position;
      header[2 * index + 1] = slots.length / 2;
      this.target.write(bytesOf(slots));
      position += slots.length * 4;
    }
    this.target.rewrite(0, bytesOf(header));
    this.close();
  }

  /** Releases the scratch file. */
  close(): void {
    this.scratch?.close();
    this.scratch = undefined;
  }

  private waiting({ slots, count, blocks }: WaitingTable): Uint32Array {
    const all = new Uint32Array(2 * (blocks.length * MOST_WAITING + count));
    for (const [index, position] of blocks.entries()) {
      const from = 2 * index * MOST_WAITING;
      this.scratch!.read(position, bytesOf(all.subarray(from, from + 2 * MOST_WAITING)));
    }
    all.set(slots.subarray(0, 2 * count), 2 * blocks.length * MOST_WAITING);
    return all;
  }

  private flush(): void {
    this.target.write(this.out.view());
    this.out.length = 0;
  }
}

/**
 * A hash table of records, each in the first free slot from the one that its hash selects. They are placed in the order of
 * these slots: then chosen names with the same hash cannot make it slow.
 */
function tableOf(records: Uint32Array): Uint32Array {
  const count = records.length / 2;
  const slots = count * SLOTS_PER_RECORD;
  const table = new Uint32Array(2 * slots);
  const starts = new Uint32Array(slots + 1);
  const slotOf = (record: number): number => (records[2 * record]! >>> 8) % slots;
  for (let record = 0; record < count; record++) starts[slotOf(record) + 1]!++;
  for (let slot = 0; slot < slots; slot++) starts[slot + 1]! += starts[slot]!;
  const ordered = new Uint32Array(count);
  for (let record = 0; record < count; record++) ordered[starts[slotOf(record)]!++] = record;
  let free = 0;
  let wrapped = 0;
  for (const record of ordered) {
    free = Math.max(free, slotOf(record));
    // After the last slot, the first free ones follow. No record has position 0.
    if (free >= slots) while (table[2 * wrapped + 1] !== 0) wrapped++;
    const slot = free < slots ? free++ : wrapped;
    table[2 * slot] = records[2 * record]!;
    table[2 * slot + 1] = records[2 * record + 1]!;
  }
  return table;
}

function bytesOf(numbers: Uint32Array): Uint8Array {
  return new Uint8Array(numbers.buffer, numbers.byteOffset, numbers.byteLength);
}
