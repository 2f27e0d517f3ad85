import { Buffer } from "node:buffer";
import { bufferOf } from "../bytes/search.ts";
import { CompilerError, errorOf } from "../diagnostics/diagnostic.ts";
import { printable } from "../diagnostics/printable.ts";
import { reasonOf } from "../diagnostics/reason.ts";
import { type Host, HostError } from "../host/host.ts";
import { logBlocks } from "./log-blocks.ts";
import { type LogFormat, logFormatOf } from "./log-formats.ts";
import { SQLITE, piholeCounts } from "./pihole-database.ts";

/** A query log that was read. */
export interface TrafficFile {
  readonly file: string;
  readonly format: string;
  readonly queries: number;
}

/** Names in lower case with the number of their queries. */
export type NameCounts = Iterable<readonly [name: string, count: number]>;

/** Longer lines are ignored. An entry of AdGuard Home holds two answers of up to 64 KiB each. */
const LONGEST_LINE = 1024 * 1024;

/** Counts the queries of logs by name, in bounded memory: when there are too many names, it hands out what it has and starts again. */
export class TrafficReader {
  /** The logs that were read so far. */
  readonly files: TrafficFile[] = [];
  private readonly paths: readonly string[];
  private readonly host: Host;
  private readonly mostNames: number;
  private counts = new Counts();
  private queries = 0;

  constructor(paths: readonly string[], host: Host, mostNames = 1_000_000) {
    this.paths = paths;
    this.host = host;
    this.mostNames = mostNames;
  }

  /** The counts of all logs, in one batch or several. The same name may be in more than one. Rejects with a `CompilerError`. */
  async *batches(): AsyncGenerator<NameCounts> {
    for (const path of this.paths) {
      this.queries = 0;
      const format = yield* this.read(path);
      this.files.push({ file: path, format, queries: this.queries });
    }
    yield this.handOut();
  }

  private async *read(path: string): AsyncGenerator<NameCounts, string> {
    const { host } = this;
    const absolute = host.path.resolve(host.cwd, path);
    const lines = new LineBlocks();
    let format: LogFormat | undefined;
    try {
      for await (const block of logBlocks(absolute, host)) {
        if (format === undefined && bufferOf(block).toString("latin1", 0, 16) === SQLITE)
          return yield* this.readDatabase(absolute, path);
        const complete = lines.take(block);
        if (complete.length === 0) continue;
        format ??= logFormatOf(complete) ?? unknown(path);
        this.countLines(complete, format);
        if (this.counts.size >= this.mostNames) yield this.handOut();
      }
      const last = lines.end();
      format ??= logFormatOf(last) ?? unknown(path);
      this.countLines(last, format);
      return format.name;
    } catch (error) {
      if (!(error instanceof HostError)) throw error;
      throw new CompilerError([
        errorOf("traffic-unreadable", `Cannot read ${printable(path)}`, {
          cause: reasonOf(error.code, error.message),
        }),
      ]);
    }
  }

  private async *readDatabase(absolute: string, path: string): AsyncGenerator<NameCounts, string> {
    const found = await piholeCounts(absolute, this.host);
    for await (const [name, count] of found ?? unknown(path)) {
      this.add(name, count);
      if (this.counts.size >= this.mostNames) yield this.handOut();
    }
    return "Pi-hole";
  }

  private countLines(lines: readonly string[], format: LogFormat): void {
    for (const line of lines) {
      const name = format.nameIn(line);
      if (name !== undefined) this.add(name, format.countIn?.(line) ?? 1);
    }
  }

  private add(name: string, count: number): void {
    this.queries += count;
    this.counts.add(name, count);
  }

  private handOut(): NameCounts {
    const { counts } = this;
    this.counts = new Counts();
    return counts.entries();
  }
}

/** The map has positions instead of counts, so that a known name takes one search, not two. */
class Counts {
  private readonly positions = new Map<string, number>();
  private readonly sums: number[] = [];

  get size(): number {
    return this.positions.size;
  }

  add(name: string, count: number): void {
    const position = this.positions.get(name) ?? this.enter(ownName(name));
    this.sums[position]! += count;
  }

  private enter(name: string): number {
    const known = this.positions.get(name);
    if (known !== undefined) return known;
    this.positions.set(name, this.sums.length);
    return this.sums.push(0) - 1;
  }

  *entries(): Generator<readonly [string, number]> {
    for (const [name, position] of this.positions) yield [name, this.sums[position]!];
  }
}

/** In lower case. A copy: a part of a string would keep the whole block in memory. */
function ownName(name: string): string {
  const bytes = Buffer.from(name, "latin1");
  const text = bytes.toString("utf8").toLowerCase();
  return text.endsWith(".") ? text.slice(0, -1) : text;
}

function unknown(path: string): never {
  throw new CompilerError([
    errorOf("traffic-unknown", `${printable(path)} is not a query log in a known format`),
  ]);
}

/** Cuts blocks into lines, with one character per byte. */
class LineBlocks {
  private rest = "";
  private isTooLong = false;

  /** The lines that end in the block. */
  take(block: Uint8Array): string[] {
    const lines = bufferOf(block).toString("latin1").split("\n");
    const next = lines.pop()!;
    if (lines.length === 0) {
      this.grow(next);
      return lines;
    }
    this.grow(lines[0]!);
    if (this.isTooLong) lines.shift();
    else lines[0] = this.rest;
    this.rest = next;
    this.isTooLong = false;
    return lines.map(withoutReturn);
  }

  /** The last line, which may lack its line feed. */
  end(): string[] {
    return this.rest === "" || this.isTooLong ? [] : [withoutReturn(this.rest)];
  }

  private grow(text: string): void {
    if (this.rest.length + text.length > LONGEST_LINE) this.isTooLong = true;
    this.rest = this.isTooLong ? "" : this.rest + text;
  }
}

function withoutReturn(line: string): string {
  return line.endsWith("\r") ? line.slice(0, -1) : line;
}
