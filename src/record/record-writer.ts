import { ByteBuffer } from "../bytes/byte-buffer.ts";
import type { RowFinder } from "../kernel/row-finder.ts";
import { CHUNK_SHIFT, type Chunk } from "../rules/chunk.ts";
import { Fate } from "../rules/fate.ts";
import { Flag, Kind } from "../rules/kind.ts";
import { appendText } from "../rules/row-text.ts";
import { LENGTH_BYTES, Other, Part } from "./record-format.ts";

const PIECE = 1024 * 1024;
const LONGEST_VARINT = 8;
const MARK_ROWS = 2048;

/** Writes the frames of a build record, chunk by chunk as the list is made. */
export class RecordWriter {
  private readonly finder: RowFinder;
  private readonly sink: (bytes: Uint8Array) => void;
  private readonly out = new ByteBuffer(65_536);
  private readonly text = new ByteBuffer(256);
  /** Files in which not every rule is a name in lower case. */
  readonly oddFiles: Set<number> = new Set();
  private lastOffset = 0;

  constructor(finder: RowFinder, sink: (bytes: Uint8Array) => void) {
    this.finder = finder;
    this.sink = sink;
  }

  /** Takes a chunk whose live rows begin at a byte of the list. */
  take(chunk: Chunk, offset: number): void {
    const { out } = this;
    const { length, lines } = chunk;
    const hasOthers = chunk.has.otherRows || chunk.has.comments || chunk.has.blanks;
    const { by } = chunk;
    const parts =
      (lines === undefined ? 0 : Part.Lines) |
      (hasOthers ? Part.Others : 0) |
      (by === undefined ? 0 : Part.Causes);
    const place = [chunk.id, chunk.origin, length, chunk.firstLine, chunk.position];
    const head = [...place, offset - this.lastOffset, parts];
    for (const value of head) this.number(value);
    this.lastOffset = offset;
    this.marks(chunk);
    if (lines !== undefined) this.lines(lines, length, chunk.firstLine);
    if (hasOthers) this.others(chunk);
    out.append(chunk.fate, 0, length);
    if (by !== undefined) this.causes(chunk, by);
    this.odd(chunk);
    if (out.length >= PIECE) this.flush();
  }

  end(): void {
    this.flush();
  }

  private flush(): void {
    this.sink(this.out.view());
    this.out.length = 0;
  }

  private marks({ flags, start, length }: Chunk): void {
    const rows: number[] = [];
    for (let row = MARK_ROWS; row < length; row += MARK_ROWS)
      // The text of a row that was rewritten stands elsewhere.
      if ((flags[row]! & Flag.Rewritten) === 0) rows.push(row);
    this.number(rows.length);
    let last = 0;
    let at = 0;
    for (const row of rows) {
      this.number(row - last);
      this.number(start[row]! - at);
      last = row;
      at = start[row]!;
    }
  }

  private lines(lines: Uint32Array, length: number, firstLine: number): void {
    let last = firstLine;
    for (let row = 0; row < length; row++) {
      this.number(lines[row]! - last);
      last = lines[row]!;
    }
  }

  /** A byte a row, written without a call for each: 2 % of a compile. */
  private others({ flags, kind, length }: Chunk): void {
    const start = this.out.reserve(length);
    const { bytes } = this.out;
    for (let row = 0; row < length; row++) {
      const flag = flags[row]!;
      bytes[start + row] =
        ((flag & Flag.Generated) === 0 ? 0 : Other.Generated) |
        ((flag & Flag.Continued) === 0 ? 0 : Other.Continued) |
        (kind[row]! < Kind.Hosts ? Other.NoRule : 0);
    }
    this.out.length = start + length;
  }

  /** Every second row of many lists has one; the bytes are written without a call for each. */
  private causes({ id, fate: fates, length }: Chunk, by: Uint32Array): void {
    const { out } = this;
    // Room for the length of the part, which is known when it is written.
    const start = out.reserve(LENGTH_BYTES + length * LONGEST_VARINT) + LENGTH_BYTES;
    const { bytes } = out;
    let at = start;
    let last = id << CHUNK_SHIFT;
    for (let row = 0; row < length; row++) {
      const fate = fates[row]!;
      // hasCause(fate), written out for this loop.
      if (fate !== Fate.Duplicate && fate !== Fate.SameHost && fate !== Fate.Covered) continue;
      const cause = by[row]!;
      const step = cause - last;
      last = cause;
      // Row numbers have 31 bits, so the double of a difference has 32, and as a number without sign it still fits.
      let value = ((step << 1) ^ (step >> 31)) >>> 0;
      while (value > 127) {
        bytes[at++] = (value & 127) | 128;
        value >>>= 7;
      }
      bytes[at++] = value;
    }
    new DataView(bytes.buffer, bytes.byteOffset).setUint32(start - LENGTH_BYTES, at - start, true);
    out.length = at;
  }

  private odd(chunk: Chunk): void {
    const rows = this.finder.odd(chunk);
    const { kind } = chunk;
    if (!this.oddFiles.has(chunk.origin) && this.hasOddText(chunk)) this.oddFiles.add(chunk.origin);
    const rules = rows.filter((row) => kind[row]! >= Kind.Hosts);
    this.number(rules.length);
    let last = 0;
    for (const row of rules) {
      this.number(row - last);
      last = row;
      this.text.length = 0;
      appendText(chunk, row, this.text);
      this.number(this.text.length);
      this.out.append(this.text.bytes, 0, this.text.length);
    }
  }

  /** Whether a line, in the list or not, has letters that are not small ones of ASCII. */
  private hasOddText(chunk: Chunk): boolean {
    const { kind, bytes, start, end } = chunk;
    for (const row of this.finder.notOrdinary(chunk)) {
      if (kind[row]! < Kind.Hosts) continue;
      // A row that was rewritten began as something odd.
      if ((chunk.flags[row]! & Flag.Rewritten) !== 0) return true;
      for (let at = start[row]!; at < end[row]!; at++) {
        const byte = bytes[at]!;
        if (byte > 127 || (byte > 64 && byte < 91)) return true;
      }
    }
    return false;
  }

  private number(value: number): void {
    let rest = value;
    while (rest > 127) {
      this.out.push((rest % 128) | 128);
      rest = Math.floor(rest / 128);
    }
    this.out.push(rest);
  }
}
