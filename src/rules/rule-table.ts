import { CompilerError, errorOf } from "../diagnostics/diagnostic.ts";
import { CHUNK_ROWS, CHUNK_SHIFT, Chunk } from "./chunk.ts";

/** Where the rows of a chunk were read. */
export interface Origin {
  /** Index of the source in the configuration. */
  readonly source: number;
  /** File or address, as a person would look for it: the source itself or a file it includes. */
  readonly file: string;
}

/** Ids and row numbers share 31 bits. */
const MAX_CHUNKS = 32_767;

/** All chunks of one compile, by id. Lists share it, so that a row can name a row of another list. */
export class ChunkPool {
  readonly chunks: Chunk[] = [];
  readonly origins: Origin[] = [];

  addOrigin(origin: Origin): number {
    return this.origins.push(origin) - 1;
  }

  addChunk(origin: number, bytes: Uint8Array, capacity: number, hashComments = false): Chunk {
    if (this.chunks.length === MAX_CHUNKS)
      throw new CompilerError([
        errorOf("too-large", `The sources fall into more than ${MAX_CHUNKS} pieces`),
      ]);
    const rows = Math.min(capacity, CHUNK_ROWS);
    const chunk = new Chunk(this.chunks.length, origin, bytes, rows, hashComments);
    this.chunks.push(chunk);
    return chunk;
  }

  chunkOf(rowId: number): Chunk {
    return this.chunks[rowId >> CHUNK_SHIFT]!;
  }
}

/** A list: chunks in the order of its lines. The rows of a source, or of the whole output. */
export class RuleTable {
  readonly pool: ChunkPool;
  readonly chunks: Chunk[] = [];

  constructor(pool: ChunkPool) {
    this.pool = pool;
  }

  /** Upper bound for the number of live rows. */
  get length(): number {
    let rows = 0;
    for (const chunk of this.chunks) rows += chunk.length;
    return rows;
  }
}

/** The row within its chunk. */
export function rowOf(rowId: number): number {
  return rowId & (CHUNK_ROWS - 1);
}
