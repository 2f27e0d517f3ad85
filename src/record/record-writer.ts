import { CLASS_OF, Class, DOT, UNDERSCORE } from "../bytes/ascii.ts";
import { ByteBuffer } from "../bytes/byte-buffer.ts";
import { hashName } from "../bytes/hash.ts";
import {
  BLOCK_ROWS,
  FILTER_BYTES,
  addName,
  blockOf,
  blocksOf,
  filterBytesFor,
  foldFilter,
} from "../kernel/name-filter.ts";
import type { RowFinder } from "../kernel/row-finder.ts";
import type { RowRecorder } from "../kernel/row-recorder.ts";
import type { Chunk } from "../rules/chunk.ts";
import { Fate, isSilent } from "../rules/fate.ts";
import { Flag, Kind } from "../rules/kind.ts";
import { appendText } from "../rules/row-text.ts";
import { maskOf } from "../syntax/classify.ts";
import { Block, LENGTH_BYTES, Part } from "./record-format.ts";

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
