import type { Buffer } from "node:buffer";
import { bufferOf } from "../bytes/search.ts";
import { hashName } from "../bytes/hash.ts";
import { decodeUtf8, encodeUtf8 } from "../bytes/utf8.ts";
import { BLOCK_ROWS, blocksOf, filterBytesFor } from "../kernel/name-filter.ts";
import { CHUNK_SHIFT } from "../rules/chunk.ts";
import { hasCause } from "../rules/fate.ts";
import {
  LENGTH_BYTES,
  Part,
  RECORD_VERSION,
  type RecordHeader,
  unzigzag,
} from "./record-format.ts";

/** A recorded chunk of the list. Row numbers continue across frames. */
export interface Frame {
  /** Index into the header's files. */
  readonly file: number;
  /** Number of its first row. */
  readonly base: number;
  readonly length: number;
  readonly firstLine: number;
  /** Byte offset of the first line in its file. */
  readonly position: number;
  /** Some of its rows, with the byte offsets of their text in the file. */
  readonly marks: readonly { readonly row: number; readonly position: number }[];
  readonly lines: Uint32Array | undefined;
  readonly others: Uint8Array | undefined;
  readonly fates: Uint8Array;
  /** For each 2,048 rows, the `Block` flags and a filter of the names. */
  readonly blocks: { readonly about: Uint8Array; readonly filters: readonly Uint8Array[] };
  /** Byte offset of its live rows in the list. */
  readonly offset: number;
  /** Live rules that are more than a name. */
  readonly special: readonly OddRule[];
  /** Position of its causes in the record, and the chunk that their numbers are relative to. */
  readonly causes: { readonly chunk: number; readonly start: number; readonly end: number };
}

export interface OddRule {
  readonly row: number;
  readonly text: string;
}

/** Reads the fate of every line. Causes are read on demand. */
export class BuildRecord {
  readonly header: RecordHeader;
  readonly frames: readonly Frame[];
  readonly rows: number;
  private readonly bytes: Uint8Array;
  /** Number of the first row of each chunk, by the chunk's id. */
  private readonly bases: readonly number[];
  private readonly causesOf = new Map<Frame, Int32Array>();

  private constructor(bytes: Uint8Array, header: RecordHeader, reader: FrameReader) {
    this.bytes = bytes;
    this.header = header;
    this.frames = reader.frames;
    this.rows = reader.rows;
    this.bases = reader.bases;
  }

  /** Undefined if the bytes are not a record of this version. */
  static read(bytes: Uint8Array): BuildRecord | undefined {
    const header = BuildRecord.headerIn(bytes);
    if (header === undefined) return undefined;
    try {
      const reader = new FrameReader(bytes.subarray(0, headerStart(bytes)));
      reader.read();
      return new BuildRecord(bytes, header, reader);
    } catch (error) {
      if (error instanceof RangeError) return undefined;
      throw error;
    }
  }

  /** The header; undefined if the bytes are not a record of this version. */
  static headerIn(bytes: Uint8Array): RecordHeader | undefined {
    const start = headerStart(bytes);
    if (start < 0) return undefined;
    try {
      const text = decodeUtf8(bytes, start, bytes.length - LENGTH_BYTES);
      const header = JSON.parse(text) as RecordHeader;
      return header.version === RECORD_VERSION ? header : undefined;
    } catch (error) {
      if (error instanceof SyntaxError || error instanceof RangeError) return undefined;
      throw error;
    }
  }

  /** The frames, without the header. */
  static framesIn(bytes: Uint8Array): Uint8Array {
    return bytes.subarray(0, Math.max(0, headerStart(bytes)));
  }

  /** Hashes a name like the filters of the record. */
  hashOf(name: string): number {
    const bytes = encodeUtf8(name);
    return hashName(bytes, 0, bytes.length, this.header.hashSeed);
  }

  frameOf(row: number): Frame {
    return this.lastFrame(({ base }) => base <= row);
  }

