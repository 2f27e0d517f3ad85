import { ByteBuffer } from "../bytes/byte-buffer.ts";
import type { Arena } from "./arena.ts";
import { Fate } from "./fate.ts";
import { Flag } from "./kind.ts";

/** Rows of a chunk at the most. A row's number in the whole compile is `chunk id × 65,536 + row`: 2.1 billion rows in 31 bits. */
export const CHUNK_SHIFT = 16;
export const CHUNK_ROWS: number = 1 << CHUNK_SHIFT;

export interface ChunkContents {
  comments: boolean;
  blanks: boolean;
  /** A space or a tab at either end of a line. */
  outerBlanks: boolean;
  /** A host that is not two or more plain labels. */
  specialHosts: boolean;
  regexes: boolean;
  nonAscii: boolean;
  longLines: boolean;
  /** A row that is not a line of the input by itself: generated, or one more name of a hosts line. */
  otherRows: boolean;
}

/** Where each column begins, in bytes a row of the chunk's capacity: the one layout that the kernel knows too. */
export const COLUMN = {
  start: 0,
  end: 4,
  hostStart: 8,
  hostEnd: 12,
  hostHash: 16,
  flags: 20,
  hostPart: 22,
  kind: 23,
  fate: 24,
} as const;
/** Bytes of the columns that every row has. */
const ROW_BYTES = 25;
/** The kernel reads sixteen bytes at a time, up to fifteen beyond the end. */
const SLACK = 16;
const AWAY = -1;
const NO_BYTES = new Uint8Array(0);
const NO_WORDS = new Uint32Array(0);
const NO_HASHES = new Int32Array(0);
const NO_FLAGS = new Uint16Array(0);

export interface ChunkShape {
  /** A number of rows, or a function that counts them once the text is in the arena. */
  readonly capacity: number | ((bytesAt: number) => number);
  /** Whether every line that begins with `#` is a comment. */
  readonly hashComments?: boolean;
}

/**
 * A run of rows that come from one block of a file, as columns.
 *
 *   bytes      ....||ads.example^....0.0.0.0 t.example....   the block as it was read; never written to
 *                 ^start      ^end                           text of a row
 *                   ^hostStart^hostEnd                       host name in it; equal when there is none
 *   rewritten  ....||new.example^....                        text of rows that were changed; append-only
 *
 * Offsets count from the start of the chunk's own bytes, so neither a file nor a compile ends at 4 GiB. Rows never move
 * and never vanish. Bytes and columns are two areas of the arena; they can be put aside and read back at another address.
 */
export class Chunk {
  id = -1;
  /** Which file the rows were read from: an index into the compile's list of origins. */
  readonly origin: number;
  readonly arena: Arena;
  byteCount: number;
  capacity: number;
  /** Addresses of the two areas, and of the column of causes once there is one. */
  bytesAt: number;
  columnsAt: number;
  byAt: number = AWAY;
  bytes!: Uint8Array;
  rewritten: ByteBuffer = new ByteBuffer();
  start!: Uint32Array;
  end!: Uint32Array;
  hostStart!: Uint32Array;
  hostEnd!: Uint32Array;
  /** Hash of the host's bytes, taken when the row was read and used by everything that looks names up. */
  hostHash!: Int32Array;
  flags!: Uint16Array;
  /** Partition of the host: names of one registrable domain, parents and children, have the same. */
  hostPart!: Uint8Array;
  kind!: Uint8Array;
  fate!: Uint8Array;
  /** For rows that another row made redundant, which one. Made when the first such row is met. */
  by: Uint32Array | undefined;
  /** Where its bytes begin in their file. */
  position = 0;
  /** Line of the first row; the others follow one by one unless `lines` says otherwise. */
  firstLine = 0;
  lines: Uint32Array | undefined;
  /** Rows for further names of the last hosts line that stand in the chunks after this one. */
  spareBeyond = 0;
  /** A `#` at the start of a line begins a comment, with or without a blank after it (hosts and domain files). */
  readonly hashComments: boolean;
  /**
   * What may be among the rows; false is certain. Most chunks of most lists are names only, and a pass that looks for
   * something else can leave them alone.
   */
  readonly has: ChunkContents = {
    comments: false,
    blanks: false,
    outerBlanks: false,
    specialHosts: false,
    regexes: false,
    nonAscii: false,
    longLines: false,
    otherRows: false,
  };
  length = 0;
  /** A column other than `fate` and `by` was written to since the chunk was last put aside. */
  isChanged = true;

  constructor(
    arena: Arena,
    origin: number,
    text: Uint8Array,
    { capacity, hashComments = false }: ChunkShape,
  ) {
    this.arena = arena;
    this.origin = origin;
    this.byteCount = text.length;
    this.hashComments = hashComments;
    this.bytesAt = arena.allocate(text.length + SLACK);
    new Uint8Array(arena.buffer, this.bytesAt, text.length).set(text);
    this.capacity = typeof capacity === "number" ? capacity : capacity(this.bytesAt);
    this.columnsAt = arena.allocate(this.capacity * ROW_BYTES);
    this.attach();
  }

