import { ByteBuffer } from "../bytes/text.ts";
import { CompilerError, errorOf } from "../diagnostics/render.ts";
import type { Scratch } from "../host/host.ts";
import {
  type Arena,
  CHUNK_ROWS,
  CHUNK_SHIFT,
  Chunk,
  type ChunkContents,
  Flag,
  textOf,
} from "./chunk.ts";
import { Fate, type FateName, fateName, hasCause } from "./fate.ts";

/** The file that the rows of a chunk come from. */
export interface Origin {
  /** Index of the source in the configuration. */
  readonly source: number;
  /** File or URL as shown to users: the source itself or a file that it includes. */
  readonly file: string;
  /** The path or URL that was read; absent for lines that are not from the input. */
  readonly place?: string | undefined;
}

/** The file of exceptions that keep popular names reachable. */
export const NEWLY_BLOCKS_FILE = "guards.newly_blocks";

/** Chunk ids and row numbers share 31 bits. */
const MAX_CHUNKS = 32_767;

/** All chunks of one compile, by id. Lists share it, so that a row can refer to a row of another list. */
export class ChunkPool {
  readonly chunks: Chunk[] = [];
  readonly origins: Origin[] = [];
  readonly arena: Arena;
  readonly cache: ChunkCache;

  constructor(arena: Arena, cache: ChunkCache = new ChunkCache(Infinity, noScratch)) {
    this.arena = arena;
    this.cache = cache;
    arena.onGrow(() => cache.attachAll());
  }

  addOrigin(origin: Origin): number {
    return this.origins.push(origin) - 1;
  }

  /** Adds the chunk. It is in use until `cache.done`. */
  add(chunk: Chunk): Chunk {
    if (this.chunks.length === MAX_CHUNKS)
      throw new CompilerError([
        errorOf("too-large", `The sources need more than ${MAX_CHUNKS} chunks`),
      ]);
    chunk.id = this.chunks.length;
    this.chunks.push(chunk);
    this.cache.use(chunk);
    return chunk;
  }

  chunkOf(rowId: number): Chunk {
    return this.chunks[rowId >> CHUNK_SHIFT]!;
  }

  /** The index of the source of a chunk. */
  sourceOf({ origin }: Chunk): number {
    return this.origins[origin]!.source;
  }
}

function noScratch(): never {
  throw new Error("a list without a limit needs no scratch file");
}

/** A list: chunks in the order of its lines. Holds the rows of one source, or of the whole output. */
export class RuleTable {
  readonly pool: ChunkPool;
  readonly chunks: Chunk[] = [];

  constructor(pool: ChunkPool) {
    this.pool = pool;
  }
}

/** The row number within its chunk. */
export function rowOf(rowId: number): number {
  return rowId & (CHUNK_ROWS - 1);
}

/** Positions of the parts of a chunk in the scratch file. */
interface ChunkPlace {
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
  private readonly places = new Map<Chunk, ChunkPlace>();
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

/** The rows of a chunk as they were read, outside of any arena. Any compile can restore the chunk from it. */
export interface KeptChunk {
  /** Index of the file within its source. */
  readonly file: number;
  readonly bytes: Uint8Array;
  readonly columns: readonly (Uint32Array | Int32Array | Uint16Array | Uint8Array)[];
  readonly lines: Uint32Array | undefined;
  readonly rest: Pick<Chunk, "position" | "firstLine" | "spareBeyond" | "hashComments">;
  readonly has: Readonly<ChunkContents>;
}

/** Copies a chunk that no pass has changed yet. */
export function keepChunk(chunk: Chunk, file: number): KeptChunk {
  const { length, position, firstLine, spareBeyond, hashComments } = chunk;
  return {
    file,
    bytes: chunk.bytes.slice(),
    columns: chunk.allColumns().map((column) => column.slice(0, length)),
    lines: chunk.lines?.slice(0, length),
    rest: { position, firstLine, spareBeyond, hashComments },
    has: { ...chunk.has },
  };
}

export function keptBytes({ bytes, columns, lines }: KeptChunk): number {
  return (
    columns.reduce((sum, { byteLength }) => sum + byteLength, 0) +
    bytes.length +
    (lines?.byteLength ?? 0)
  );
}

/** Restores the chunk in this compile. It is in use until `cache.done`. */
export function restoreChunk(kept: KeptChunk, pool: ChunkPool, origin: number): Chunk {
  const { bytes, columns, lines, rest, has } = kept;
  const rows = columns[0]!.length;
  const chunk = pool.add(
    new Chunk(pool.arena, origin, bytes, { capacity: rows, hashComments: rest.hashComments }),
  );
  for (const [index, column] of chunk.allColumns().entries()) column.set(columns[index]!);
  chunk.length = rows;
  chunk.lines = lines?.slice();
  chunk.position = rest.position;
  chunk.firstLine = rest.firstLine;
  chunk.spareBeyond = rest.spareBeyond;
  Object.assign(chunk.has, has);
  chunk.kept = kept;
  return chunk;
}

/** A row as an object: what a line became, and why. */
export interface RowView {
  /** The text in the list, or the last text before the row was dropped. */
  readonly text: string;
  /** Whether it is in the list. */
  readonly isKept: boolean;
  readonly fate: FateName;
  readonly file: string;
  /** Index of the source in the configuration. */
  readonly source: number;
  readonly line: number;
  /** The row that made this one redundant. */
  readonly by?: { readonly text: string; readonly file: string; readonly line: number };
}

/** Every line that was read, in order, as objects created one at a time. For display and plugins: too slow for millions. */
export function* rowsOf(rules: RuleTable): Generator<RowView> {
  for (const chunk of rules.chunks) {
    rules.pool.cache.use(chunk);
    yield* rowsOfChunk(rules.pool, chunk);
    rules.pool.cache.done(chunk);
  }
}

function* rowsOfChunk(pool: ChunkPool, chunk: Chunk): Generator<RowView> {
  const { file, source } = pool.origins[chunk.origin]!;
  for (let row = 0; row < chunk.length; row++) {
    const fate = chunk.fate[row]!;
    if ((chunk.flags[row]! & Flag.Generated) !== 0 || fate === Fate.Spare) continue;
    const view = {
      text: textOf(chunk, row),
      isKept: fate === Fate.Kept,
      fate: fateName(fate),
      file,
      source,
      line: chunk.lineOf(row),
    };
    yield hasCause(fate) ? { ...view, by: placeOf(chunk.by![row]!, pool) } : view;
  }
}

/** The text of a row and where it comes from. */
export function placeOf(id: number, pool: ChunkPool): NonNullable<RowView["by"]> {
  const chunk = pool.chunkOf(id);
  const row = rowOf(id);
  pool.cache.use(chunk);
  try {
    const { file } = pool.origins[chunk.origin]!;
    return { text: textOf(chunk, row), file, line: chunk.lineOf(row) };
  } finally {
    pool.cache.done(chunk);
  }
}
