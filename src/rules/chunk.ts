import { ByteBuffer, CARET, PIPE, decodeUtf8, encodeUtf8 } from "../bytes/text.ts";
import { Fate } from "./fate.ts";
import type { KeptChunk } from "./rule-table.ts";

/** At most 65,536 rows per chunk. A row id is `chunk id × 65,536 + row`: 2.1 billion rows in 31 bits. */
export const CHUNK_SHIFT = 16;
export const CHUNK_ROWS: number = 1 << CHUNK_SHIFT;

export interface ChunkContents {
  comments: boolean;
  blanks: boolean;
  /** A line starts or ends with a space or a tab. */
  outerBlanks: boolean;
  /** A host is not made of two or more plain labels. */
  specialHosts: boolean;
  regexes: boolean;
  nonAscii: boolean;
  longLines: boolean;
  /** A row is not an input line of its own: it is generated, or holds another name of a hosts line. */
  otherRows: boolean;
}

/** Offset of each column, in bytes per row of the chunk's capacity. The kernel uses the same layout. */
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
/** Bytes per row of the columns that every chunk has. */
const ROW_BYTES = 25;
/** The kernel reads sixteen bytes at a time, up to fifteen beyond the end. */
const SLACK = 16;
const AWAY = -1;
const NO_BYTES = new Uint8Array(0);
const NO_WORDS = new Uint32Array(0);
const NO_HASHES = new Int32Array(0);
const NO_FLAGS = new Uint16Array(0);

interface ChunkShape {
  /** A number of rows, or a function that counts them once the text is in the arena. */
  readonly capacity: number | ((bytesAt: number) => number);
  /** Whether every line that begins with `#` is a comment. */
  readonly hashComments?: boolean;
}

/**
 * A run of rows from one block of a file, stored as columns.
 *
 *   bytes      ....||ads.example^....0.0.0.0 t.example....   the block as it was read; read-only
 *                 ^start      ^end                           text of a row
 *                   ^hostStart^hostEnd                       its host name; equal if it has none
 *   rewritten  ....||new.example^....                        text of changed rows; append-only
 *
 * Offsets count from the start of the chunk's own bytes, so files and compiles may exceed 4 GiB. Rows never move and
 * never vanish. Bytes and columns are two areas of the arena. The cache can evict them and read them back elsewhere.
 */
export class Chunk {
  id = -1;
  /** The file that the rows come from: an index into the compile's list of origins. */
  readonly origin: number;
  readonly arena: Arena;
  byteCount: number;
  capacity: number;
  /** Addresses of the two areas, and of the column of causes if it exists. */
  bytesAt: number;
  columnsAt: number;
  byAt: number = AWAY;
  bytes!: Uint8Array;
  rewritten: ByteBuffer = new ByteBuffer();
  start!: Uint32Array;
  end!: Uint32Array;
  hostStart!: Uint32Array;
  hostEnd!: Uint32Array;
  /** Hash of the host's bytes, computed once and used by every lookup of a name. */
  hostHash!: Int32Array;
  flags!: Uint16Array;
  /** Partition of the host. All names of one registrable domain, parents and children, share a partition. */
  hostPart!: Uint8Array;
  kind!: Uint8Array;
  fate!: Uint8Array;
  /** For each redundant row, the row that made it redundant. Created for the first such row. */
  by: Uint32Array | undefined;
  /** Position of its bytes in the file. */
  position = 0;
  /** Line of the first row. The other lines are consecutive unless `lines` is set. */
  firstLine = 0;
  lines: Uint32Array | undefined;
  /** Rows in later chunks for further names of the last hosts line. */
  spareBeyond = 0;
  /** A `#` at the start of a line begins a comment, with or without a blank after it (hosts and domain files). */
  readonly hashComments: boolean;
  /**
   * What the rows may contain; false is certain. Most chunks contain only names, so passes that look for something else
   * can skip them.
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
  /** Its rows as they were read, if they are kept. */
  kept: KeptChunk | undefined;
  /** A column other than `fate` and `by` changed since the chunk was last evicted. */
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

  /** Frees the unused columns and bytes after the last row. */
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

  /** All columns, sorted by address. */
  allColumns(): (Uint32Array | Int32Array | Uint16Array | Uint8Array)[] {
    const { start, end, hostStart, hostEnd, hostHash, flags, hostPart, kind, fate } = this;
    return [start, end, hostStart, hostEnd, hostHash, flags, hostPart, kind, fate];
  }

