import { Buffer } from "node:buffer";
import { SliceTable, hashSlice } from "../bytes/hash.ts";
import { ByteBuffer, CR, LF, bufferOf, eachLine, lineEnd } from "../bytes/text.ts";
import { CompilerError, errorOf } from "../diagnostics/render.ts";
import { printable, reasonOf } from "../diagnostics/text.ts";
import { type Host, HostError, type OpenFile, toHostError } from "../host/host.ts";
import { openAgain } from "../sources/copies.ts";
import { type LogFormat, foundName, logFormatOf } from "./log-formats.ts";
import type { TrafficFile } from "../documents/facts.ts";

interface TrafficOptions {
  /** Whether queries are also counted by client. */
  readonly byClient?: boolean;
  /** How many names are held at a time. */
  readonly mostNames?: number;
}

/**
 * Counts the queries of logs by name, in bounded memory: when there are too many names, it hands out what it has and starts again.
 * Logs whose names fit are read once, also for several lists.
 */
export class TrafficReader {
  /** The logs that were read so far. */
  files: readonly TrafficFile[] = [];
  readonly byClient: boolean;
  private readonly paths: readonly string[];
  private readonly host: Host;
  private readonly mostNames: number;
  private counts = new QueryCounts();
  private queries = 0;
  private isSplit = false;
  /** What was read from standard input, for those who read it again. */
  private input: Input | undefined;
  /** The counts of all logs, once they are read. */
  private whole: QueryCounts | undefined;

  constructor(paths: readonly string[], host: Host, options: TrafficOptions = {}) {
    this.paths = paths;
    this.host = host;
    this.byClient = options.byClient === true;
    this.mostNames = options.mostNames ?? 1_000_000;
  }

  /** The counts of all logs, in one batch or several. The same name may be in more than one. Rejects with a `CompilerError`. */
  async *batches(): AsyncGenerator<NameCounts> {
    if (this.whole !== undefined) {
      yield this.whole.entries();
      return;
    }
    this.counts = new QueryCounts();
    this.isSplit = false;
    const files: TrafficFile[] = [];
    for (const path of this.paths) {
      this.queries = 0;
      const format = yield* this.read(path);
      files.push({ file: labelOf(path), format, queries: this.queries });
    }
    this.files = files;
    if (!this.isSplit) this.whole = this.counts;
    yield this.counts.entries();
  }

  private async *read(path: string): AsyncGenerator<NameCounts, string> {
    const lines = new LineBlocks();
    let format: LogFormat | undefined;
    let isFirst = true;
    try {
      for await (const block of logBlocks(await this.open(path))) {
        if (isFirst && bufferOf(block).toString("latin1", 0, 16) === SQLITE)
          return yield* this.readDatabase(path);
        isFirst = false;
        const complete = lines.take(block);
        if (complete.length === 0) continue;
        format ??= logFormatOf(textLines(complete)) ?? unknown(path);
        this.countLines(complete, format);
        if (this.isFull()) yield this.handOut();
      }
      const last = lines.end();
      format ??= logFormatOf(textLines(last)) ?? unknown(path);
      this.countLines(last, format);
      return format.name;
    } catch (error) {
      if (!(error instanceof HostError)) throw error;
      throw new CompilerError([
        errorOf("traffic-unreadable", `Cannot read ${printable(labelOf(path))}`, {
          cause: reasonOf(error.code, error.message),
        }),
      ]);
    }
  }

  private async open(path: string): Promise<OpenFile> {
    const { host } = this;
    if (path !== STDIN) return await host.openFile(host.path.resolve(host.cwd, path));
    this.input ??= await readInput(host);
    const { size, scratch } = this.input;
    return openAgain(size, (position, into) => scratch.read(position, into));
  }

  private async *readDatabase(path: string): AsyncGenerator<NameCounts, string> {
    if (path === STDIN)
      throw new HostError("ENOTSUP", "it is a database; name its file instead of -");
    const absolute = this.host.path.resolve(this.host.cwd, path);
    if (!(await isDatabase(absolute, this.host)))
      throw new HostError("ENOTSUP", "it is a compressed database; decompress it first");
    const found = await piholeCounts(absolute, this.host, this.byClient);
    for await (const [name, count, client] of found ?? unknown(path)) {
      this.add(name, count, client);
      if (this.isFull()) yield this.handOut();
    }
    return "Pi-hole";
  }

