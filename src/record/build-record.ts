import type { Buffer } from "node:buffer";
import { hashName } from "../bytes/hash.ts";
import {
  ByteBuffer,
  CLASS_OF,
  Class,
  DOT,
  UNDERSCORE,
  bufferOf,
  decodeUtf8,
  encodeUtf8,
} from "../bytes/text.ts";
import type { DecisionUse } from "../documents/facts.ts";
import type { FeedSettings } from "../feeds/feed.ts";
import {
  BLOCK_ROWS,
  FILTER_BYTES,
  addName,
  blockOf,
  blocksOf,
  filterBytesFor,
  foldFilter,
} from "../kernel/names.ts";
import type { RowFinder, RowRecorder } from "../kernel/rows.ts";
import { CHUNK_SHIFT, type Chunk, Flag, Kind, appendText } from "../rules/chunk.ts";
import { FATES, Fate, type FateName, hasCause, isSilent } from "../rules/fate.ts";
import { maskOf } from "../syntax/classify.ts";

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

/**
 * A build record: the fate of every line of every source. One frame per chunk, in list order; then the header (`RecordHeader`)
 * as JSON and its length in four bytes. The whole is packed with zstd, or gzip if zstd is unavailable.
 *
 *   frame   varints: chunk id, origin, rows, first line, byte of the file, bytes of the list since the last frame, parts
 *           marks                   varint count; each: varint row minus the row before, varint byte of its text in the chunk minus
 *                                   the one before: every 2,048th row, to find lines by their offset
 *           lines   (if parts & 1)  varint per row: line minus the line before
 *           others  (if parts & 2)  byte per row (`Other` of kernel/rows.ts): 1 generated, 2 next name of the line above, 4 not a rule
 *           fates                   byte per row
 *           causes  (if parts & 4)  4 bytes: length of the part; for each redundant row: zigzag varint, number of its cause
 *                                   minus the one before (the first: minus chunk id × 65,536)
 *           blocks                  byte per 2,048 rows: 1 has lines without a hash, 2 these have letters other than lower-case ASCII;
 *                                   then a filter of names for each (`kernel/names.ts`), smaller for few rows
 *           special                 varint count; for each live rule that is more than a name: varint row minus the row before,
 *                                   varint length, text
 */
export const RECORD_VERSION = 2;

/** Size of a length field. */
export const LENGTH_BYTES = 4;

const Part = { Lines: 1, Others: 2, Causes: 4 } as const;
/** Flags for a block of rows. */
export const Block = { Nameless: 1, OddLetters: 2 } as const;

export interface RecordedFile {
  /** Index of its source. */
  readonly source: number;
  /** As a user would search for it. */
  readonly file: string;
  /** Generated lines, such as banners, instead of a file. */
  readonly isOwn?: true;
  /** For a local file, its path and stamp. */
  readonly path?: string;
  readonly stamp?: string;
  /** Its syntax, if not adblock: its lines then differ from the rows. */
  readonly format?: string;
  /** The feed that its lines were made from. */
  readonly feed?: FeedSettings;
  /** Selects a file of a local archive. */
  readonly member?: string;
  /** SHA-256 of the cached copy, for a remote file. */
  readonly sha256?: string;
  /** Whether it contains rules that the source no longer has. */
  readonly isKept?: true;
}

interface RecordedSource {
  readonly label: string;
  readonly source: string;
  readonly type: string;
  readonly state: string;
  readonly goodAt?: string;
  /** SHA-256 of the cached file that says when its rules were seen. */
  readonly ledger?: string;
  readonly lines: number;
  readonly kept: number;
  readonly dropped: Readonly<Partial<Record<FateName, number>>>;
  readonly licence?: string;
  /** Names that people need and that it tried to block. */
  readonly household?: readonly string[];
}

export interface RecordHeader {
  readonly version: typeof RECORD_VERSION;
  readonly tool: string;
  readonly name: string;
  readonly builtAt: string;
  readonly seconds: number;
  readonly rules: number;
  readonly lines: number;
  /** The number of sources that a rule needs, if it is more than one. */
  readonly minSources?: number;
  /** Seed for the hashes of names in its filters. */
  readonly hashSeed: number;
  /** Size of the list. */
  readonly bytes: number;
  /** Whether a published file changed, of the list or of one of its outputs. */
  readonly hasChanged?: true;
  /** Who asked for the build. */
  readonly by?: string;
  /** The stamp of the kept build that it repeats, after a rollback. */
  readonly of?: string;
  /** What the user decided about names. */
  readonly decisions?: readonly DecisionUse[];
  readonly sources: readonly RecordedSource[];
  readonly files: readonly RecordedFile[];
  /** Fate names of this version, by number. */
  readonly fates: readonly string[];
}

export const FATE_NAMES: readonly string[] = FATES.map(([name]) => name);

