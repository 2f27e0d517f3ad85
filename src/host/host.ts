import type { PlatformPath } from "node:path";

/** The outside world. Everything the compiler reads, writes, waits for or prints goes through one of these. */
export interface Host {
  readonly cwd: string;
  /** How paths are written here: `node:path` of the system whose files these are. */
  readonly path: PlatformPath;
  readonly env: Readonly<Record<string, string | undefined>>;
  now(): Date;
  /** Rejects with a `HostError`. */
  readFile(path: string): Promise<Uint8Array>;
  /** A regular file to be read in blocks. Rejects with a `HostError`. */
  openFile(path: string): Promise<OpenFile>;
  exists(path: string): Promise<boolean>;
  /** The path with every link resolved. Rejects with a `HostError` when nothing is there. */
  realPath(path: string): Promise<string>;
  makeFolder(path: string): Promise<void>;
  /** Creates a file that must not exist, with the permissions of another one, if there is one. Throws a `HostError`. */
  createFile(path: string, like?: string): NewFile;
  /** A nameless file for what does not fit into memory; it goes when it is closed or the process ends. Throws a `HostError`. */
  openScratch(): Scratch;
  /**
   * Where scratch files go, and the bytes that are free there (Infinity when nobody knows). Where the folder lies in memory,
   * that is not more than what this process may still use.
   */
  scratchSpace(): Promise<{ readonly folder: string; readonly free: number }>;
  /** Bytes of a file; 0 when there is none. */
  sizeOf(path: string): Promise<number>;
  /** What tells a file from an earlier state of itself without reading it; undefined when there is none. */
  stampOf(path: string): Promise<FileStamp | undefined>;
  /** Bytes of memory that this process may use: the machine's, or less where a container says so. */
  memoryLimit(): number;
  /** Processors that may be used. */
  processors(): number;
  /** Runs a module in another thread; undefined where that cannot be. Without the method nothing is tried. */
  startThread?(entry: URL, data: object): Thread | undefined;
  /** This process, for others to ask about. */
  processId(): ProcessId;
  /** Whether a process still runs; undefined when that cannot be seen from here. */
  isRunning(id: ProcessId): boolean | undefined;
  /** Names in a folder; none when there is no such folder. */
  listFolder(path: string): Promise<string[]>;
  /** What is at a path, without following a link; undefined when nothing is. */
  kindOf(path: string): Promise<"file" | "folder" | "link" | "other" | undefined>;
  /** Where a link leads, one step; undefined when it is none. Without the method links are not followed. */
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
  /** Resolves after so many milliseconds, or when the signal says so. */
  wait(ms: number, signal?: AbortSignal): Promise<void>;
  /** Runs this very program with other words, apart from this process; undefined where that cannot be. */
  runSelf?(run: SelfRun): Promise<SelfRunEnd>;
  /** Answers HTTP requests until it is closed. Rejects with a `HostError` when the address is not to be had. */
  listen?(place: ListenPlace, answer: Answerer): Promise<Listening>;
  /** Ends the process by a signal that comes while it computes and does not hear it. */
  watchSignals?(watch: SignalWatch): void;
  /** Calls the listener at every SIGHUP, which then does not end the program. */
  onHangup?(listener: () => void): void;
  /** A file packed into another, which must not exist; undefined when this runtime has no such packing. */
  packFile?(from: string, to: string, packing: Packing, pace?: "quick"): Promise<void> | undefined;
  /** Rows that a query finds in an SQLite file, which is not written to. Rejects with a `HostError`. */
  queryDatabase?(path: string, query: string): Promise<readonly Record<string, unknown>[]>;
  /** Runs a module of the user's own and returns what it exports. Rejects with whatever it throws. */
  importModule?(path: string): Promise<unknown>;
  /** Shows a file in the browser. Rejects with a `HostError` when there is none. */
  openInBrowser?(path: string): Promise<void>;
  /** Where programs of this user keep what can be fetched again; undefined when nobody knows. */
  cacheDir(): string | undefined;
  /** What is piped into the program. */
  readonly stdin?: TextSource;
  readonly stdout: TextSink;
  readonly stderr: TextSink;
}

export interface Thread {
  stop(): void;
}

export interface SelfRun {
  readonly words: readonly string[];
  /** Told to stop, it gets a few seconds for it. */
  readonly signal: AbortSignal;
  /** Takes what it says on standard error, line by line. */
  onLine(line: string): void;
}

export interface SelfRunEnd {
  /** Its exit code; undefined when a signal ended it. */
  readonly exit: number | undefined;
  readonly stdout: string;
}