  private countLines(lines: Uint8Array, format: LogFormat): void {
    const scan = this.byClient ? undefined : format.scan;
    if (scan === undefined) {
      for (const line of textLines(lines)) this.countLine(line, format);
      return;
    }
    const { counts } = this;
    const bytes = bufferOf(lines);
    eachLine(bytes, (start, stop) => {
      const end = stop > start && bytes[stop - 1] === CR ? stop - 1 : stop;
      const found = scan(bytes, start, end);
      if (found === "name") {
        this.queries++;
        counts.addBytes(bytes, foundName.start, foundName.end);
      } else if (found === "unknown") this.countLine(bytes.toString("latin1", start, end), format);
    });
  }

  private countLine(line: string, format: LogFormat): void {
    const name = format.nameIn(line);
    if (name === undefined) return;
    const client = this.byClient ? format.clientIn?.(line) : undefined;
    this.add(name, format.countIn?.(line) ?? 1, client ?? "");
  }

  private add(name: string, count: number, client: string): void {
    this.queries += count;
    this.counts.add(name, count, client);
  }

  private isFull(): boolean {
    return this.counts.size >= this.mostNames;
  }

  private handOut(): NameCounts {
    const { counts } = this;
    this.counts = new QueryCounts();
    this.isSplit = true;
    return counts.entries();
  }
}

/** Instead of the path of a log. */
const STDIN = "-";

function labelOf(path: string): string {
  return path === STDIN ? "standard input" : path;
}

interface Input {
  readonly size: number;
  readonly scratch: ReturnType<Host["openScratch"]>;
}

/** Copies standard input to a scratch file: a log may be read once for each list. */
async function readInput(host: Host): Promise<Input> {
  if (host.stdin === undefined)
    throw new HostError("ENOTSUP", "this program was started without one");
  const scratch = host.openScratch();
  let size = 0;
  for await (const piece of host.stdin.bytes()) {
    scratch.append(piece);
    size += piece.length;
  }
  return { size, scratch };
}

/** Whether a file is a database as it is, not only when it is unpacked. */
async function isDatabase(path: string, host: Host): Promise<boolean> {
  const file = await host.openFile(path);
  try {
    const head = new Uint8Array(SQLITE.length);
    await file.read(head, 0);
    return bufferOf(head).toString("latin1") === SQLITE;
  } finally {
    await file.close();
  }
}

/** One character per byte. */
function textLines(lines: Uint8Array): string[] {
  if (lines.length === 0) return [];
  const texts = bufferOf(lines).toString("latin1").split("\n");
  if (texts.at(-1) === "") texts.pop();
  return texts.map((line) => (line.endsWith("\r") ? line.slice(0, -1) : line));
}

function unknown(path: string): never {
  throw new CompilerError([
    errorOf("traffic-unknown", `${printable(labelOf(path))} is not a query log in a known format`),
  ]);
}

/** Longer lines are ignored. An entry of AdGuard Home holds two answers of up to 64 KiB each. */
const LONGEST_LINE = 1024 * 1024;

/** Cuts blocks behind the last line feed, so that each piece has whole lines only. */
export class LineBlocks {
  /** The beginning of the next piece: a line that has not ended yet. */
  private readonly held = new Uint8Array(LONGEST_LINE);
  private length = 0;
  /** Reused: garbage collection of new blocks costs more than copying. */
  private joined = new Uint8Array(0);
  /** Whether the rest of a line that is too long follows. */
  private isTooLong = false;

  /** The lines that end in the block, with their line feeds. The next call may overwrite them. */
  take(block: Uint8Array): Uint8Array {
    const input = bufferOf(block);
    let from = 0;
    if (this.isTooLong) {
      const end = lineEnd(input, 0);
      if (end === input.length) return NOTHING;
      this.isTooLong = false;
      from = end + 1;
    }
    const last = input.lastIndexOf(LF);
    if (last < from) {
      this.hold(input.subarray(from));
      return NOTHING;
    }
    const lines = this.withHeld(input, from, last + 1);
    this.length = 0;
    this.hold(input.subarray(last + 1));
    return lines;
  }

  /** The last line, which may lack its line feed. */
  end(): Uint8Array {
    return this.isTooLong ? NOTHING : this.held.subarray(0, this.length);
  }

  /** A part of the block with the held line before it. */
  private withHeld(input: Uint8Array, from: number, to: number): Uint8Array {
    if (this.length === 0) return input.subarray(from, to);
    const firstEnd = lineEnd(bufferOf(input), from);
    if (this.length + firstEnd - from > LONGEST_LINE) return input.subarray(firstEnd + 1, to);
    const length = this.length + to - from;
    if (length > this.joined.length) this.joined = new Uint8Array(length + LONGEST_LINE);
    this.joined.set(this.held.subarray(0, this.length));
    this.joined.set(input.subarray(from, to), this.length);
    return this.joined.subarray(0, length);
  }

