import { LF } from "../bytes/ascii.ts";
import { bufferOf } from "../bytes/search.ts";

/** Longer lines are ignored. An entry of AdGuard Home holds two answers of up to 64 KiB each. */
const LONGEST_LINE = 1024 * 1024;

/** Cuts blocks behind the last line feed, so that each piece has whole lines only. */
export class LineBlocks {
  /** The beginning of the next piece: a line that has not ended yet. */
  private readonly held = new Uint8Array(LONGEST_LINE);
  private length = 0;
  /** Reused: garbage collection of new blocks costs more than copying. */
  private joined = new Uint8Array(0);
  /** Whether the rest of a line that is too long follows. */
  private isTooLong = false;

  /** The lines that end in the block, with their line feeds. The next call may overwrite them. */
  take(block: Uint8Array): Uint8Array {
    const input = bufferOf(block);
    let from = 0;
    if (this.isTooLong) {
      const end = input.indexOf(LF);
      if (end === -1) return NOTHING;
      this.isTooLong = false;
      from = end + 1;
    }
    const last = input.lastIndexOf(LF);
    if (last < from) {
      this.hold(input.subarray(from));
      return NOTHING;
    }
    const lines = this.withHeld(input, from, last + 1);
    this.length = 0;
    this.hold(input.subarray(last + 1));
    return lines;
  }

  /** The last line, which may lack its line feed. */
  end(): Uint8Array {
    return this.isTooLong ? NOTHING : this.held.subarray(0, this.length);
  }

  /** A part of the block with the held line before it. */
  private withHeld(input: Uint8Array, from: number, to: number): Uint8Array {
    if (this.length === 0) return input.subarray(from, to);
    const firstEnd = bufferOf(input).indexOf(LF, from);
    if (this.length + firstEnd - from > LONGEST_LINE) return input.subarray(firstEnd + 1, to);
    const length = this.length + to - from;
    if (length > this.joined.length) this.joined = new Uint8Array(length + LONGEST_LINE);
    this.joined.set(this.held.subarray(0, this.length));
    this.joined.set(input.subarray(from, to), this.length);
    return this.joined.subarray(0, length);
  }

  private hold(part: Uint8Array): void {
    if (this.length + part.length > LONGEST_LINE) {
      this.isTooLong = true;
      this.length = 0;
      return;
    }
    this.held.set(part, this.length);
    this.length += part.length;
  }
}

const NOTHING = new Uint8Array(0);