export interface SignalWatch {
  /** Written to standard error when the process is ended. */
  readonly farewell: string;
  /** The exit code by the name of the signal. */
  readonly exits: Readonly<Record<string, number>>;
}

export type Packing = "gzip" | "br" | "zstd";

export interface ListenPlace {
  readonly address: string;
  /** 0 takes any that is free. */
  readonly port: number;
  /** The most connections that one client may hold. */
  readonly connectionsPerClient: number;
}

export interface Listening {
  readonly address: string;
  readonly port: number;
  /** Requests that are being answered are given a moment. */
  close(): Promise<void>;
}

export interface WebRequest {
  readonly method: string;
  /** Path and query, as they came. */
  readonly target: string;
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** Who asks. */
  readonly address: string;
}

export interface WebReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** `headers` must say how long pieces are together. None are taken when only the head was asked for. */
  readonly body: string | Uint8Array | AsyncIterable<Uint8Array>;
}

export type Answerer = (request: WebRequest) => WebReply | Promise<WebReply>;

export interface ProcessId {
  readonly pid: number;
  /** When it began, as the system counts; "" when it does not tell. */
  readonly began: string;
  /** The machine or container that the number means something in. */
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
  /** Fills the bytes from a position, or from where the last read ended; 0 at the end of the file. Rejects with a `HostError`. */
  read(into: Uint8Array, position?: number): Promise<number>;
  close(): Promise<void>;
}

/** A file that grows while the list is made, which is why it does not wait. */
export interface NewFile {
  /** Throws a `HostError`. */
  write(bytes: Uint8Array): void;
  /** Flushes to the disk and closes. Rejects with a `HostError`. */
  finish(): Promise<void>;
  /** Closes without a word. */
  abandon(): void;
}

/** Text that somebody sends. */
export interface TextSource {
  /** Its lines, as many at a time as are there: a promise for each would take as long as an answer to it. */
  lines(): AsyncIterable<readonly string[]>;
  readonly isTerminal?: boolean;
}

/** Room outside memory. The work in between never waits, so neither does this; all throw a `HostError`. */
export interface Scratch {
  /** Appends and returns the position. */
  append(bytes: Uint8Array): number;
  rewrite(position: number, bytes: Uint8Array): void;
  read(position: number, into: Uint8Array): void;
  close(): void;
}

export interface TextSink {
  /** Says something; nobody waits for it. */
  write(text: string): void;
  /** Hands data over and waits until it is taken. Rejects with a `HostError`; `EPIPE` when the reader left. */
  send(data: string | Uint8Array): Promise<void>;
  readonly isTerminal: boolean;
  readonly columns: number;
}

export interface FetchRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly timeouts: FetchTimeouts;
  /** Bytes of body after which the request is given up. */
  readonly maxBytes: number;
  /** Whether only addresses of the public internet may be spoken to (`EPRIVATE`). */
  readonly onlyPublic: boolean;
  /** The proxy to go through; it then resolves names. */
  readonly proxy?: URL | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Whether the body of any answer is wanted, not only that of status 200. */
  readonly takesAnyStatus?: boolean;
  /** Takes the body of an answer of status 200 as it arrives, still encoded. What it throws ends the exchange. */
  take(piece: Uint8Array): void;
}

export interface FetchTimeouts {
  readonly connectMs: number;
  readonly headersMs: number;
  readonly idleMs: number;
  readonly totalMs: number;
}

/** One exchange; redirects are the caller's business. */
export interface FetchResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Whether nothing but the end of the connection says where the body ends: it may have been cut. */
  readonly isUnframed?: boolean;
}

/** What the outside world refused, with the system's own code (`ENOENT`, `ECONNREFUSED`, `ETIMEDOUT`, …). */
export class HostError extends Error {
  readonly code: string;

  constructor(code: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "HostError";
    this.code = code;
  }
}

/** The `HostError` for whatever a runtime threw. Deno 2.0 leaves `code` out here and there; the text still has it. */
export function toHostError(error: unknown): HostError {
  if (error instanceof HostError) return error;
  const cause = error instanceof Error ? error : new Error(String(error));
  const own = (cause as { code?: unknown }).code;
  const named = /\b(E[A-Z0-9]{3,}|ERR_[A-Z_]+)\b/.exec(cause.message)?.[1];
  return new HostError(typeof own === "string" ? own : (named ?? "EUNKNOWN"), cause.message, {
    cause,
  });
}
