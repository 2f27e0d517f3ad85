import { ByteBuffer } from "../bytes/byte-buffer.ts";
import type { Scratch } from "../host/host.ts";
import { type Chunk, ROW_BYTES } from "./chunk.ts";

/** Where the parts of a chunk lie in the scratch file. */
interface Place {
  columns: number;
  readonly bytes: number;
  readonly byteCount: number;
  rewritten: number;
  rewrittenCount: number;
  by: number;
  lines: number;
}

const NOWHERE = -1;
const NO_BYTES = new Uint8Array(0);

/**
 * Keeps chunks in memory up to a limit, and the others in a scratch file. Whoever works on a chunk says `use` before and
 * `done` after. Lists are walked from the first chunk to the last and then again, so the chunk to put aside is the one
 * that was just done: those that came first stay, and are here when the next walk begins.
 */
export class ChunkShelf {
  private readonly limit: number;
  private readonly openScratch: () => Scratch;
  private scratch: Scratch | undefined;
  private readonly places = new Map<Chunk, Place>();
  private readonly users = new Map<Chunk, number>();
  private readonly sizes = new Map<Chunk, number>();
  private size = 0;
  /** Buffers of chunks that were put aside, for those that are read back: collecting them would lag behind. */
  private readonly spare: ArrayBuffer[] = [];

  constructor(limit: number, openScratch: () => Scratch) {
    this.limit = limit;
    this.openScratch = openScratch;
  }

  /** Whether anything is outside memory. */
  get isSpilling(): boolean {
    return this.scratch !== undefined;
  }

  use(chunk: Chunk): void {
    const users = this.users.get(chunk) ?? 0;
    this.users.set(chunk, users + 1);
    if (users === 0 && chunk.length > 0 && chunk.capacity === 0) this.readBack(chunk);
  }

  done(chunk: Chunk): void {
    const users = this.users.get(chunk)! - 1;
    if (users > 0) {
      this.users.set(chunk, users);
      return;
    }
    this.users.delete(chunk);
    this.account(chunk, sizeOf(chunk));
    if (this.size > this.limit) this.putAside(chunk);
  }

  close(): void {
    this.scratch?.close();
    this.scratch = undefined;
  }

  private account(chunk: Chunk, size: number): void {
    this.size += size - (this.sizes.get(chunk) ?? 0);
    this.sizes.set(chunk, size);
  }

  private putAside(chunk: Chunk): void {
    this.scratch ??= this.openScratch();
    const { scratch } = this;
    const { bytes, rewritten, length } = chunk;
    let place = this.places.get(chunk);
    if (place === undefined) {
      place = {
        columns: NOWHERE,
        bytes: append(scratch, bytes),
        byteCount: bytes.length,
        rewritten: NOWHERE,
        rewrittenCount: 0,
        by: NOWHERE,
        lines: chunk.lines === undefined ? NOWHERE : append(scratch, bytesOf(chunk.lines)),
      };
      this.places.set(chunk, place);
    }
    if (place.columns === NOWHERE) place.columns = append(scratch, new Uint8Array(chunk.columns));
    else if (chunk.isChanged) scratch.rewrite(place.columns, new Uint8Array(chunk.columns));
    else scratch.rewrite(place.columns + length * (ROW_BYTES - 1), chunk.fate);
    if (rewritten.length > place.rewrittenCount) {
      place.rewritten = append(scratch, rewritten.view());
      place.rewrittenCount = rewritten.length;
    }
    if (chunk.by !== undefined) {
      if (place.by === NOWHERE) place.by = append(scratch, bytesOf(chunk.by));
      else scratch.rewrite(place.by, bytesOf(chunk.by));
    }
    if (this.spare.length < 4) this.spare.push(chunk.columns);
    chunk.attach(new ArrayBuffer(0));
    chunk.bytes = NO_BYTES;
    chunk.rewritten = new ByteBuffer();
    chunk.by = undefined;
    chunk.lines = undefined;
    chunk.isChanged = false;
    this.account(chunk, 0);
  }

  private readBack(chunk: Chunk): void {
    const place = this.places.get(chunk);
    const { scratch } = this;
    if (place === undefined || scratch === undefined) return;
    const { length } = chunk;
    chunk.attach(this.bufferOf(length * ROW_BYTES));
    scratch.read(place.columns, new Uint8Array(chunk.columns));
    chunk.bytes = new Uint8Array(place.byteCount);
    read(scratch, place.bytes, chunk.bytes);
    if (place.rewritten !== NOWHERE) {
      chunk.rewritten = new ByteBuffer(place.rewrittenCount);
      chunk.rewritten.length = place.rewrittenCount;
      read(scratch, place.rewritten, chunk.rewritten.bytes);
    }
    if (place.by !== NOWHERE) {
      chunk.by = new Int32Array(length);
      read(scratch, place.by, bytesOf(chunk.by));
    }
    if (place.lines !== NOWHERE) {
      chunk.lines = new Uint32Array(length);
      read(scratch, place.lines, bytesOf(chunk.lines));
    }
  }

  private bufferOf(size: number): ArrayBuffer {
    const at = this.spare.findIndex(({ byteLength }) => byteLength === size);
    return at === -1 ? new ArrayBuffer(size) : this.spare.splice(at, 1)[0]!;
  }
}

function sizeOf({ columns, bytes, rewritten, by, lines }: Chunk): number {
  return (
    columns.byteLength +
    bytes.length +
    rewritten.bytes.length +
    (by?.byteLength ?? 0) +
    (lines?.byteLength ?? 0)
  );
}

function bytesOf({ buffer, byteOffset, byteLength }: Uint32Array | Int32Array): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength);
}

function append(scratch: Scratch, bytes: Uint8Array): number {
  return bytes.length === 0 ? NOWHERE : scratch.append(bytes);
}

function read(scratch: Scratch, position: number, into: Uint8Array): void {
  if (into.length > 0) scratch.read(position, into);
}
