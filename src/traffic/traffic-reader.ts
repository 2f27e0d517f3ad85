import { CR, LF } from "../bytes/ascii.ts";
import { bufferOf } from "../bytes/search.ts";
import { CompilerError, errorOf } from "../diagnostics/diagnostic.ts";
import { printable } from "../diagnostics/printable.ts";
import { reasonOf } from "../diagnostics/reason.ts";
import { type Host, HostError, type OpenFile } from "../host/host.ts";
import { openAgain } from "../sources/web-text.ts";
import { LineBlocks } from "./line-blocks.ts";
import { logBlocks } from "./log-blocks.ts";
import { type LogFormat, logFormatOf } from "./log-formats.ts";
import { foundName } from "./scan-line.ts";
import { SQLITE, piholeCounts } from "./pihole-database.ts";
import { type NameCounts, QueryCounts } from "./query-counts.ts";

/** A query log that was read. */
export interface TrafficFile {
  readonly file: string;
  readonly format: string;
  readonly queries: number;
}

export interface TrafficOptions {
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
    for (let start = 0; start < bytes.length;) {
      const next = bytes.indexOf(LF, start);
      const stop = next === -1 ? bytes.length : next;
      const end = stop > start && bytes[stop - 1] === CR ? stop - 1 : stop;
      const found = scan(bytes, start, end);
      if (found === "name") {
        this.queries++;
        counts.addBytes(bytes, foundName.start, foundName.end);
      } else if (found === "unknown") this.countLine(bytes.toString("latin1", start, end), format);
      start = stop + 1;
    }
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
