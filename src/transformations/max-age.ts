import { hashBytes } from "../bytes/hash.ts";
import { SPACE, encodeUtf8 } from "../bytes/text.ts";
import { type Chunk, Flag, Kind } from "../rules/chunk.ts";
import { Fate } from "../rules/fate.ts";
import { RuleStage, type Stage, type StageContext } from "./stage.ts";

/** Texts of rules, by 53 bits of a hash: eight bytes a rule. */
export class OldTexts {
  private hashes = new Float64Array(64);
  private size = 0;
  private isSorted = true;

  add(text: string): void {
    if (this.size === this.hashes.length) {
      const grown = new Float64Array(this.size * 2);
      grown.set(this.hashes);
      this.hashes = grown;
    }
    const bytes = encodeUtf8(text);
    this.hashes[this.size++] = hashOf(bytes, 0, bytes.length);
    this.isSorted = false;
  }

  get isEmpty(): boolean {
    return this.size === 0;
  }

  has(bytes: Uint8Array, start: number, end: number): boolean {
    if (!this.isSorted) {
      this.hashes = this.hashes.subarray(0, this.size).toSorted();
      this.isSorted = true;
    }
    const wanted = hashOf(bytes, start, end);
    let [low, high] = [0, this.size];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.hashes[middle]! < wanted) low = middle + 1;
      else high = middle;
    }
    return low < this.size && this.hashes[low] === wanted;
  }
}

/** Drops the rules of a source that were first seen too long ago. Exceptions have no age. */
export function maxAge(old: OldTexts, context: StageContext): Stage {
  return new AgeStage(old, context);
}

class AgeStage extends RuleStage {
  protected readonly keepsOrdinary: boolean;
  private readonly old: OldTexts;

  constructor(old: OldTexts, context: StageContext) {
    super(context);
    this.old = old;
    this.keepsOrdinary = old.isEmpty;
  }

  protected judge(chunk: Chunk, row: number): boolean {
    if (this.old.isEmpty || chunk.kind[row]! < Kind.Hosts) return true;
    if ((chunk.flags[row]! & (Flag.Allow | Flag.Generated)) !== 0) return true;
    const bytes = chunk.bytesOf(row);
    let [start, end] = [chunk.start[row]!, chunk.end[row]!];
    while (start < end && bytes[start]! <= SPACE) start++;
    while (end > start && bytes[end - 1]! <= SPACE) end--;
    if (!this.old.has(bytes, start, end)) return true;
    chunk.drop(row, Fate.TooOld);
    return false;
  }
}

function hashOf(bytes: Uint8Array, start: number, end: number): number {
  const high = hashBytes(0x2545f491, bytes, start, end) >>> 0;
  const low = hashBytes(0x5bd1e995, bytes, start, end) >>> 11;
  return high * 0x20_0000 + low;
}
