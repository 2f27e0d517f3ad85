import { ByteBuffer } from "../bytes/byte-buffer.ts";
import type { Scratch } from "../host/host.ts";
import type { Chunk } from "./chunk.ts";

/** Positions of the parts of a chunk in the scratch file. */
interface Place {
  columns: number;
  readonly bytes: number;
  rewritten: number;
  rewrittenCount: number;
  by: number;
  readonly lines: number;
}

const NOWHERE = -1;

/**
 * Keeps chunks in memory up to a limit, and the others in a scratch file. Callers call `use` before they work on a chunk
 * and `done` after. Passes walk a list from the first chunk to the last, then start again. So the cache evicts the chunk
 * that was just done: the first chunks stay in memory for the next pass.
 */
export class ChunkCache {
  private readonly limit: number;
  private readonly openScratch: () => Scratch;
  private scratch: Scratch | undefined;
  private readonly places = new Map<Chunk, Place>();
  private readonly users = new Map<Chunk, number>();
  private readonly sizes = new Map<Chunk, number>();
  private size = 0;

  constructor(limit: number, openScratch: () => Scratch) {
    this.limit = limit;
    this.openScratch = openScratch;
  }

  use(chunk: Chunk): void {
    const users = this.users.get(chunk) ?? 0;
    this.users.set(chunk, users + 1);
    if (chunk.isAway) this.readBack(chunk);
  }

  done(chunk: Chunk): void {
    const users = this.users.get(chunk)! - 1;
    if (users > 0) {
      this.users.set(chunk, users);
      return;
    }
    this.users.delete(chunk);
    this.account(chunk);
    if (this.size > this.limit) this.putAside(chunk);
  }

  /** Must be called after the arena grew. */
  attachAll(): void {
    for (const chunk of this.sizes.keys()) chunk.attach();
    for (const chunk of this.users.keys()) chunk.attach();
  }

  private account(chunk: Chunk): void {
    const { size } = chunk;
    this.size += size - (this.sizes.get(chunk) ?? 0);
    if (size === 0) this.sizes.delete(chunk);
    else this.sizes.set(chunk, size);
  }

  /** Uses chunks one after the other. */
  each(chunks: Iterable<Chunk>, work: (chunk: Chunk) => void): void {
    for (const chunk of chunks) {
      this.use(chunk);
      work(chunk);
      this.done(chunk);
    }
  }

  private putAside(chunk: Chunk): void {
    this.scratch ??= this.openScratch();
    const { scratch } = this;
    const { bytes, rewritten } = chunk;
    let place = this.places.get(chunk);
    if (place === undefined) {
      place = {
        columns: NOWHERE,
        bytes: append(scratch, bytes),
        rewritten: NOWHERE,
        rewrittenCount: 0,
        by: NOWHERE,
        lines: chunk.lines === undefined ? NOWHERE : append(scratch, bytesOf(chunk.lines)),
      };
      this.places.set(chunk, place);
    }
    const columns = chunk.columns();
    if (place.columns === NOWHERE) place.columns = append(scratch, columns);
    else if (chunk.isChanged) scratch.rewrite(place.columns, columns);
    // The column of fates is the last.
    else scratch.rewrite(place.columns + columns.length - chunk.fate.length, chunk.fate);
    if (rewritten.length > place.rewrittenCount) {
      place.rewritten = append(scratch, rewritten.view());
      place.rewrittenCount = rewritten.length;
    }
    if (chunk.by !== undefined) {
      if (place.by === NOWHERE) place.by = append(scratch, bytesOf(chunk.by));
      else scratch.rewrite(place.by, bytesOf(chunk.by));
    }
    chunk.leave();
    chunk.rewritten = new ByteBuffer();
    chunk.lines = undefined;
    chunk.isChanged = false;
    this.account(chunk);
  }

  private readBack(chunk: Chunk): void {
    const place = this.places.get(chunk)!;
    const scratch = this.scratch!;
    chunk.comeBack(place.by !== NOWHERE);
    read(scratch, place.columns, chunk.columns());
    read(scratch, place.bytes, chunk.bytes);
    if (chunk.by !== undefined) read(scratch, place.by, bytesOf(chunk.by));
    if (place.rewritten !== NOWHERE) {
      chunk.rewritten = new ByteBuffer(place.rewrittenCount);
      chunk.rewritten.length = place.rewrittenCount;
      read(scratch, place.rewritten, chunk.rewritten.bytes);
    }
    if (place.lines !== NOWHERE) {
      chunk.lines = new Uint32Array(chunk.capacity);
      read(scratch, place.lines, bytesOf(chunk.lines));
    }
  }
}

function bytesOf({ buffer, byteOffset, byteLength }: Uint32Array): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength);
}

function append(scratch: Scratch, bytes: Uint8Array): number {
  return bytes.length === 0 ? NOWHERE : scratch.append(bytes);
}

function read(scratch: Scratch, position: number, into: Uint8Array): void {
  if (into.length > 0) scratch.read(position, into);
}