  /** Binary search: the last frame that satisfies `isTrue`; the first frame if none does. */
  lastFrame(isTrue: (frame: Frame) => boolean): Frame {
    let low = 0;
    let high = this.frames.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (isTrue(this.frames[middle]!)) low = middle;
      else high = middle - 1;
    }
    return this.frames[low]!;
  }

  /** The line number of a row in its file. */
  lineOf(row: number): number {
    const { lines, firstLine, base } = this.frameOf(row);
    return lines === undefined ? firstLine + row - base : lines[row - base]!;
  }

  fileOf(row: number): RecordHeader["files"][number] {
    return this.header.files[this.frameOf(row).file]!;
  }

  fateOf(row: number): number {
    const { fates, base } = this.frameOf(row);
    return fates[row - base]!;
  }

  /** For a redundant row, the number of its cause. */
  causeOf(row: number): number {
    const frame = this.frameOf(row);
    let causes = this.causesOf.get(frame);
    if (causes === undefined) this.causesOf.set(frame, (causes = this.causesIn(frame)));
    return causes[row - frame.base]!;
  }

  /** Follows the causes of a redundant row to the end of the chain. */
  keeperOf(row: number): number {
    let keeper = row;
    for (let steps = 0; steps < LONGEST_CHAIN && hasCause(this.fateOf(keeper)); steps++)
      keeper = this.causeOf(keeper);
    return keeper;
  }

  /** The causes of the rows of a frame; -1 for rows without one. */
  causesIn(frame: Frame): Int32Array {
    const { fates, length } = frame;
    const { chunk, start, end } = frame.causes;
    const causes = new Int32Array(length).fill(-1);
    const { bytes, bases } = this;
    let at = start;
    let last = chunk << CHUNK_SHIFT;
    for (let row = 0; row < length && at < end; row++) {
      if (!hasCause(fates[row]!)) continue;
      let value = 0;
      let scale = 1;
      let byte: number;
      do {
        byte = bytes[at++]!;
        value += (byte & 127) * scale;
        scale *= 128;
      } while (byte > 127);
      last += unzigzag(value);
      causes[row] = (bases[last >> CHUNK_SHIFT] ?? 0) + (last & ((1 << CHUNK_SHIFT) - 1));
    }
    return causes;
  }
}

/** Start of the header; negative if there is no header. */
function headerStart(bytes: Uint8Array): number {
  const { length } = bytes;
  if (length < LENGTH_BYTES) return -1;
  const view = new DataView(bytes.buffer, bytes.byteOffset, length);
  return length - LENGTH_BYTES - view.getUint32(length - LENGTH_BYTES, true);
}

/** Real chains are short: a duplicate of a covered duplicate. */
const LONGEST_CHAIN = 64;

/** Reads frames in order. Throws a `RangeError` if the data is truncated. */
class FrameReader {
  readonly frames: Frame[] = [];
  readonly bases: number[] = [];
  rows = 0;
  private readonly bytes: Uint8Array;
  private readonly view: DataView;
  private readonly text: Buffer;
  private at = 0;
  private lastOffset = 0;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.text = bufferOf(bytes);
  }

  read(): void {
    while (this.at < this.bytes.length) this.frame();
  }

  private frame(): void {
    const id = this.number();
    const file = this.number();
    const length = this.number();
    const firstLine = this.number();
    const position = this.number();
    const offset = this.lastOffset + this.number();
    const parts = this.number();
    this.lastOffset = offset;
    const marks = this.marks(position);
    const base = this.rows;
    this.bases[id] = base;
    const lines = (parts & Part.Lines) === 0 ? undefined : this.lines(length, firstLine);
    const others = (parts & Part.Others) === 0 ? undefined : this.take(length);
    const fates = this.take(length);
    const causes = this.causes(id, (parts & Part.Causes) !== 0);
    const blocks = this.blocks(length);
    const special: OddRule[] = [];
    let row = base;
    for (let count = this.number(); count > 0; count--) {
      row += this.number();
      const end = this.number() + this.at;
      special.push({ row, text: this.text.toString("utf8", this.at, end) });
      this.at = end;
    }
    this.rows += length;
    this.frames.push({
      file,
      base,
      length,
      firstLine,
      position,
      marks,
      lines,
      others,
      fates,
      blocks,
      offset,
      special,
      causes,
    });
  }

  private marks(position: number): Frame["marks"] {
    const marks: { row: number; position: number }[] = [];
    let row = 0;
    let at = position;
    for (let count = this.number(); count > 0; count--) {
      row += this.number();
      at += this.number();
      marks.push({ row, position: at });
    }
    return marks;
  }

  private blocks(length: number): Frame["blocks"] {
    const about = this.take(blocksOf(length));
    const filters: Uint8Array[] = [];
    for (let row = 0; row < length; row += BLOCK_ROWS)
      filters.push(this.take(filterBytesFor(length - row)));
    return { about, filters };
  }

  private causes(chunk: number, areThere: boolean): Frame["causes"] {
    if (!areThere) return { chunk, start: 0, end: 0 };
    const start = this.at + LENGTH_BYTES;
    this.at = start + this.view.getUint32(this.at, true);
    return { chunk, start, end: this.at };
  }

  private lines(length: number, firstLine: number): Uint32Array {
    const lines = new Uint32Array(length);
    let line = firstLine;
    for (let row = 0; row < length; row++) lines[row] = line += this.number();
    return lines;
  }

  private take(length: number): Uint8Array {
    const end = this.at + length;
    if (end > this.bytes.length) throw new RangeError("the record ends too early");
    const part = this.bytes.subarray(this.at, end);
    this.at = end;
    return part;
  }

  private number(): number {
    let value = 0;
    let scale = 1;
    for (;;) {
      const byte = this.bytes[this.at++];
      if (byte === undefined) throw new RangeError("the record ends too early");
      value += (byte & 127) * scale;
      if (byte < 128) return value;
      scale *= 128;
    }
  }
}