  private hold(part: Uint8Array): void {
    if (this.length + part.length > LONGEST_LINE) {
      this.isTooLong = true;
      this.length = 0;
      return;
    }
    this.held.set(part, this.length);
    this.length += part.length;
  }
}

const NOTHING = new Uint8Array(0);

const BLOCK = 1024 * 1024;
/** Bytes that are unpacked at a time. */
const PIECE = 256 * 1024;

/**
 * The bytes of a log, block by block; `.gz` and `.zst` are unpacked. All blocks but the last are of the same size, so that what a
 * reader learns from the first one does not depend on the packing. A block may be overwritten by the next. Closes the log. Rejects with a `HostError`.
 */
async function* logBlocks(file: OpenFile): AsyncGenerator<Uint8Array> {
  try {
    const make = await unpackerFor(file);
    if (make === undefined) {
      yield* filled(blocksOf(file, new Uint8Array(BLOCK)));
      return;
    }
    const { Readable, pipeline } = await import("node:stream");
    // An error of any part destroys all of them, and the loop below throws it.
    const unpacked = pipeline(Readable.from(blocksOf(file)), make, () => {});
    yield* filled(unpacked as AsyncIterable<Uint8Array>);
  } catch (error) {
    throw toHostError(error);
  } finally {
    await file.close();
  }
}

/** Reads into `own`, or into a new block each time: streams keep references to what they are given. */
async function* blocksOf(file: OpenFile, own?: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let position = 0; ;) {
    const block = own ?? new Uint8Array(BLOCK);
    const count = await file.read(block, position);
    if (count === 0) return;
    position += count;
    yield block.subarray(0, count);
  }
}

async function* filled(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let block = new Uint8Array(BLOCK);
  let length = 0;
  for await (const piece of pieces) {
    if (length === 0 && piece.length === BLOCK) {
      yield piece;
      continue;
    }
    for (let from = 0; from < piece.length;) {
      const part = piece.subarray(from, from + BLOCK - length);
      block.set(part, length);
      from += part.length;
      length += part.length;
      if (length < BLOCK) continue;
      yield block;
      block = new Uint8Array(BLOCK);
      length = 0;
    }
  }
  if (length > 0) yield block.subarray(0, length);
}

async function unpackerFor(file: OpenFile): Promise<NodeJS.ReadWriteStream | undefined> {
  const head = new Uint8Array(4);
  const count = await file.read(head, 0);
  const isGzip = count >= 2 && head[0] === 0x1f && head[1] === 0x8b;
  const isZstd = count === 4 && [0x28, 0xb5, 0x2f, 0xfd].every((byte, at) => head[at] === byte);
  if (!isGzip && !isZstd) return undefined;
  const zlib = await import("node:zlib");
  if (isGzip) return zlib.createGunzip({ chunkSize: PIECE });
  const { createZstdDecompress } = zlib as Partial<typeof zlib>;
  if (createZstdDecompress === undefined)
    throw new HostError("ENOTSUP", "this runtime cannot decompress zstd");
  return createZstdDecompress({ chunkSize: PIECE });
}

/** A database begins with this text. */
const SQLITE = "SQLite format 3\0";
/** Rows that are counted at a time. */
const ROWS = 1_000_000;

type QueryRow = Readonly<Record<string, unknown>>;

/**
 * The names in Pi-hole's long-term database (`pihole-FTL.db`), one character per byte, with the number of their queries, by client if
 * that is asked for. The same name may come again. Undefined if the file is another database. Rejects with a `HostError`.
 */
async function piholeCounts(
  path: string,
  host: Host,
  byClient: boolean,
): Promise<AsyncGenerator<readonly [name: string, count: number, client: string]> | undefined> {
  const ask = async (query: string): Promise<readonly QueryRow[]> => {
    if (host.queryDatabase === undefined)
      throw new HostError("ENOTSUP", "this runtime cannot read SQLite; use Node");
    return await host.queryDatabase(path, query);
  };
  const columns = await ask("SELECT name FROM pragma_table_info('queries')");
  const known = new Set(columns.map(({ name }) => name));
  if (!known.has("id") || !known.has("domain")) return undefined;
  return databaseCounts(ask, byClient && known.has("client") ? "client" : "''");
}

