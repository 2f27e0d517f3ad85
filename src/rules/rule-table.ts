import { CompilerError, errorOf } from "../diagnostics/diagnostic.ts";
import type { Arena } from "./arena.ts";
import { CHUNK_ROWS, CHUNK_SHIFT, type Chunk } from "./chunk.ts";
import { ChunkCache } from "./chunk-cache.ts";

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
