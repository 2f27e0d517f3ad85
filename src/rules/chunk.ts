import { ByteBuffer } from "../bytes/byte-buffer.ts";
import { Flag } from "./kind.ts";
import { Fate } from "./fate.ts";

/** Rows of a chunk at the most. A row's number in the whole compile is `chunk id × 32,768 + row`: 2.1 billion rows in 31 bits. */
export const CHUNK_SHIFT = 15;
export const CHUNK_ROWS: number = 1 << CHUNK_SHIFT;

export interface ChunkContents {
  comments: boolean;
  blanks: boolean;
  /** A space or a tab at either end of a line. */
  outerBlanks: boolean;
  /** A host that is not two or more plain labels. */
  oddHosts: boolean;
  regexes: boolean;
  nonAscii: boolean;
}

/** Bytes of the columns that every row has. */
export const ROW_BYTES = 25;
const NO_COLUMNS = new ArrayBuffer(0);

/**
 * A run of rows that come from one block of a file, as columns.
 *
 *   bytes      ....||ads.example^....0.0.0.0 t.example....   the block as it was read; never written to
 *                 ^start      ^end                           text of a row
 *                   ^hostStart^hostEnd                       host name in it; equal when there is none
 *   rewritten  ....||new.example^....                        text of rows that were changed; append-only
 *
 * Offsets count from the start of the chunk's own bytes, so neither a file nor a compile ends at 4 GiB. Rows never move
 * and never vanish. All columns lie in one array buffer, which can be put aside, read back or handed to a worker as it is.
 */
export class Chunk {
  id = -1;
  /** Which file the rows were read from: an index into the compile's list of origins. */
  origin: number;
  bytes: Uint8Array;
  rewritten: ByteBuffer = new ByteBuffer();
  columns: ArrayBuffer = NO_COLUMNS;
  start!: Uint32Array;
  end!: Uint32Array;
  hostStart!: Uint32Array;
  hostEnd!: Uint32Array;
  /** Hash of the host's bytes, taken when the row was read and used by everything that looks names up. */
  hostHash!: Int32Array;
  flags!: Uint16Array;
  /** Partition of the host: names with the same last two labels, parents and children, have the same. */
  hostPart!: Uint8Array;
  kind!: Uint8Array;
  fate!: Uint8Array;
  /** For rows that another row made redundant, which one. Made when the first such row is met. */
  by: Int32Array | undefined;
  /** Line of the first row; the others follow one by one unless `lines` says otherwise. */
  firstLine = 0;
  lines: Uint32Array | undefined;
  /** Rows for further names of the last hosts line that stand in the chunks after this one. */
  spareBeyond = 0;
  /** A `#` at the start of a line begins a comment, with or without a blank after it (hosts and domain files). */
  hashComments: boolean;
  /**
   * What may be among the rows; false is certain. Most chunks of most lists are names only, and a pass that looks for
   * something else can leave them alone.
   */
  readonly has: ChunkContents = {
    comments: false,
    blanks: false,
    outerBlanks: false,
    oddHosts: false,
    regexes: false,
    nonAscii: false,
  };
  length = 0;
  capacity = 0;
  /** A column other than `fate` and `by` was written to since the chunk was last put aside. */
  isChanged = true;

  constructor(origin: number, bytes: Uint8Array, capacity: number, hashComments = false) {
    this.origin = origin;
    this.bytes = bytes;
    this.hashComments = hashComments;
    this.attach(new ArrayBuffer(capacity * ROW_BYTES));
  }

  /** Makes the columns views of this buffer; of an empty one when the chunk is put aside. */
  attach(columns: ArrayBuffer): void {
    const rows = columns.byteLength / ROW_BYTES;
    this.capacity = rows;
    this.columns = columns;
    this.start = new Uint32Array(columns, 0, rows);
    this.end = new Uint32Array(columns, rows * 4, rows);
    this.hostStart = new Uint32Array(columns, rows * 8, rows);
    this.hostEnd = new Uint32Array(columns, rows * 12, rows);
    this.hostHash = new Int32Array(columns, rows * 16, rows);
    this.flags = new Uint16Array(columns, rows * 20, rows);
    this.hostPart = new Uint8Array(columns, rows * 22, rows);
    this.kind = new Uint8Array(columns, rows * 23, rows);
    this.fate = new Uint8Array(columns, rows * 24, rows);
  }

