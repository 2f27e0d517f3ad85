import { ByteBuffer, encodeUtf8 } from "../bytes/text.ts";
import { VERSION } from "../diagnostics/version.ts";
import { type HeaderConfig, headerLines, needsCount } from "../formats/header.ts";
import type { Format } from "../formats/name-format.ts";
import type { KnownNames } from "../formats/names.ts";
import type { Scratch } from "../host/host.ts";
import type { KernelMemory } from "../kernel/kernel.ts";
import { RowWriter } from "../kernel/rows.ts";
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
  /** Takes names that are known from elsewhere, after the last chunk. */
  takeKnown(known: KnownNames): void;
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

/** Upper limit for the rule count. */
const MOST_RULES = 9_999_999_999;

/**
 * The list's header. Its size in bytes does not depend on the number of rules: the build record and patches refer to rules by
 * their offset. Blanks after its last text replace missing digits.
 */
export class ListHeader {
  /** Whether it shows the number of rules, so that it must be written after them. */
  private readonly isLate: boolean;
  private held: DelayedList | undefined;
  private readonly config: HeaderConfig;
  private readonly time: Date;
  private readonly more: readonly string[];
  private readonly compiler: string;

  constructor(
    config: HeaderConfig,
    time: Date,
    more: readonly string[],
    compiler: string = VERSION,
  ) {
    this.compiler = compiler;
    this.config = config;
    this.time = time;
    this.more = more;
    this.isLate = needsCount([config.version, ...(config.header ?? [])]);
  }

  /** The sink for the list. If the header is late, the list waits for it. */
  before(sink: ByteSink, openScratch: () => Scratch): ByteSink {
    if (!this.isLate) return sink;
    const held = new DelayedList(openScratch(), sink);
    this.held = held;
    return (bytes) => held.take(bytes);
  }

  /** Call with the final count. */
  end(rules: number): void {
    this.held?.release(encodeUtf8(this.lines(rules).join("\n")));
  }

  close(): void {
    this.held?.close();
  }

  /** Without a count, placeholder lines of the same size. */
  lines(count: number = MOST_RULES): string[] {
    return this.padded(count, false);
  }

  /** The same without dates. */
  timeless(count: number): string {
    return this.padded(count, true).join("\n");
  }

  private padded(count: number, isTimeless: boolean): string[] {
    const { config, time, more, compiler } = this;
    const facts = { compiler, time, more, isTimeless };
    const lines = headerLines(config, { ...facts, count });
    if (!this.isLate) return lines;
    const longest = headerLines(config, { ...facts, count: MOST_RULES });
    const missing = longest.join("").length - lines.join("").length;
    const last = lines.findLastIndex((line) => line !== "!");
    return lines.with(last, `${lines[last]}${" ".repeat(missing)}`);
  }
}

/** Holds a list back until its first bytes are known. */
class DelayedList {
  private readonly sink: ByteSink;
  private scratch: Scratch | undefined;
  private length = 0;

  constructor(scratch: Scratch, sink: ByteSink) {
    this.scratch = scratch;
    this.sink = sink;
  }

  take(bytes: Uint8Array): void {
    if (bytes.length === 0) return;
    this.scratch!.append(bytes);
    this.length += bytes.length;
  }

  /** Writes the list with `head` in place of its first bytes. */
  release(head: Uint8Array): void {
    const scratch = this.scratch!;
    scratch.rewrite(0, head);
    for (let at = 0; at < this.length; at += PIECE) {
      const piece = new Uint8Array(Math.min(PIECE, this.length - at));
      scratch.read(at, piece);
      this.sink(piece);
    }
    this.close();
  }

  close(): void {
    this.scratch?.close();
    this.scratch = undefined;
  }
}