  /** Gives back what it has no rows for: all columns and bytes behind the last one. */
  shrink(): void {
    const rows = this.length;
    const kept = this.allColumns().map((column) => column.slice(0, rows));
    const text = this.bytes.slice(0, greatestOf(this.end, rows));
    this.leave();
    this.byteCount = text.length;
    this.capacity = rows;
    this.comeBack(false);
    this.lines = this.lines?.slice(0, rows);
    this.bytes.set(text);
    for (const [index, column] of this.allColumns().entries()) column.set(kept[index]!);
  }

  /** In the order of their addresses. */
  allColumns(): (Uint32Array | Int32Array | Uint16Array | Uint8Array)[] {
    const { start, end, hostStart, hostEnd, hostHash, flags, hostPart, kind, fate } = this;
    return [start, end, hostStart, hostEnd, hostHash, flags, hostPart, kind, fate];
  }

  get isAway(): boolean {
    return this.columnsAt === AWAY;
  }

  /** Makes the views anew: after the arena grew, or the areas changed. */
  attach(): void {
    if (this.isAway) {
      this.detach();
      return;
    }
    const { buffer } = this.arena;
    const rows = this.capacity;
    this.bytes = new Uint8Array(buffer, this.bytesAt, this.byteCount);
    this.start = new Uint32Array(buffer, this.columnAt(COLUMN.start), rows);
    this.end = new Uint32Array(buffer, this.columnAt(COLUMN.end), rows);
    this.hostStart = new Uint32Array(buffer, this.columnAt(COLUMN.hostStart), rows);
    this.hostEnd = new Uint32Array(buffer, this.columnAt(COLUMN.hostEnd), rows);
    this.hostHash = new Int32Array(buffer, this.columnAt(COLUMN.hostHash), rows);
    this.flags = new Uint16Array(buffer, this.columnAt(COLUMN.flags), rows);
    this.hostPart = new Uint8Array(buffer, this.columnAt(COLUMN.hostPart), rows);
    this.kind = new Uint8Array(buffer, this.columnAt(COLUMN.kind), rows);
    this.fate = new Uint8Array(buffer, this.columnAt(COLUMN.fate), rows);
    this.by = this.byAt === AWAY ? undefined : new Uint32Array(buffer, this.byAt, rows);
  }

  private detach(): void {
    this.bytes = this.hostPart = this.kind = this.fate = NO_BYTES;
    this.start = this.end = this.hostStart = this.hostEnd = NO_WORDS;
    this.hostHash = NO_HASHES;
    this.flags = NO_FLAGS;
    this.by = undefined;
  }

  /** Address of a column. */
  columnAt(column: number): number {
    return this.columnsAt + this.capacity * column;
  }

  /** All columns but `by` and `lines`, as bytes. */
  columns(): Uint8Array {
    return new Uint8Array(this.arena.buffer, this.columnsAt, this.capacity * ROW_BYTES);
  }

  /** Gives its areas back. */
  leave(): void {
    this.arena.free(this.bytesAt, this.byteCount + SLACK);
    this.arena.free(this.columnsAt, this.capacity * ROW_BYTES);
    if (this.byAt !== AWAY) this.arena.free(this.byAt, this.capacity * 4);
    this.bytesAt = this.columnsAt = this.byAt = AWAY;
    this.attach();
  }

  /** Takes areas again; what is in them is up to the caller. */
  comeBack(hasCauses: boolean): void {
    this.bytesAt = this.arena.allocate(this.byteCount + SLACK);
    this.columnsAt = this.arena.allocate(this.capacity * ROW_BYTES);
    if (hasCauses) this.byAt = this.arena.allocate(this.capacity * 4);
    this.attach();
  }

  /** Bytes of memory that it takes. */
  get size(): number {
    if (this.isAway) return 0;
    const perRow = ROW_BYTES + (this.byAt === AWAY ? 0 : 4);
    return (
      this.byteCount +
      this.capacity * perRow +
      this.rewritten.bytes.length +
      (this.lines?.byteLength ?? 0)
    );
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
    this.hostStart[row] = this.hostEnd[row] = start;
    this.hostHash[row] = 0;
    this.flags[row] = 0;
    this.hostPart[row] = this.kind[row] = this.fate[row] = 0;
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
    this.causes()[row] = by;
  }

  /** The column of causes, made now if there was none. */
  causes(): Uint32Array {
    if (this.by === undefined) {
      this.byAt = this.arena.allocate(this.capacity * 4);
      this.by = new Uint32Array(this.arena.buffer, this.byAt, this.capacity);
    }
    return this.by;
  }

  /** Number of the row in the whole compile. */
  idOf(row: number): number {
    return (this.id << CHUNK_SHIFT) | row;
  }
}

function greatestOf(column: Uint32Array, rows: number): number {
  let greatest = 0;
  for (let row = 0; row < rows; row++) if (column[row]! > greatest) greatest = column[row]!;
  return greatest;
}
