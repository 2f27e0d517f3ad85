import { COMMA, CR, LF, TAB, bufferOf, decodeUtf8, encodeUtf8, lineEnd } from "../bytes/text.ts";
import { csvField } from "../diagnostics/text.ts";
import { feedFormats } from "../feeds/registry.ts";
import { foreignFormats } from "../formats/readers/registry.ts";
import { readFully } from "../host/files.ts";
import type { Host } from "../host/host.ts";
import { KernelMemory } from "../kernel/kernel.ts";
import { LineScanner } from "../kernel/rows.ts";
import { namesIn } from "../meaning/line.ts";
import type { BuildRecord, RecordedFile } from "../record/build-record.ts";
import { type Chunk, Flag, Kind } from "../rules/chunk.ts";
import { FATES, Fate } from "../rules/fate.ts";
import { ChunkPool } from "../rules/rule-table.ts";
import { FileBlocks } from "../sources/read-file.ts";
import {
  BlockCutter,
  type FileLines,
  ListScan,
  type TextBlock,
  blocksOf,
} from "../syntax/list-scan.ts";
import { suffixFilters } from "../syntax/public-suffix.ts";
import { asciiLabels } from "../syntax/written-names.ts";
import {
  HEAD_BYTES,
  RecordedRows,
  isUnpackedFirst,
  readRecorded,
  recordedText,
} from "./recorded-rows.ts";

/** What a line is, in the words of the table. */
const KINDS = [
  "blank",
  "comment",
  "hosts",
  "domain",
  "block",
  "exception",
  "rule",
  "unknown",
] as const;

const HEADER = "list,source,row,line,counted,kind,fate,cause,name,text";

const QUOTE = 0x22;
const ZERO = 0x30;

/** Room for the fields of a row that are neither `list`, `source`, `name` nor `text`. */
const OTHER_FIELDS = 128;

/** `,COUNTED,KIND,FATE,` by kind and fate. */
const COUNTED = wordsAfter(",true");
const NOT_COUNTED = wordsAfter(",false");

function wordsAfter(counted: string): readonly (readonly Uint8Array[])[] {
  return KINDS.map((kind) => FATES.map(([fate]) => encodeUtf8(`${counted},${kind},${fate},`)));
}

/** Rows of a CSV file (RFC 4180), as bytes. A line of plain ASCII is copied without becoming a string. */
class CsvRows {
  rows = 0;
  private bytes = new Uint8Array(1024 * 1024);
  private length = 0;
  private start: Uint8Array = new Uint8Array(0);

  constructor() {
    this.put(encodeUtf8(`${HEADER}\n`));
  }

  /** The list and the source of the rows that follow. */
  startSource(list: string, source: string): void {
    this.start = encodeUtf8(`${csvField(list)},${csvField(source)},`);
  }

  /** The rows since the last call; valid until the next one is added. */
  take(): Uint8Array {
    const taken = this.bytes.subarray(0, this.length);
    this.length = 0;
    return taken;
  }

  /** A row of a line without a name, or with one in lower-case ASCII. */
  addLine(rows: RecordedRows, kind: number, chunk: Chunk, row: number): void {
    const { bytes } = chunk;
    const [start, end] = [chunk.start[row]!, chunk.end[row]!];
    const [nameStart, nameEnd] = [chunk.hostStart[row]!, chunk.hostEnd[row]!];
    this.startRow(rows, kind, nameEnd - nameStart + 2 * (end - start));
    const { bytes: out } = this;
    let to = this.length;
    for (let at = nameStart; at < nameEnd; at++) out[to++] = bytes[at]!;
    out[to++] = COMMA;
    const textAt = to;
    out[to++] = QUOTE;
    for (let at = start; at < end; at++) {
      const byte = bytes[at]!;
      if ((byte < 0x20 && byte !== TAB) || byte > 0x7e) {
        this.length = textAt;
        this.endRow(decodeUtf8(bytes, start, end));
        return;
      }
      if (byte === QUOTE) out[to++] = QUOTE;
      out[to++] = byte;
    }
    out[to++] = QUOTE;
    out[to++] = LF;
    this.length = to;
  }