/** Maps unsigned to signed numbers. Small numbers stay small: 0, 1, 2, 3 are 0, -1, 1, -2. */
function unzigzag(value: number): number {
  return value % 2 === 1 ? -(value + 1) / 2 : value / 2;
}

const PIECE = 1024 * 1024;
const NAME_CLASSES = Class.Word | Class.Dot | Class.Hyphen;
const ODD_LETTERS = Class.Upper | Class.NonAscii;

/** Writes the frames of a build record while the list is built. */
export class RecordWriter {
  private readonly finder: RowFinder;
  private readonly recorder: RowRecorder;
  private readonly sink: (bytes: Uint8Array) => void;
  private readonly out = new ByteBuffer(65_536);
  private readonly text = new ByteBuffer(256);
  private lastOffset = 0;

  /** The bytes are only valid during the call of `sink`. */
  constructor(finder: RowFinder, recorder: RowRecorder, sink: (bytes: Uint8Array) => void) {
    this.finder = finder;
    this.recorder = recorder;
    this.sink = sink;
  }

  /** Takes a chunk whose live rows begin at this byte of the list. */
  take(chunk: Chunk, offset: number): void {
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
    if (hasOthers) this.append(this.recorder.others(chunk));
    this.append(chunk.fate.subarray(0, length));
    if (by !== undefined) this.causes(chunk, by);
    this.blocks(chunk);
    this.special(chunk);
    if (this.out.length >= PIECE) this.flush();
  }

  end(): void {
    this.flush();
  }

  private append(bytes: Uint8Array): void {
    this.out.append(bytes, 0, bytes.length);
  }

  private flush(): void {
    this.sink(this.out.view());
    this.out.length = 0;
  }

  private marks({ flags, start, length }: Chunk): void {
    const rows: number[] = [];
    for (let row = BLOCK_ROWS; row < length; row += BLOCK_ROWS)
      // The text of a rewritten row is in another buffer.
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

  private causes(chunk: Chunk, by: Uint32Array): void {
    const { out } = this;
    const causes = this.recorder.causes(chunk, by);
    const at = out.reserve(LENGTH_BYTES);
    const { bytes } = out;
    new DataView(bytes.buffer, bytes.byteOffset).setUint32(at, causes.length, true);
    out.length = at + LENGTH_BYTES;
    this.append(causes);
  }

  private special(chunk: Chunk): void {
    const rows = this.finder.special(chunk);
    const { kind } = chunk;
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

  /** Writes which names occur in which block, so that a search for a name reads few lines. */
  private blocks(chunk: Chunk): void {
    const { length, fate, kind, flags } = chunk;
    const { filters, others } = this.recorder.names(chunk);
    const about = new Uint8Array(blocksOf(length));
    for (const row of others) {
      if (kind[row]! < Kind.Hosts && (fate[row] === Fate.Kept || isSilent(fate[row]!))) continue;
      const block = blockOf(row);
      // In such a block, a search reads every line outside the list anyway.
      if (about[block] === (Block.Nameless | Block.OddLetters) && fate[row] !== Fate.Kept) continue;
      const hash = nameHash(chunk, row);
      if (hash !== undefined) addName(filters, block * FILTER_BYTES, hash);
      // The original text of a rewritten row is unknown.
      const isRewritten = (flags[row]! & Flag.Rewritten) !== 0;
      if (hash !== undefined && !isRewritten) continue;
      about[block]! |= Block.Nameless;
      const mask = maskOf(chunk.bytesOf(row), chunk.start[row]!, chunk.end[row]!);
      if (isRewritten || (mask & ODD_LETTERS) !== 0) about[block]! |= Block.OddLetters;
    }
    this.append(about);
    // All blocks except the last are full.
    const whole = blocksOf(length) - 1;
    const last = filterBytesFor(length - whole * BLOCK_ROWS);
    foldFilter(filters.subarray(whole * FILTER_BYTES), last);
    this.append(filters.subarray(0, whole * FILTER_BYTES + last));
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

/** The search hash of a line: of its host, or of the whole line if it reads like a name. Undefined for no name or several. */
function nameHash(chunk: Chunk, row: number): number | undefined {
  const { flags, hostStart, hostEnd, hostHash } = chunk;
  if ((flags[row]! & Flag.SeveralNames) !== 0) return undefined;
  const bytes = chunk.bytesOf(row);
  if (hostStart[row] !== hostEnd[row])
    return isUsualName(bytes, hostStart[row]!, hostEnd[row]!) ? hostHash[row]! : undefined;
  const [start, end] = [chunk.start[row]!, chunk.end[row]!];
  return isUsualName(bytes, start, end) ? hashName(bytes, start, end) : undefined;
}

function isUsualName(bytes: Uint8Array, start: number, end: number): boolean {
  for (let at = start; at < end; at++)
    if ((CLASS_OF[bytes[at]!]! & NAME_CLASSES) === 0 && bytes[at] !== UNDERSCORE) return false;
  return start < end && bytes[end - 1] !== DOT;
}
