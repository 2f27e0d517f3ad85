import { CompilerError, errorOf } from "../diagnostics/diagnostic.ts";
import { type Arena, PlainArena } from "./arena.ts";
import { CHUNK_ROWS, CHUNK_SHIFT, type Chunk } from "./chunk.ts";
import { ChunkShelf } from "./chunk-shelf.ts";

/** Where the rows of a chunk were read. */
export interface Origin {
  /** Index of the source in the configuration. */
  readonly source: number;
  /** File or address, as a person would look for it: the source itself or a file it includes. */
  readonly file: string;
  /** The path or address it was read from; absent for lines that are not of the input. */
  readonly place?: string | undefined;
}

/** Ids and row numbers share 31 bits. */
const MAX_CHUNKS = 32_767;

/** All chunks of one compile, by id. Lists share it, so that a row can name a row of another list. */
export class ChunkPool {
  readonly chunks: Chunk[] = [];
  readonly origins: Origin[] = [];
  readonly arena: Arena;
  readonly shelf: ChunkShelf;

  constructor(
    arena: Arena = new PlainArena(),
    shelf: ChunkShelf = new ChunkShelf(Infinity, noScratch),
  ) {
    this.arena = arena;
    this.shelf = shelf;
    arena.onGrow(() => shelf.attachAll());
  }

  addOrigin(origin: Origin): number {
    return this.origins.push(origin) - 1;
  }

  /** Takes the chunk in; it is in use until `shelf.done`. */
  add(chunk: Chunk): Chunk {
    if (this.chunks.length === MAX_CHUNKS)
      throw new CompilerError([
        errorOf("too-large", `The sources need more than ${MAX_CHUNKS} chunks`),
      ]);
    chunk.id = this.chunks.length;
    this.chunks.push(chunk);
    this.shelf.use(chunk);
    return chunk;
  }

  chunkOf(rowId: number): Chunk {
    return this.chunks[rowId >> CHUNK_SHIFT]!;
  }
}

function noScratch(): never {
  throw new Error("a list without a limit needs no scratch file");
}

/** A list: chunks in the order of its lines. The rows of a source, or of the whole output. */
export class RuleTable {
  readonly pool: ChunkPool;
  readonly chunks: Chunk[] = [];

  constructor(pool: ChunkPool) {
    this.pool = pool;
  }
}

/** The row within its chunk. */
export function rowOf(rowId: number): number {
  return rowId & (CHUNK_ROWS - 1);
}
