import { DOT, LF } from "../../bytes/ascii.ts";
import { ByteBuffer } from "../../bytes/byte-buffer.ts";
import type { Scratch } from "../../host/host.ts";
import type { CombinedName } from "./combined-format.ts";
import { NameTable } from "./name-table.ts";
import { Mark } from "./scope-marks.ts";

/** Names of one partition, about; a table of them needs about three times as much. */
const PARTITION_BYTES = 16 * 1024 * 1024;
const MOST_PARTITIONS = 1024;
/** Names of a partition that are collected before they go to the scratch file. */
const PIECE = 64 * 1024;

/** What a mark says: `self`, `below`, `allowSelf`, `allowBelow`, as four bits. */
const MEANINGS = new Uint8Array(128);
MEANINGS[Mark.Subtree] = 0b0011;
MEANINGS[Mark.Exact] = 0b0001;
MEANINGS[Mark.Below] = 0b0010;
MEANINGS[Mark.AllowSubtree] = 0b1100;
MEANINGS[Mark.AllowExact] = 0b0100;
MEANINGS[Mark.AllowBelow] = 0b1000;

interface Partition {
  readonly waiting: ByteBuffer;
  readonly pieces: { readonly position: number; readonly length: number }[];
  /** Entries in all pieces. */
  count: number;
}

/**
 * Merges the names of several lists in bounded memory. Names with the same last two labels are in the same partition, with all
 * their parents but top-level domains, which are few and stay in memory. Within a partition, a table finds equal names and parents.
 */
export class CombinedNames {
  private readonly openScratch: () => Scratch;
  private scratch: Scratch | undefined;
  private readonly partitions: readonly Partition[];
  /** Names of one label. */
  private readonly tops: Partition = newPartition();

  /** `bytes` is the size of all lists, about. */
  constructor(openScratch: () => Scratch, bytes: number) {
    this.openScratch = openScratch;
    const count = Math.min(MOST_PARTITIONS, Math.max(1, Math.ceil(bytes / PARTITION_BYTES)));
    this.partitions = Array.from({ length: count }, newPartition);
  }

  /** Adds lines of marks and names from a list. */
  add(lines: Uint8Array, list: number): void {
    const { partitions, tops } = this;
    for (let start = 0; start < lines.length;) {
      const end = lines.indexOf(LF, start);
      let hash = 0;
      let dots = 0;
      for (let at = end - 1; at > start; at--) {
        if (lines[at] === DOT && ++dots === 2) break;
        hash = Math.imul(hash ^ lines[at]!, 0x01000193);
      }
      hash = Math.imul(hash ^ (hash >>> 15), 0x85ebca6b) >>> 8;
      const partition = dots === 0 ? tops : partitions[hash % partitions.length]!;
      const { waiting } = partition;
      waiting.push(MEANINGS[lines[start]!]!);
      waiting.push(list);
      waiting.push(end - start - 1);
      waiting.append(lines, start + 1, end);
      partition.count++;
      if (waiting.length >= PIECE) this.flush(partition);
      start = end + 1;
    }
  }

  private flush({ waiting, pieces }: Partition): void {
    if (waiting.length === 0) return;
    this.scratch ??= this.openScratch();
    pieces.push({ position: this.scratch.append(waiting.view()), length: waiting.length });
    waiting.length = 0;
  }

  /** Every name once. The entry is valid until the next one. */
  *names(): Generator<CombinedName, void, undefined> {
    const tops = this.table(this.tops, undefined);
    yield* tops.entries();
    for (const partition of this.partitions)
      if (partition.count > 0) yield* this.table(partition, tops).entries();
  }

  private table({ waiting, pieces, count }: Partition, tops: NameTable | undefined): NameTable {
    const stored = pieces.reduce((sum, { length }) => sum + length, 0);
    const bytes = new Uint8Array(stored + waiting.length);
    let at = 0;
    for (const { position, length } of pieces) {
      this.scratch!.read(position, bytes.subarray(at, at + length));
      at += length;
    }
    bytes.set(waiting.view(), at);
    return new NameTable(bytes, count, tops);
  }

  close(): void {
    this.scratch?.close();
    this.scratch = undefined;
  }
}

function newPartition(): Partition {
  return { waiting: new ByteBuffer(), pieces: [], count: 0 };
}
