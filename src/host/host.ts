import type { PlatformPath } from "node:path";
import { setImmediate } from "node:timers/promises";

/** Access to the outside world. Everything that the compiler reads, writes, waits for or prints goes through a host. */
export interface Host {
  readonly cwd: string;
  /** `node:path` of the system that the files belong to. */
  readonly path: PlatformPath;
  readonly env: Readonly<Record<string, string | undefined>>;
  now(): Date;
  /** Rejects with a `HostError`. */
  readFile(path: string): Promise<Uint8Array>;
  /** Opens a regular file for reading in blocks. Rejects with a `HostError`. */
  openFile(path: string): Promise<OpenFile>;
  exists(path: string): Promise<boolean>;
  /** The path with every link resolved. Rejects with a `HostError` if it does not exist. */
  realPath(path: string): Promise<string>;
  makeFolder(path: string): Promise<void>;
  /** Creates a file that must not exist, with the permissions of `like` if that exists, otherwise with `mode`. Throws a `HostError`. */
  createFile(path: string, like?: string, mode?: number): NewFile;
  /** Appends to a file and flushes it to the disk; creates it if it does not exist. Rejects with a `HostError`. */
  appendFile(path: string, bytes: Uint8Array): Promise<void>;
  /** An anonymous temporary file, removed when it is closed or the process ends. Throws a `HostError`. */
  openScratch(): Scratch;
  /**
   * The folder of scratch files and its free bytes (Infinity if unknown). For a folder in memory, this is at most the
   * memory that the process may still use.
   */
  scratchSpace(): Promise<{ readonly folder: string; readonly free: number }>;
  /** The permission bits of a file, as `chmod` takes them; undefined if it does not exist. Absent where files have none. */
  modeOf?(path: string): Promise<number | undefined>;
  /** Bytes of a file; 0 if it does not exist. */
  sizeOf(path: string): Promise<number>;
  /** Detects changes of a file without reading it; undefined if it does not exist. */
  stampOf(path: string): Promise<FileStamp | undefined>;
  /** Bytes of memory that this process may use: the machine's, or the limit of the container. */
  memoryLimit(): number;
  /** Identifies this process to other processes. */
  processId(): ProcessId;
  /** The name of the user who runs this process; undefined if unknown. */
  userName?(): string | undefined;
  /** Whether a process still runs; undefined if unknown. */
  isRunning(id: ProcessId): boolean | undefined;
  /** Names in a folder; empty if it does not exist. */
  listFolder(path: string): Promise<string[]>;
  /** The kind of file at a path, without following links; undefined if nothing exists. */
  kindOf(path: string): Promise<"file" | "folder" | "link" | "other" | undefined>;
  /** The target of a link; undefined if the path is not a link. Without this method links are not followed. */
  readLink?(path: string): Promise<string | undefined>;
  /** Gives a file another name, which must not be in use (`EEXIST`). Rejects with a `HostError`. */
  link(from: string, to: string): Promise<void>;
  /** Sets the time of a file to now. Rejects with a `HostError`. */
  touch(path: string): Promise<void>;
  /** Replaces `to` in one step. */
  rename(from: string, to: string): Promise<void>;
  removeFile(path: string): Promise<void>;
  /** Flushes a folder, so that a rename in it survives a power cut. */
  syncFolder(path: string): Promise<void>;
  fetch(request: FetchRequest): Promise<FetchResponse>;
  /** Sends one message to a server and passes on what comes back. Rejects with a `HostError`; `ETIMEDOUT` after `timeoutMs`. */
  exchange?(exchange: Exchange): Promise<void>;
  /** Resolves after the given milliseconds, or when the signal is aborted. */
  wait(ms: number, signal?: AbortSignal): Promise<void>;
  /** Runs this program with other arguments in a child process. */
  runSelf?(run: SelfRun): Promise<SelfRunEnd>;
  /** Runs another program to its end, without a shell. Rejects with a `HostError` if it cannot be started. */
  runProgram?(run: ProgramRun): Promise<ProgramEnd>;
  /** Sends a signal such as `SIGHUP` to a process. Throws a `HostError`. */
  sendSignal?(pid: number, signal: string): void;
  /**
   * Answers HTTP requests until it is closed, and reports errors of answers. Rejects with a `HostError` if the address is in use
   * or not available.
   */
  listen?(place: ListenAddress, answer: Answerer, onError: OnError): Promise<Listening>;
  /** Ends the process on a signal that arrives while the event loop is blocked. */
  watchSignals?(watch: SignalWatch): void;
  /** Calls the listener on every SIGHUP, which then does not end the program. */
  onHangup?(listener: () => void): void;
  /** Compresses a file into another, which must not exist; undefined if the runtime lacks this format. */
  packFile?(from: string, to: string, packing: Packing, pace?: "quick"): Promise<void> | undefined;
  /** Queries an SQLite file, read-only. Rejects with a `HostError`. */
  queryDatabase?(path: string, query: string): Promise<readonly Record<string, unknown>[]>;
  /** Imports a plugin module and returns its exports. Rejects with whatever it throws. */
  importModule?(path: string): Promise<unknown>;
  /** The cache folder of this user; undefined if unknown. */
  cacheDir(): string | undefined;
  /** Standard input. */
  readonly stdin?: TextSource;
  readonly stdout: TextSink;
  readonly stderr: TextSink;
}