  /** Any other row. */
  addText(
    rows: RecordedRows,
    kind: number,
    name: string | undefined,
    text: string | undefined,
  ): void {
    this.startRow(rows, kind, 0);
    this.put(encodeUtf8(`${name ?? ""},`));
    this.endRow(text);
  }

  /** The fields in front of the name. */
  private startRow(rows: RecordedRows, kind: number, more: number): void {
    this.rows++;
    this.reserve(this.start.length + OTHER_FIELDS + more);
    const { bytes: out, start } = this;
    out.set(start, this.length);
    let to = writeNumber(rows.row, out, this.length + start.length);
    out[to++] = COMMA;
    to = writeNumber(rows.line, out, to);
    const words = (rows.isCounted ? COUNTED : NOT_COUNTED)[kind]![rows.fate]!;
    for (let at = 0; at < words.length; at++) out[to++] = words[at]!;
    if (rows.cause !== undefined) to = writeNumber(rows.cause, out, to);
    out[to++] = COMMA;
    this.length = to;
  }

  private endRow(text: string | undefined): void {
    this.put(encodeUtf8(text === undefined ? "\n" : `${csvField(text)}\n`));
  }

  private put(bytes: Uint8Array): void {
    this.reserve(bytes.length);
    this.bytes.set(bytes, this.length);
    this.length += bytes.length;
  }

  private reserve(more: number): void {
    if (this.length + more <= this.bytes.length) return;
    const grown = new Uint8Array(2 * (this.length + more));
    grown.set(this.bytes.subarray(0, this.length));
    this.bytes = grown;
  }
}

/** Writes a number from 0 to 2³¹ - 1. Returns where it ends. */
function writeNumber(number: number, out: Uint8Array, from: number): number {
  let end = from + 1;
  for (let rest = number; rest >= 10; rest = (rest / 10) | 0) end++;
  let rest = number;
  for (let at = end - 1; at >= from; at--) {
    const tenth = (rest / 10) | 0;
    out[at] = ZERO + rest - tenth * 10;
    rest = tenth;
  }
  return end;
}

/** A build with its name. */
interface NamedRecord {
  readonly name: string;
  readonly record: BuildRecord;
}

/** A name in lower-case ASCII has the first of these flags alone. */
const NAME_FLAGS = Flag.PlainHost | Flag.UpperHost | Flag.SeveralNames;

const UNKNOWN = KINDS.indexOf("unknown");

/** Takes rows of the table; false if it wants no more of them. */
export type TakeRows = (rows: Uint8Array) => Promise<boolean>;

/** Writes every line of every source with its fate as CSV. Memory does not grow with plain sources. */
export class DatasetLines {
  /** Files whose text is not available. */
  readonly unseen: RecordedFile[] = [];
  private readonly cacheDir: string | undefined;
  private readonly host: Host;
  private readonly kernel = new KernelMemory();
  private readonly scanner = new LineScanner(this.kernel, suffixFilters);
  private readonly table = new CsvRows();
  private rows!: RecordedRows;
  private readonly out: TakeRows;
  private isWanted = true;

  constructor(cacheDir: string | undefined, host: Host, out: TakeRows) {
    this.cacheDir = cacheDir;
    this.host = host;
    this.out = out;
  }

  /** Returns the number of rows. Rejects with the error of `out`. */
  async write(builds: readonly NamedRecord[]): Promise<number> {
    for (const { name, record } of builds) {
      const framesOf = Map.groupBy(record.frames, ({ file }) => file);
      for (const [index, file] of record.header.files.entries()) {
        if (file.isOwn === true || !this.isWanted) continue;
        this.table.startSource(name, record.header.sources[file.source]!.label);
        this.rows = new RecordedRows(record, framesOf.get(index) ?? []);
        await this.writeFile(file, record);
      }
    }
    await this.passOn();
    return this.table.rows;
  }

