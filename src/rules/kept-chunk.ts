import { Chunk, type ChunkContents } from "./chunk.ts";
import type { ChunkPool } from "./rule-table.ts";

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
