import { ByteBuffer } from "../bytes/byte-buffer.ts";
import type { Format } from "../formats/format.ts";
import type { KernelMemory } from "../kernel/kernel-memory.ts";
import { RowWriter } from "../kernel/row-writer.ts";
import type { Chunk } from "../rules/chunk.ts";
import { type ChunkPool, RuleTable } from "../rules/rule-table.ts";
import { FateCount } from "./report.ts";

export type ByteSink = (bytes: Uint8Array) => void;

/** The input of other formats. */
export interface NameSink {
  /** Takes lines of the list, each after a line feed, and the index of their source. */
  take(bytes: Uint8Array, source: number): void;
  /** Takes a chunk with the names that the list omits because it has a parent. */
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

/** The last stage: writes chunks in list order, counts them and keeps them for queries. */
export class OutputStage {
  readonly rules: RuleTable;
  readonly count: FateCount;
  bytes = 0;
  private readonly format: Format;
  private readonly sink: ByteSink;
  /** Grows on demand: most of a hundred lists are small. */
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

  /** See every chunk that is written. */
  watches: readonly { take(chunk: Chunk): void }[] = [];
  /** Takes the lines of each chunk for other formats. */
  names: NameSink | undefined;
  /** Records the fate of every row, and the offset in the list. */
  record: { take(chunk: Chunk, offset: number): void; end(): void } | undefined;

  take(chunk: Chunk): void {
    this.rules.chunks.push(chunk);
    for (const watch of this.watches) watch.take(chunk);
    this.count.add(chunk);
    this.record?.take(chunk, this.bytes + this.piece.length);
    const start = this.piece.length;
    this.format.append(chunk, this.piece, this.writer);
    if (this.names !== undefined) {
      const { source } = this.rules.pool.origins[chunk.origin]!;
      this.names.take(this.piece.bytes.subarray(start, this.piece.length), source);
      this.names.takeCovered(chunk, source);
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