export interface SelfRun {
  readonly words: readonly string[];
  /** After an abort, the run has a few seconds to stop. */
  readonly signal: AbortSignal;
  /** Whether everything else on the machine goes first, where the system can do that. */
  readonly isBackground?: boolean;
  /** A run that prints more to standard output is stopped. */
  readonly maxBytes?: number;
  /** Receives its standard error, line by line. */
  onLine(line: string): void;
}

export interface SelfRunEnd {
  /** Its exit code; undefined if a signal ended it. */
  readonly exit: number | undefined;
  readonly stdout: string;
}

export interface ProgramRun {
  /** The program and its arguments. */
  readonly words: readonly string[];
  /** Its working directory. */
  readonly folder: string;
  /** Its whole environment. */
  readonly env: Readonly<Record<string, string>>;
  /** Its standard input. */
  readonly input: string;
  /** It is ended after this time, with all processes of its group. */
  readonly timeoutMs: number;
  /** After an abort, it is ended, too. */
  readonly signal: AbortSignal;
}

export interface ProgramEnd {
  /** Its exit code; undefined if a signal ended it. */
  readonly exit: number | undefined;
  /** Whether it was ended because of the time limit. */
  readonly isLate: boolean;
  /** The end of what it printed to standard output and standard error. */
  readonly output: string;
  /** How much it printed. */
  readonly bytes: number;
}

export interface SignalWatch {
  /** The message for standard error when the process is ended. */
  readonly farewell: string;
  /** Exit codes by signal name. */
  readonly exits: Readonly<Record<string, number>>;
}

export type Packing = "gzip" | "br" | "zstd";

export interface ListenAddress {
  readonly address: string;
  /** 0 selects a free port. */
  readonly port: number;
  /** Maximum number of connections per client. */
  readonly connectionsPerClient: number;
}

export interface Listening {
  readonly address: string;
  readonly port: number;
  /** Gives current requests a moment to finish. */
  close(): Promise<void>;
}

export interface WebRequest {
  readonly method: string;
  /** Path and query, as received. */
  readonly target: string;
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** The address of the client. */
  readonly address: string;
}

export interface WebReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** For an iterable, `headers` must have its length. It is not read for HEAD requests. */
  readonly body: string | Uint8Array | AsyncIterable<Uint8Array>;
}

/** Takes what was thrown. */
export type OnError = (error: unknown) => void;

export type Answerer = (request: WebRequest) => WebReply | Promise<WebReply>;

export interface ProcessId {
  readonly pid: number;
  /** Its start time in units of the system; "" if unknown. */
  readonly began: string;
  /** The machine or container in which the pid is valid. */
  readonly machine: string;
}

export interface FileStamp {
  /** Size, time of the last change and identity, as text. */
  readonly text: string;
  /** When it was last changed, in milliseconds. */
  readonly changed: number;
}

export interface OpenFile {
  readonly size: number;
  readonly stamp: FileStamp;
  /** Reads from a position, by default where the last read ended; returns 0 at the end. Rejects with a `HostError`. */
  read(into: Uint8Array, position?: number): Promise<number>;
  close(): Promise<void>;
}

/** A file that is written synchronously while the list is built. */
export interface NewFile {
  /** Throws a `HostError`. */
  write(bytes: Uint8Array): void;
  /** Replaces bytes that were written before. Throws a `HostError`. */
  rewrite(position: number, bytes: Uint8Array): void;
  /** Flushes to the disk and closes. Rejects with a `HostError`. */
  finish(): Promise<void>;
  /** Closes it and ignores errors. */
  abandon(): void;
}

/** A stream of input. It can be read once. */
export interface TextSource {
  bytes(): AsyncIterable<Uint8Array>;
  /** Batches of available lines: one promise per line would be slow. An abort ends them. */
  lines(signal?: AbortSignal): AsyncIterable<readonly string[]>;
  readonly isTerminal?: boolean;
}

/** A scratch file. All methods are synchronous and throw a `HostError`. */
export interface Scratch {
  /** Appends and returns the position. */
  append(bytes: Uint8Array): number;
  rewrite(position: number, bytes: Uint8Array): void;
  read(position: number, into: Uint8Array): void;
  close(): void;
}

export interface TextSink {
  /** Writes without waiting. */
  write(text: string): void;
  /** Writes and waits until the data was accepted. Rejects with a `HostError`; `EPIPE` if the reader has closed. */
  send(data: string | Uint8Array): Promise<void>;
  readonly isTerminal: boolean;
  readonly columns: number;
}