  private async passOn(): Promise<void> {
    const rows = this.table.take();
    if (this.isWanted && rows.length > 0) this.isWanted = await this.out(rows);
  }

  private async writeFile(file: RecordedFile, record: BuildRecord): Promise<void> {
    const { builtAt, sources } = record.header;
    const isRead = await readRecorded(file, this.cacheDir, this.host, async (opened) => {
      const head = await readFully(opened, new Uint8Array(Math.min(HEAD_BYTES, opened.size)));
      const isPlain = file.feed === undefined && file.format === undefined;
      const { type } = sources[file.source]!;
      if (isPlain && !isUnpackedFirst(file, head)) {
        await this.scan(new FileBlocks(opened, file.file, []).blocks(head), type);
        return true;
      }
      const bytes = await readFully(opened, new Uint8Array(opened.size), 0);
      const text = await recordedText(file, bytes, builtAt, this.host);
      if (text === undefined) return undefined;
      if (file.format !== undefined) await this.readForeign(file.format, text);
      else
        await this.scan(blocksOf(text, new BlockCutter()), type, await this.written(file, bytes));
      return true;
    });
    if (isRead === undefined) this.unseen.push(file);
    // Without a text, or after its end.
    while (!this.rows.isOver) this.addRow(undefined, undefined, UNKNOWN);
    await this.passOn();
  }

  /** The lines of a feed as they were written, if they have the numbers of its rows. */
  private async written(file: RecordedFile, bytes: Uint8Array): Promise<WrittenLines | undefined> {
    const { feed, ...asWritten } = file;
    const format = feed && feedFormats.get(feed.type);
    if (format === undefined || format.isJson === true) return undefined;
    const text = await recordedText(asWritten, bytes, "", this.host);
    return text && new WrittenLines(text);
  }

  private async scan(
    blocks: AsyncIterable<TextBlock> | Iterable<TextBlock>,
    type: string,
    written?: WrittenLines,
  ): Promise<void> {
    const pool = new ChunkPool(this.kernel);
    const options = { hashComments: type !== "adblock", splitHosts: false, scanner: this.scanner };
    const scan = new ListScan(pool, options, (chunk) => {
      if (written === undefined) this.takeChunk(chunk);
      else this.takeFeed(chunk, written);
      chunk.leave();
      pool.chunks.length = 0;
    });
    const lines: FileLines = { origin: 0, nextLine: 1 };
    for await (const block of blocks) {
      scan.read(lines, block, { start: 0, end: block.bytes.length, fate: Fate.Kept });
      await this.passOn();
      if (!this.isWanted) break;
    }
    scan.flush();
    this.kernel.freeAll();
  }

  private takeChunk(chunk: Chunk): void {
    const { rows } = this;
    for (let row = 0; row < chunk.length; row++) {
      const line = chunk.lineOf(row);
      while (!rows.isOver && rows.line < line) this.addRow(undefined, undefined, UNKNOWN);
      if (rows.isOver) return;
      if (rows.line > line) continue;
      const kind = kindOf(chunk, row);
      const text = this.addLine(chunk, row, kind);
      rows.next();
      if (text !== undefined) {
        const names = namesIn(text);
        for (let at = 1; !rows.isOver && rows.line === line; at++)
          this.addRow(text, names[Math.min(at, names.length - 1)], kind);
      }
      // Rows of one line: several names, or a line that a plugin copied.
      while (!rows.isOver && rows.line === line)
        this.addRow(decodeUtf8(chunk.bytes, chunk.start[row], chunk.end[row]), undefined, kind);
    }
  }

