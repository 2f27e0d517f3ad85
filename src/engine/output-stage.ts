import { ByteBuffer } from "../bytes/byte-buffer.ts";
import type { Format } from "../formats/format.ts";
import type { KernelMemory } from "../kernel/kernel-memory.ts";
import { RowWriter } from "../kernel/row-writer.ts";
import type { Chunk } from "../rules/chunk.ts";
import { type ChunkPool, RuleTable } from "../rules/rule-table.ts";
import { FateCount } from "./report.ts";

export type ByteSink = (bytes: Uint8Array) => void;

/** What other formats are written from. */
export interface ListSpool {
  /** Takes lines of the list, each with a line feed before it, and the index of their source. */
  take(bytes: Uint8Array, source: number): void;
  /** Takes a chunk with the names that are not in the list because a parent is. */
  takeCovered(chunk: Chunk, source: number): void;
}

const PIECE = 1024 * 1024;

/** What is written besides the rows. */
interface OutputShape {
  /** How many sources the list has. */
  readonly sources: number;
  readonly format: Format;
  readonly header: readonly string[];
}

/** Where all chunks end up, in the order of the list: written, counted, and kept for questions. */
export class OutputStage {
  readonly rules: RuleTable;
  readonly count: FateCount;
  bytes = 0;
  private readonly format: Format;
  private readonly sink: ByteSink;
  /** Grows to what it needs: of a hundred lists most are small. */
  private readonly piece = new ByteBuffer(65_536);
  private readonly writer: RowWriter;

  constructor(
    pool: ChunkPool,
    kernel: KernelMemory,
    { sources, format, header }: OutputShape,
    sink: ByteSink,
  ) {
    this.rules = new RuleTable(pool);
    this.writer = new RowWriter(kernel);
    this.count = new FateCount(pool, sources, this.writer);
    this.format = format;
    this.sink = sink;
    const head = format.header(header);
    this.piece.append(head, 0, head.length);
  }

  /** Looks at everything that is written, when there is one. */
  watch: { take(chunk: Chunk): void } | undefined;
  /** Takes the lines of each chunk for other formats. */
  spool: ListSpool | undefined;
  /** Notes down what became of every row, and where the list goes on. */
  record: { take(chunk: Chunk, offset: number): void; end(): void } | undefined;

  take(chunk: Chunk): void {
    this.rules.chunks.push(chunk);
    this.watch?.take(chunk);
    this.count.add(chunk);
    this.record?.take(chunk, this.bytes + this.piece.length);
    const start = this.piece.length;
    this.format.append(chunk, this.piece, this.writer);
    if (this.spool !== undefined) {
      const { source } = this.rules.pool.origins[chunk.origin]!;
      this.spool.take(this.piece.bytes.subarray(start, this.piece.length), source);
      this.spool.takeCovered(chunk, source);
    }
    if (this.piece.length >= PIECE) this.flush();
  }

  end(): void {
    this.record?.end();
    this.flush();
  }

  private flush(): void {
    this.bytes += this.piece.length;
    this.sink(this.piece.view());
    this.piece.length = 0;
  }
}
