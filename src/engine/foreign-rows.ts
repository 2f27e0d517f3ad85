import { encodeUtf8 } from "../bytes/utf8.ts";
import { CHUNK_ROWS, Chunk } from "../rules/chunk.ts";
import { Fate } from "../rules/fate.ts";
import { Flag } from "../rules/kind.ts";
import type { ChunkPool } from "../rules/rule-table.ts";
import { classify, maskOf } from "../syntax/classify.ts";
import { BLOCK_BYTES } from "../syntax/text-block.ts";

interface TakenRow {
  readonly text: string;
  readonly line: number;
  readonly fate: Fate;
  readonly isAdblockSyntax: boolean;
}

/** Builds chunks from the rows that a reader of another format produced. */
export class ForeignRows {
  private readonly pool: ChunkPool;
  private readonly emit: (chunk: Chunk) => void;
  private rows: TakenRow[] = [];
  private size = 0;
  private origin = 0;

  constructor(pool: ChunkPool, emit: (chunk: Chunk) => void) {
    this.pool = pool;
    this.emit = emit;
  }

  /** Rows of different files never share a chunk. */
  begin(origin: number): void {
    if (origin !== this.origin) this.flush();
    this.origin = origin;
  }

  add(row: TakenRow): void {
    this.rows.push(row);
    this.size += row.text.length + 1;
    if (this.size >= BLOCK_BYTES || this.rows.length === CHUNK_ROWS) this.flush();
  }

  flush(): void {
    const { rows, pool, origin } = this;
    if (rows.length === 0) return;
    this.rows = [];
    this.size = 0;
    const joined = rows.map(({ text }) => text).join("\n");
    const bytes = encodeUtf8(joined);
    const isAscii = bytes.length === joined.length;
    const chunk = pool.add(
      new Chunk(pool.arena, origin, bytes, { capacity: rows.length, hashComments: true }),
    );
    let at = 0;
    for (const { text, line, fate, isAdblockSyntax } of rows) {
      const end = at + (isAscii ? text.length : encodeUtf8(text).length);
      const row = chunk.push(at, end, line);
      chunk.fate[row] = at === end ? Fate.Blank : fate;
      if (at < end) classify(chunk, row, maskOf(chunk.bytes, at, end));
      if (isAdblockSyntax) chunk.flags[row]! |= Flag.OwnWord;
      at = end + 1;
    }
    this.emit(chunk);
  }
}