  /** Adds a line and its first name. Returns the text if the line may have several names. */
  private addLine(chunk: Chunk, row: number, kind: number): string | undefined {
    const { bytes, start, end, hostStart, hostEnd, flags } = chunk;
    if (hostStart[row] === hostEnd[row] || (flags[row]! & NAME_FLAGS) === Flag.PlainHost) {
      this.table.addLine(this.rows, kind, chunk, row);
      return undefined;
    }
    const text = decodeUtf8(bytes, start[row], end[row]);
    this.table.addText(this.rows, kind, normalName(namesIn(text)[0]), text);
    return text;
  }

  /** The names of a feed, with the lines that they are from. */
  private takeFeed(chunk: Chunk, written: WrittenLines): void {
    const { rows } = this;
    for (let row = 0; row < chunk.length && !rows.isOver; row++) {
      const line = chunk.lineOf(row);
      while (!rows.isOver && rows.line < line) this.addRow(undefined, undefined, UNKNOWN);
      const { bytes, hostStart, hostEnd } = chunk;
      const host = decodeUtf8(bytes, hostStart[row], hostEnd[row]);
      const name = host === "" ? undefined : host;
      while (!rows.isOver && rows.line === line)
        this.addRow(written.at(line), name, kindOf(chunk, row));
    }
  }

  private async readForeign(format: string, bytes: Uint8Array): Promise<void> {
    const { rows } = this;
    const written = new WrittenLines(bytes);
    const reader = foreignFormats.get(format)!.open();
    const take = (rule: string, line: number, fate: Fate = Fate.Kept): void => {
      while (!rows.isOver && rows.line < line) this.addRow(undefined, undefined, UNKNOWN);
      if (rows.isOver || rows.line > line) return;
      const kind = fate !== Fate.Kept ? "unknown" : rule.startsWith("@@") ? "exception" : "rule";
      this.addRow(
        written.at(line),
        fate === Fate.Kept ? namesIn(rule)[0] : undefined,
        KINDS.indexOf(kind),
      );
    };
    let line = 1;
    for (const block of blocksOf(bytes, new BlockCutter())) {
      line = reader.read(block.bytes, line, take);
      await this.passOn();
    }
    reader.end(take);
  }

  private addRow(text: string | undefined, name: string | undefined, kind: number): void {
    this.table.addText(this.rows, kind, normalName(name), text);
    this.rows.next();
  }
}

const NAME = /^[a-z0-9_-]+(?:\.[a-z0-9_-]+)*$/;

/** A name in lower-case ASCII; undefined if the text is not one. */
function normalName(text = ""): string | undefined {
  const name = asciiLabels(text.toLowerCase()).replace(/\.$/, "");
  return NAME.test(name) ? name : undefined;
}

/** By kind of row. */
const KIND_OF = new Uint8Array(8);
KIND_OF[Kind.Blank] = KINDS.indexOf("blank");
KIND_OF[Kind.Comment] = KINDS.indexOf("comment");
KIND_OF[Kind.Hosts] = KINDS.indexOf("hosts");
KIND_OF[Kind.Domain] = KINDS.indexOf("domain");
KIND_OF[Kind.Block] = KINDS.indexOf("block");
KIND_OF[Kind.Rule] = KINDS.indexOf("rule");
const EXCEPTION = KINDS.indexOf("exception");

function kindOf({ kind, flags }: Chunk, row: number): number {
  return (flags[row]! & Flag.Allow) === 0 ? KIND_OF[kind[row]!]! : EXCEPTION;
}

/** The lines of a text, asked for in ascending order. */
class WrittenLines {
  private readonly text: ReturnType<typeof bufferOf>;
  private line = 1;
  private start = 0;

  constructor(bytes: Uint8Array) {
    this.text = bufferOf(bytes);
  }

  at(line: number): string {
    const { text } = this;
    for (; this.line < line; this.line++) this.start = lineEnd(text, this.start) + 1;
    const stop = lineEnd(text, this.start);
    return text.toString("utf8", this.start, text[stop - 1] === CR ? stop - 1 : stop);
  }
}