export interface FetchRequest {
  readonly url: string;
  /** GET by default. */
  readonly method?: "GET" | "HEAD" | "POST" | "PUT" | "DELETE";
  /** For an iterable, `headers` must have its length. */
  readonly body?: Uint8Array | AsyncIterable<Uint8Array>;
  readonly headers: Readonly<Record<string, string>>;
  readonly timeouts: FetchTimeouts;
  /** Maximum size of the body in bytes. */
  readonly maxBytes: number;
  /** Whether only public IP addresses may be contacted (`EPRIVATE`). */
  readonly onlyPublic: boolean;
  /** The proxy to use; it then resolves names. */
  readonly proxy?: URL | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Whether to receive the body of any status, not only of 200. */
  readonly takesAnyStatus?: boolean;
  /** Called before the first piece with the bytes that the server announces. */
  readonly expect?: (bytes: number) => void;
  /** Receives the body of a response with status 200 as it arrives, still encoded. Exceptions end the exchange. */
  take(piece: Uint8Array): void;
}

/** One message to a server, and the answer. */
export interface Exchange {
  readonly protocol: "udp" | "tcp" | "tls";
  /** An IP address or a host name. */
  readonly address: string;
  readonly port: number;
  /** For `tls`: the name in the certificate, if it is not that of the address. */
  readonly serverName?: string | undefined;
  readonly message: Uint8Array;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
  /** Takes a datagram from the server, or the next piece of a stream. Returns whether the answer is complete. */
  take(piece: Uint8Array): boolean;
}

export interface FetchTimeouts {
  readonly connectMs: number;
  readonly headersMs: number;
  readonly idleMs: number;
  readonly totalMs: number;
}

/** One exchange; the caller follows redirects. */
export interface FetchResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Whether only the end of the connection marks the end of the body, which may thus be truncated. */
  readonly isUnframed?: boolean;
}

/** A failure of the outside world, with the code of the system (`ENOENT`, `ECONNREFUSED`, `ETIMEDOUT`, …). */
export class HostError extends Error {
  readonly code: string;

  constructor(code: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "HostError";
    this.code = code;
  }
}

/** Converts any exception into a `HostError`. Deno 2.0 sometimes omits `code`; the message still has it. */
export function toHostError(error: unknown): HostError {
  if (error instanceof HostError) return error;
  const cause = error instanceof Error ? error : new Error(String(error));
  const own = (cause as { code?: unknown }).code;
  const named = /\b(E[A-Z0-9]{3,}|ERR_[A-Z_]+)\b/.exec(cause.message)?.[1];
  return new HostError(typeof own === "string" ? own : (named ?? "EUNKNOWN"), cause.message, {
    cause,
  });
}

export function joinBytes(parts: readonly Uint8Array[], length: number): Uint8Array {
  const joined = new Uint8Array(length);
  let at = 0;
  for (const part of parts) {
    joined.set(part, at);
    at += part.length;
  }
  return joined;
}

/** Timers and signals are handled only when the event loop turns. Users do not notice a delay of this length. */
const EVERY_MS = 50;

/** A place in long work where the event loop may turn, and where the work ends if its signal is aborted. */
export class Checkpoint {
  private readonly signal: AbortSignal | undefined;
  private last: number = performance.now();

  constructor(signal: AbortSignal | undefined) {
    this.signal = signal;
  }

  /** Waits only when it is due, and only if there is a signal. Rejects with the signal's reason. */
  pass(): Promise<void> | undefined {
    const { signal } = this;
    if (signal === undefined) return undefined;
    signal.throwIfAborted();
    return performance.now() - this.last < EVERY_MS ? undefined : this.rest(signal);
  }

  /** Always waits. */
  async yieldNow(): Promise<void> {
    if (this.signal !== undefined) await this.rest(this.signal);
  }

  private async rest(signal: AbortSignal): Promise<void> {
    // Timers run between the two; waiting for one would take a millisecond.
    await setImmediate();
    await setImmediate();
    this.last = performance.now();
    signal.throwIfAborted();
  }
}

/** What a configuration may do only with permission, because it may come from elsewhere. */
export const PERMITS = ["hooks", "plugins", "paths"] as const;

export type Permit = (typeof PERMITS)[number];

/** A file that all parts of a run read once, and what it contains. */
export class ReadOnce<T> {
  /** As it was named. */
  readonly path: string;
  private readonly host: Host;
  private bytes: Promise<Uint8Array> | undefined;
  private content: Promise<T> | undefined;

  constructor(path: string, host: Host) {
    this.path = path;
    this.host = host;
  }

  /** Rejects with a `HostError`. */
  async read(): Promise<Uint8Array> {
    const { host, path } = this;
    return await (this.bytes ??= host.readFile(host.path.resolve(host.cwd, path)));
  }

  /** The result of the first call. */
  async opened(open: () => Promise<T>): Promise<T> {
    return await (this.content ??= open());
  }
}
