import { DOT, LF } from "../../bytes/ascii.ts";
import type { Scratch } from "../../host/host.ts";
import { ScratchPartitions } from "../../host/scratch-partitions.ts";
import type { CombinedName } from "./combined-format.ts";
import { NameTable } from "./name-table.ts";
import { Mark } from "./scope-marks.ts";

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
    for (let start = 0; start < lines.length;) {
      const end = lines.indexOf(LF, start);
      let hash = 0;
      let dots = 0;
      for (let at = end - 1; at > start; at--) {
        if (lines[at] === DOT && ++dots === 2) break;
        hash = Math.imul(hash ^ lines[at]!, 0x01000193);
      }
      hash = Math.imul(hash ^ (hash >>> 15), 0x85ebca6b) >>> 8;
      const index = dots === 0 ? 0 : 1 + (hash % others);
      const entries = partitions.end(index);
      entries.push(MEANINGS[lines[start]!]!);
      entries.push(list);
      entries.push(end - start - 1);
      entries.append(lines, start + 1, end);
      partitions.settle(index);
      start = end + 1;
    }
  }

  /** Every name once. The entry is valid until the next one. */
  *names(): Generator<CombinedName, void, undefined> {
    const { partitions } = this;
    const tops = new NameTable(partitions.load(0), undefined);
    yield* tops.entries();
    for (let index = 1; index < partitions.count; index++)
      yield* new NameTable(partitions.load(index), tops).entries();
  }

  close(): void {
    this.partitions.close();
  }
}
