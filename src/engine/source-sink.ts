import { encodeUtf8 } from "../bytes/text.ts";
import { fateOfLine } from "../feeds/feed.ts";
import { foreignFormats } from "../formats/readers/registry.ts";
import {
  type FormatReader,
  type ForeignFormat,
  type RowTaker,
  splitLines,
} from "../formats/readers/rpz-lines.ts";
import type { LineScanner } from "../kernel/rows.ts";
import { CHUNK_ROWS, Chunk, Flag, Kind } from "../rules/chunk.ts";
import { Fate } from "../rules/fate.ts";
import {
  ChunkPool,
  type KeptChunk,
  type Origin,
  keepChunk,
  restoreChunk,
} from "../rules/rule-table.ts";
import type { LineSink } from "../sources/source-list.ts";
import { classify, maskOf } from "../syntax/classify.ts";
import {
  BLOCK_BYTES,
  type FileLines,
  type LineRange,
  ListScan,
  type TextBlock,
} from "../syntax/list-scan.ts";
import type { Transformation } from "../transformations/stage.ts";
import type { PlannedSource } from "./plan.ts";
import type { Engine } from "./shared-sources.ts";

/** How the text of a source becomes rows. */
interface SourceReading {
  readonly scanner: LineScanner;
  /** Transformations that look at rows before the first stage. */
  readonly preparing: readonly Pick<Transformation, "prepare">[];
  /** See the rows before any stage changes them. */
  readonly watches?: readonly { see(chunk: Chunk): void }[];
}

/** Turns the lines of a source into chunks and sends them on while the next lines are read. */
export class SourceSink implements LineSink {
  private readonly pool: ChunkPool;
  private readonly source: Pick<PlannedSource, "index" | "type" | "splitHosts" | "feed">;
  private readonly scan: ListScan;
  private readonly push: (chunk: Chunk) => void;
  private readonly preparing: readonly Pick<Transformation, "prepare">[];
  private readonly watches: NonNullable<SourceReading["watches"]>;
  private readonly ready: Chunk[] = [];
  private current: FileLines | undefined;
  /** For lines in another syntax: the format, its rows, and the reader of each file. */
  private readonly format: ForeignFormat | undefined;
  private readonly foreignRows: ForeignRows;
  private readonly readers = new Map<FileLines, FormatReader>();
  private readonly take: RowTaker;
  private readonly origins: Omit<Origin, "source">[] = [];
  private firstOrigin: number | undefined;
  /** Copies of chunks, if requested. */
  private kept: KeptChunk[] | undefined;

  constructor(
    pool: ChunkPool,
    source: Pick<PlannedSource, "index" | "type" | "splitHosts" | "feed">,
    { scanner, preparing, watches = [] }: SourceReading,
    push: (chunk: Chunk) => void,
  ) {
    this.pool = pool;
    this.source = source;
    this.preparing = preparing.filter(({ prepare }) => prepare !== undefined);
    this.watches = watches;
    this.format = foreignFormats.get(source.type);
    this.foreignRows = new ForeignRows(pool, (chunk) => this.ready.push(chunk));
    this.take = (text, line, fate = Fate.Kept, isAdblockSyntax = false) =>
      this.foreignRows.add({ text, line, fate, isAdblockSyntax });
    this.push = push;
    this.scan = new ListScan(
      pool,
      { hashComments: source.type !== "adblock", splitHosts: source.splitHosts, scanner },
      (chunk) => {
        if (source.feed !== undefined) takeFates(chunk);
        this.ready.push(chunk);
      },
    );
  }

  begin(label: string, place: string): FileLines {
    return { origin: this.addOrigin({ file: label, place }), nextLine: 1 };
  }

  private addOrigin(origin: Omit<Origin, "source">): number {
    const added = this.pool.addOrigin({ source: this.source.index, ...origin });
    this.firstOrigin ??= added;
    this.origins.push(origin);
    return added;
  }

  /** Starts to copy all rows, before any stage changes them. */
  keepRows(): {
    readonly origins: readonly Omit<Origin, "source">[];
    readonly chunks: readonly KeptChunk[];
  } {
    this.kept = [];
    return { origins: this.origins, chunks: this.kept };
  }

  /** Takes the rows of a source that was read before. */
  async again(
    origins: readonly Omit<Origin, "source">[],
    chunks: readonly KeptChunk[],
  ): Promise<void> {
    for (const origin of origins) this.addOrigin(origin);
    for (const chunk of chunks) {
      this.ready.push(restoreChunk(chunk, this.pool, this.firstOrigin! + chunk.file));
      await this.send();
    }
  }

  read(file: FileLines, block: TextBlock, range: LineRange): Promise<void> | undefined {
    // Rows of different files never share a chunk and must keep their order.
    if (file !== this.current) {
      this.pauseReader();
      this.scan.flush();
    }
    this.current = file;
    if (this.format === undefined) this.scan.read(file, block, range);
    else this.readForeign(this.format, file, block, range);
    return this.ready.length === 0 ? undefined : this.send();
  }

