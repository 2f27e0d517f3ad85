import { ByteBuffer } from "../bytes/byte-buffer.ts";
import { Flag } from "./kind.ts";
import { Fate } from "./fate.ts";

/** Rows of a chunk at the most. A row's number in the whole compile is `chunk id × 65,536 + row`: 2.1 billion rows in 31 bits. */
export const CHUNK_ROWS = 65_536;
export const CHUNK_SHIFT = 16;

export interface ChunkContents {
  comments: boolean;
  blanks: boolean;
  /** A space or a tab at either end of a line. */
  outerBlanks: boolean;
  /** A host that is not two or more plain labels. */
  oddHosts: boolean;
  regexes: boolean;
}

/**
 * A run of rows that come from one file, as columns.
 *
 *   bytes      ....||ads.example^....0.0.0.0 t.example....   the file as it was read; never written to
 *                 ^start      ^end                           text of a row
 *                   ^hostStart^hostEnd                       host name in it; equal when there is none
 *   rewritten  ....||new.example^....                        text of rows that were changed; append-only
 *
 * Offsets are 32 bits *within a chunk's own bytes*, so a compile has no 4 GiB end, only a single file has. Rows never
 * move and never vanish; a chunk is a handful of array buffers and can be handed to a worker as it is.
 */
export class Chunk {
  readonly id: number;
  /** Which file the rows were read from: an index into the compile's list of origins. */
  readonly origin: number;
  readonly bytes: Uint8Array;
  readonly rewritten: ByteBuffer = new ByteBuffer();
  readonly start: Uint32Array;
  readonly end: Uint32Array;
  readonly hostStart: Uint32Array;
  readonly hostEnd: Uint32Array;
  /** Hash of the host's bytes, taken when the row was read and used by everything that looks names up. */
  readonly hostHash: Int32Array;
  readonly line: Uint32Array;
  /** Partition of the host: names with the same last two labels, parents and children, have the same. */
  readonly hostPart: Uint8Array;
  readonly by: Int32Array;
  readonly flags: Uint16Array;
  readonly kind: Uint8Array;
  readonly fate: Uint8Array;
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
    oddHosts: false,
    regexes: false,
  };
  length = 0;

  constructor(
    id: number,
    origin: number,
    bytes: Uint8Array,
    capacity: number,
    hashComments: boolean,
  ) {
    this.id = id;
    this.origin = origin;
    this.bytes = bytes;
    this.hashComments = hashComments;
    this.start = new Uint32Array(capacity);
    this.end = new Uint32Array(capacity);
    this.hostStart = new Uint32Array(capacity);
    this.hostEnd = new Uint32Array(capacity);
    this.hostHash = new Int32Array(capacity);
    this.line = new Uint32Array(capacity);
    this.hostPart = new Uint8Array(capacity);
    this.by = new Int32Array(capacity);
    this.flags = new Uint16Array(capacity);
    this.kind = new Uint8Array(capacity);
    this.fate = new Uint8Array(capacity);
  }

  get capacity(): number {
    return this.start.length;
  }

  /** The bytes that both slices of the row point into. */
  bytesOf(row: number): Uint8Array {
    return (this.flags[row]! & Flag.Rewritten) === 0 ? this.bytes : this.rewritten.bytes;
  }

  push(start: number, end: number, line: number): number {
    const row = this.length++;
    this.start[row] = start;
    this.end[row] = end;
    this.line[row] = line;
    return row;
  }

  /** Takes the row out of the list. The first reason stands: the report says who did it. */
  drop(row: number, fate: Fate): void {
    if (this.fate[row] === Fate.Live) this.fate[row] = fate;
  }

  /** Takes the row out because of another one, given by its number in the whole compile. */
  dropFor(row: number, fate: Fate, by: number): void {
    if (this.fate[row] !== Fate.Live) return;
    this.fate[row] = fate;
    this.by[row] = by;
  }

  /** Number of the row in the whole compile. */
  idOf(row: number): number {
    return (this.id << CHUNK_SHIFT) | row;
  }
}