  get isAway(): boolean {
    return this.columnsAt === AWAY;
  }

  /** Recreates the views, after the arena grew or the areas moved. */
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

  columnAt(column: number): number {
    return this.columnsAt + this.capacity * column;
  }

  /** All columns except `by` and `lines`, as bytes. */
  columns(): Uint8Array {
    return new Uint8Array(this.arena.buffer, this.columnsAt, this.capacity * ROW_BYTES);
  }

  /** Frees its areas. */
  leave(): void {
    this.arena.free(this.bytesAt, this.byteCount + SLACK);
    this.arena.free(this.columnsAt, this.capacity * ROW_BYTES);
    if (this.byAt !== AWAY) this.arena.free(this.byAt, this.capacity * 4);
    this.bytesAt = this.columnsAt = this.byAt = AWAY;
    this.attach();
  }

  /** Allocates its areas again. The caller fills them. */
  comeBack(hasCauses: boolean): void {
    this.bytesAt = this.arena.allocate(this.byteCount + SLACK);
    this.columnsAt = this.arena.allocate(this.capacity * ROW_BYTES);
    if (hasCauses) this.byAt = this.arena.allocate(this.capacity * 4);
    this.attach();
  }

  /** Bytes of memory that it uses. */
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

  /** Sets the line of the next row. If lines repeat or are skipped, every row gets its own number. */
  beginLines(line: number): void {
    if (this.length === 0) this.firstLine = line;
    if (this.lines !== undefined || line === this.firstLine + this.length) return;
    this.lines = new Uint32Array(this.capacity);
    for (let row = 0; row < this.length; row++) this.lines[row] = this.firstLine + row;
  }

  lineOf(row: number): number {
    return this.lines === undefined ? this.firstLine + row : this.lines[row]!;
  }

  /** Removes the row from the list. The first reason wins, so that the report names what removed it. */
  drop(row: number, fate: Fate): void {
    if (this.fate[row] === Fate.Kept) this.fate[row] = fate;
  }

  /** Removes the row because of another row, given by its id. */
  dropFor(row: number, fate: Fate, by: number): void {
    if (this.fate[row] !== Fate.Kept) return;
    this.fate[row] = fate;
    this.causes()[row] = by;
  }

  /** The column of causes, created on first use. */
  causes(): Uint32Array {
    if (this.by === undefined) {
      this.byAt = this.arena.allocate(this.capacity * 4);
      this.by = new Uint32Array(this.arena.buffer, this.byAt, this.capacity);
    }
    return this.by;
  }

  /** The row's id, unique in the whole compile. */
  idOf(row: number): number {
    return (this.id << CHUNK_SHIFT) | row;
  }
}

function greatestOf(column: Uint32Array, rows: number): number {
  let greatest = 0;
  for (let row = 0; row < rows; row++) if (column[row]! > greatest) greatest = column[row]!;
  return greatest;
}

/**
 * The memory of all rows and columns, by address. Each compile has one arena. Growth invalidates all views of `buffer`;
 * code that keeps views must listen for it.
 */
export interface Arena {
  readonly buffer: ArrayBuffer;
  /** An area of this size on an 8-byte boundary. It is not zeroed. */
  allocate(bytes: number): number;
  free(at: number, bytes: number): void;
  onGrow(listener: () => void): void;
}

/** Freed areas, sorted by address. Adjacent areas are merged, so that any size can reuse them. */
export class FreeAreas {
  private readonly areas: { at: number; size: number }[] = [];

  clear(): void {
    this.areas.length = 0;
  }

  /** Takes the smallest area that is large enough; the rest of it stays free. */
  take(size: number): number | undefined {
    let best = -1;
    for (const [index, area] of this.areas.entries())
      if (area.size >= size && (best === -1 || area.size < this.areas[best]!.size)) best = index;
    const area = this.areas[best];
    if (area === undefined) return undefined;
    const { at } = area;
    if (area.size === size) this.areas.splice(best, 1);
    else {
      area.at += size;
      area.size -= size;
    }
    return at;
  }

  give(at: number, size: number): void {
    let index = this.areas.findIndex((area) => area.at > at);
    if (index === -1) index = this.areas.length;
    const before = this.areas[index - 1];
    const after = this.areas[index];
    const joinsBefore = before !== undefined && before.at + before.size === at;
    const joinsAfter = after !== undefined && at + size === after.at;
    if (joinsBefore && joinsAfter) {
      before.size += size + after.size;
      this.areas.splice(index, 1);
    } else if (joinsBefore) before.size += size;
    else if (joinsAfter) {
      after.at = at;
      after.size += size;
    } else this.areas.splice(index, 0, { at, size });
  }
}