  private readForeign(
    format: ForeignFormat,
    file: FileLines,
    { bytes, isLast }: TextBlock,
    { start, end, fate }: LineRange,
  ): void {
    this.foreignRows.begin(file.origin);
    let reader = this.readers.get(file);
    if (reader === undefined) this.readers.set(file, (reader = format.open()));
    const text = bytes.subarray(start, end);
    if (fate === Fate.Kept) file.nextLine = reader.read(text, file.nextLine, this.take);
    else {
      reader.pause(this.take);
      for (const line of splitLines(text)) this.take(line, file.nextLine++, fate);
    }
    if (!isLast || end < bytes.length) return;
    reader.end(this.take);
    this.readers.delete(file);
  }

  private pauseReader(): void {
    if (this.current === undefined) return;
    this.readers.get(this.current)?.pause(this.take);
    this.foreignRows.flush();
  }

  nextLine(file: FileLines): number {
    return file.nextLine;
  }

  /** A file without text still counts as one empty line. */
  blank({ origin }: FileLines): void {
    this.pauseReader();
    this.scan.flush();
    this.ready.push(lineChunk(this.pool, origin, "", { kind: Kind.Blank, flags: Flag.Generated }));
  }

  /** Sends on what was read so far. Another file may follow. */
  async end(): Promise<void> {
    this.pauseReader();
    this.scan.flush();
    await this.send();
  }

  /** Sends the chunks that are ready. Returns a promise only if a library must be loaded first. */
  private send(): Promise<void> | undefined {
    for (const [index, chunk] of this.ready.entries()) {
      const waits = this.preparing.flatMap(
        (transformation) => transformation.prepare?.(chunk) ?? [],
      );
      if (waits.length > 0) {
        this.ready.splice(0, index);
        return Promise.all(waits).then(() => this.sendAll());
      }
      this.sendOne(chunk);
    }
    this.ready.length = 0;
    return undefined;
  }

  private async sendAll(): Promise<void> {
    for (const chunk of this.ready) {
      for (const transformation of this.preparing) await transformation.prepare?.(chunk);
      this.sendOne(chunk);
    }
    this.ready.length = 0;
  }

  private sendOne(chunk: Chunk): void {
    for (const watch of this.watches) watch.see(chunk);
    if (this.kept !== undefined) {
      chunk.kept = keepChunk(chunk, chunk.origin - this.firstOrigin!);
      this.kept.push(chunk.kept);
    }
    this.push(chunk);
    this.pool.cache.done(chunk);
  }
}

/** Readers of feeds write fates into their lines. */
function takeFates(chunk: Chunk): void {
  const { bytes, start, end, fate, length } = chunk;
  for (let row = 0; row < length; row++) {
    const own = fateOfLine(bytes, start[row]!, end[row]!);
    if (own !== Fate.Kept) fate[row] = own;
  }
}

/** A chunk with one line that is not from the input. It is in use until `cache.done`. */
function lineChunk(
  pool: ChunkPool,
  origin: number,
  text: string,
  { kind, flags }: { readonly kind: Kind; readonly flags: number },
): Chunk {
  const bytes = encodeUtf8(text);
  const chunk = pool.add(new Chunk(pool.arena, origin, bytes, { capacity: 1 }));
  const row = chunk.push(0, bytes.length, 0);
  chunk.kind[row] = kind;
  chunk.flags[row] = flags;
  chunk.has.otherRows = true;
  chunk.has.comments = kind === Kind.Comment;
  chunk.has.blanks = kind === Kind.Blank;
  return chunk;
}

/** Passes on the comments that name a source, in front of its rules. */
export function pushBanner(
  { index, label }: Pick<PlannedSource, "index" | "label">,
  lines: readonly string[],
  pool: ChunkPool,
  list: { push(chunk: Chunk): void },
): void {
  const origin = pool.addOrigin({ source: index, file: label });
  for (const line of lines) {
    const flags = Flag.Generated | Flag.Banner;
    const chunk = lineChunk(pool, origin, line, { kind: Kind.Comment, flags });
    list.push(chunk);
    pool.cache.done(chunk);
  }
}

interface TakenRow {
  readonly text: string;
  readonly line: number;
  readonly fate: Fate;
  readonly isAdblockSyntax: boolean;
}

/** Builds chunks from the rows that a reader of another format produced. */
class ForeignRows {
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

/** Reads the lines of files that are not compiled, such as names, as rows. */
export abstract class ScanSink implements LineSink {
  private readonly scan: ListScan;

  /** `hashComments` tells whether every line that begins with `#` is a comment. */
  constructor({ kernel, scanner }: Engine, hashComments: boolean) {
    this.scan = new ListScan(
      new ChunkPool(kernel),
      { hashComments, splitHosts: false, scanner },
      (chunk) => this.take(chunk),
    );
  }

  abstract begin(label: string): FileLines;

  protected abstract take(chunk: Chunk): void;

  read(file: FileLines, block: TextBlock, range: LineRange): void {
    this.scan.read(file, block, range);
  }

  nextLine(file: FileLines): number {
    return file.nextLine;
  }

  blank(): void {}

  end(): void {
    this.scan.flush();
  }
}