async function* databaseCounts(
  ask: (query: string) => Promise<readonly QueryRow[]>,
  client: string,
): AsyncGenerator<readonly [string, number, string]> {
  const [range] = await ask("SELECT min(id) AS first, max(id) AS last FROM queries");
  const first = Number(range?.["first"] ?? 0);
  const last = Number(range?.["last"] ?? -1);
  for (let from = first; from <= last; from += ROWS) {
    const rows = await ask(
      `SELECT domain, ${client} AS asker, count(*) AS queries FROM queries WHERE id >= ${from} AND id < ${from + ROWS} GROUP BY domain, asker`,
    );
    for (const { domain, asker, queries } of rows)
      if (typeof domain === "string")
        yield [latin1(domain), Number(queries), typeof asker === "string" ? latin1(asker) : ""];
  }
}

function latin1(text: string): string {
  return Buffer.from(text).toString("latin1");
}

/** Names in lower case with the number of their queries, and the client if it was asked for; empty if the log has none. */
export type NameCounts = Iterable<readonly [name: string, count: number, client: string]>;

/** Counts queries by name and client. Texts have one character per byte. */
export class QueryCounts {
  private readonly clients = new Map<string, Counts>();
  /** The client of the last query, which mostly asks again. */
  private last = { client: "", counts: new Counts() };
  private known = 0;

  constructor() {
    this.clients.set("", this.last.counts);
  }

  /** The number of different pairs of name and client. */
  get size(): number {
    return this.known;
  }

  add(name: string, count: number, client: string): void {
    const bytes = Buffer.from(name, "latin1");
    if (this.countsOf(client).add(bytes, 0, bytes.length, count)) this.known++;
  }

  /** Adds a query without client. The name is a part of the bytes. */
  addBytes(bytes: Uint8Array, start: number, end: number): void {
    if (this.countsOf("").add(bytes, start, end, 1)) this.known++;
  }

  private countsOf(client: string): Counts {
    if (client !== this.last.client)
      this.last = { client, counts: this.clients.get(client) ?? this.enter(client) };
    return this.last.counts;
  }

  /** A copy of the client: a part of a string would keep the whole line in memory. */
  private enter(client: string): Counts {
    const counts = new Counts();
    this.clients.set(Buffer.from(client, "latin1").toString("latin1"), counts);
    return counts;
  }

  *entries(): Generator<readonly [string, number, string]> {
    for (const [client, counts] of this.clients)
      for (const [name, count] of counts.entries()) yield [name, count, client];
  }
}

/** The sums of one client. Names are held as bytes: a string per name would take three times the memory, one per query twice the time. */
class Counts {
  private readonly names = new ByteBuffer();
  private readonly table = new SliceTable(this.names.bytes);
  private readonly sums: number[] = [];

  /** Whether the name is new. */
  add(bytes: Uint8Array, start: number, end: number, count: number): boolean {
    if (!isCanonical(bytes, start, end)) {
      const name = canonical(bytes, start, end);
      return this.addCanonical(name, 0, name.length, count);
    }
    return this.addCanonical(bytes, start, end, count);
  }

  private addCanonical(bytes: Uint8Array, start: number, end: number, count: number): boolean {
    const { names, table, sums } = this;
    const hash = hashSlice(bytes, start, end);
    const known = table.find(bytes, start, end, hash);
    if (known !== -1) {
      sums[known]! += count;
      return false;
    }
    const at = names.append(bytes, start, end);
    table.bytes = names.bytes;
    table.enter(at, names.length, hash);
    sums.push(count);
    return true;
  }

  *entries(): Generator<readonly [string, number]> {
    const { table, sums } = this;
    const names = bufferOf(this.names.bytes);
    for (const [number, count] of sums.entries())
      yield [names.toString("utf8", table.startOf(number), table.endOf(number)), count];
  }
}

/** Whether a name is in ASCII without upper-case letters, and does not end with a dot. */
function isCanonical(bytes: Uint8Array, start: number, end: number): boolean {
  for (let at = start; at < end; at++) {
    const byte = bytes[at]!;
    if (byte >= 0x80 || (byte >= 0x41 && byte <= 0x5a)) return false;
  }
  return end === start || bytes[end - 1] !== 0x2e;
}

/** The name in lower case, without the final dot. */
function canonical(bytes: Uint8Array, start: number, end: number): Uint8Array {
  const text = bufferOf(bytes).toString("utf8", start, end).toLowerCase();
  return Buffer.from(text.endsWith(".") ? text.slice(0, -1) : text);
}