  /** A copy with no room to spare, and this one empty again for the next rows. */
  takeRows(): Chunk {
    const rows = this.length;
    // One of several chunks of a block keeps its own part of it.
    const base = this.start[0]! > 0 ? leastOf(this.start, rows) : 0;
    const bytes = this.bytes.subarray(base, greatestOf(this.end, rows));
    const chunk = new Chunk(this.origin, bytes, rows, this.hashComments);
    chunk.start.set(this.start.subarray(0, rows));
    chunk.end.set(this.end.subarray(0, rows));
    chunk.hostStart.set(this.hostStart.subarray(0, rows));
    chunk.hostEnd.set(this.hostEnd.subarray(0, rows));
    if (base > 0) {
      for (const column of [chunk.start, chunk.end, chunk.hostStart, chunk.hostEnd])
        for (let row = 0; row < rows; row++) column[row]! -= base;
    }
    chunk.hostHash.set(this.hostHash.subarray(0, rows));
    chunk.flags.set(this.flags.subarray(0, rows));
    chunk.hostPart.set(this.hostPart.subarray(0, rows));
    chunk.kind.set(this.kind.subarray(0, rows));
    chunk.fate.set(this.fate.subarray(0, rows));
    chunk.firstLine = this.firstLine;
    chunk.lines = this.lines?.slice(0, rows);
    Object.assign(chunk.has, this.has);
    chunk.length = rows;
    this.reset();
    return chunk;
  }

  private reset(): void {
    new Uint8Array(this.columns).fill(0);
    this.length = 0;
    this.lines = undefined;
    for (const key of Object.keys(this.has) as (keyof ChunkContents)[]) this.has[key] = false;
  }

  /** The bytes that both slices of the row point into. */
  bytesOf(row: number): Uint8Array {
    return (this.flags[row]! & Flag.Rewritten) === 0 ? this.bytes : this.rewritten.bytes;
  }

  push(start: number, end: number, line: number): number {
    const row = this.length;
    this.beginLines(line);
    if (this.lines !== undefined) this.lines[row] = line;
    this.start[row] = start;
    this.end[row] = end;
    this.length++;
    return row;
  }

  /** The next rows begin with this line. Where lines repeat or leave some out, every row gets its own number. */
  beginLines(line: number): void {
    if (this.length === 0) this.firstLine = line;
    if (this.lines !== undefined || line === this.firstLine + this.length) return;
    this.lines = new Uint32Array(this.capacity);
    for (let row = 0; row < this.length; row++) this.lines[row] = this.firstLine + row;
  }

  lineOf(row: number): number {
    return this.lines === undefined ? this.firstLine + row : this.lines[row]!;
  }

  /** Takes the row out of the list. The first reason stands: the report says who did it. */
  drop(row: number, fate: Fate): void {
    if (this.fate[row] === Fate.Live) this.fate[row] = fate;
  }

  /** Takes the row out because of another one, given by its number in the whole compile. */
  dropFor(row: number, fate: Fate, by: number): void {
    if (this.fate[row] !== Fate.Live) return;
    this.fate[row] = fate;
    this.by ??= new Int32Array(this.length);
    this.by[row] = by;
  }

  /** Number of the row in the whole compile. */
  idOf(row: number): number {
    return (this.id << CHUNK_SHIFT) | row;
  }
}

function leastOf(column: Uint32Array, rows: number): number {
  let least = column[0]!;
  for (let row = 1; row < rows; row++) if (column[row]! < least) least = column[row]!;
  return least;
}

function greatestOf(column: Uint32Array, rows: number): number {
  let greatest = 0;
  for (let row = 0; row < rows; row++) if (column[row]! > greatest) greatest = column[row]!;
  return greatest;
}