export function roundSize(bytes: number): number {
  return Math.max(64, Math.ceil(bytes / 64) * 64);
}

/** What a line is. One byte per row. Only `syntax/` sets it. */
export const Kind = {
  /** Empty, or only blanks */
  Blank: 0,
  Comment: 1,
  /** `0.0.0.0 name…`: a valid IP address, then names; the host slice is the first name */
  Hosts: 2,
  /** `ads.example.org` and nothing else */
  Domain: 3,
  /** `||ads.example.org^` without modifiers */
  Block: 4,
  /** Any other text; for `||host^…` and `@@||host^…` the host slice is set */
  Rule: 5,
} as const;
export type Kind = (typeof Kind)[keyof typeof Kind];

/** More facts about a row. Two bytes per row. */
export const Flag = {
  /** Both slices point into `chunk.rewritten`, not `chunk.bytes` */
  Rewritten: 1,
  /** The row means `||host^`, whatever its text slice is: Compress converts hosts lines without copying */
  AsBlock: 2,
  NonAscii: 4,
  /** The host has an upper-case letter */
  UpperHost: 8,
  /** A hosts line with more than one name */
  SeveralNames: 16,
  /** The host is made of 1–63 character labels of letters, digits and inner hyphens, and has a dot */
  PlainHost: 32,
  /** Begins with `@@` */
  Allow: 64,
  /** A generated line above a source's lines: `! Source: …` */
  Banner: 128,
  /** Not an input line (banners, the final empty line): not counted */
  Generated: 256,
  /** Another name of the hosts line above: the same input line */
  Continued: 512,
  /** The address of the hosts line is not a usual sinkhole */
  RealAddress: 1024,
  /** A plain host of three labels or more: a rule may block one of its parent domains */
  DeepHost: 4096,
  /**
   * The line consists of one common name: plain, lower case, not an address, not a local name and certainly not a public
   * suffix. Code that judges rules can skip it.
   */
  Ordinary: 8192,
  /** Lost a modifier, so it now blocks more than its author wrote */
  Widened: 2048,
  /** The source is allowed to contain this text; a new text must be judged again */
  Judged: 16_384,
  /** A rule in adblock syntax inside a file of another format; set until the nesting of the others is known */
  OwnWord: 32_768,
} as const;
export type Flag = (typeof Flag)[keyof typeof Flag];

/** Reads and writes the text of a row, however it is stored. */

export function textOf(chunk: Chunk, row: number): string {
  if ((chunk.flags[row]! & Flag.AsBlock) !== 0) return `||${hostOf(chunk, row)}^`;
  return decodeUtf8(chunk.bytesOf(row), chunk.start[row], chunk.end[row]);
}

/** The host name of the row, or "". */
export function hostOf(chunk: Chunk, row: number): string {
  return decodeUtf8(chunk.bytesOf(row), chunk.hostStart[row], chunk.hostEnd[row]);
}

export function appendText(chunk: Chunk, row: number, out: ByteBuffer): void {
  const bytes = chunk.bytesOf(row);
  if ((chunk.flags[row]! & Flag.AsBlock) === 0) {
    out.append(bytes, chunk.start[row]!, chunk.end[row]!);
    return;
  }
  out.push(PIPE);
  out.push(PIPE);
  out.append(bytes, chunk.hostStart[row]!, chunk.hostEnd[row]!);
  out.push(CARET);
}

/** Replaces the text of the row. The caller must classify it again: kind, flags and host still describe the old text. */
export function rewriteText(chunk: Chunk, row: number, text: string): void {
  const bytes = encodeUtf8(text);
  const at = chunk.rewritten.append(bytes, 0, bytes.length);
  chunk.start[row] = at;
  chunk.end[row] = at + bytes.length;
  chunk.flags[row] = (chunk.flags[row]! | Flag.Rewritten) & ~Flag.AsBlock;
  chunk.isChanged = true;
}

/** Turns the row into `||host^`. This only sets a flag and copies nothing. */
export function toBlockRule(chunk: Chunk, row: number): void {
  chunk.kind[row] = Kind.Block;
  chunk.flags[row]! |= Flag.AsBlock;
}
