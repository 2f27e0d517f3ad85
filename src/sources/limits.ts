import type { Code } from "../diagnostics/codes.ts";
import { CompilerError, type Diagnostic, errorOf } from "../diagnostics/render.ts";
import { DAY_MS, printable, reasonOf, withoutCredentials, webHint } from "../diagnostics/text.ts";
import { type FetchTimeouts, type Host, HostError, type Scratch } from "../host/host.ts";

/** The slots of one source. Its time limit starts with its first slot, so that waiting for others does not count. */
export class SourceSlots {
  inUse = 0;
  hasBegun = false;
  private readonly onBegin: () => void;

  constructor(onBegin: () => void = () => {}) {
    this.onBegin = onBegin;
  }

  take(): void {
    this.inUse++;
    if (this.hasBegun) return;
    this.hasBegun = true;
    this.onBegin();
  }
}

interface Waiting {
  readonly host: string;
  readonly turn: SourceSlots;
  go(): void;
}

/**
 * Limits concurrent requests, in total and per server. Among those that wait, the source with the fewest slots comes
 * first, then one whose time limit has started, then the one that has waited longest.
 */
export class HostSlots {
  private readonly limits: FetchLimits;
  private inUse = 0;
  private readonly byHost = new Map<string, number>();
  private readonly waiting: Waiting[] = [];

  constructor(limits: FetchLimits) {
    this.limits = limits;
  }

  /** Rejects with a `HostError` if the signal is aborted while it waits. */
  async run<T>(
    host: string,
    turn: SourceSlots,
    signal: AbortSignal | undefined,
    work: () => Promise<T>,
  ): Promise<T> {
    if (this.isFree(host)) this.take(host, turn);
    else await this.wait(host, turn, signal);
    try {
      return await work();
    } finally {
      this.inUse--;
      turn.inUse--;
      this.byHost.set(host, this.byHost.get(host)! - 1);
      this.letNextGo();
    }
  }

  private wait(host: string, turn: SourceSlots, signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const onAbort = (): void => {
        this.waiting.splice(this.waiting.indexOf(one), 1);
        reject(new HostError("ECANCELED", "the run was stopped"));
      };
      const one: Waiting = {
        host,
        turn,
        go() {
          signal?.removeEventListener("abort", onAbort);
          resolve();
        },
      };
      this.waiting.push(one);
      if (signal?.aborted === true) onAbort();
      else signal?.addEventListener("abort", onAbort, { once: true });
    });
  }

  private letNextGo(): void {
    let next: Waiting | undefined;
    for (const one of this.waiting)
      if (this.isFree(one.host) && (next === undefined || isBefore(one.turn, next.turn)))
        next = one;
    if (next === undefined) return;
    this.waiting.splice(this.waiting.indexOf(next), 1);
    // Taken here, because another request may arrive before this one continues.
    this.take(next.host, next.turn);
    next.go();
  }

  private isFree(host: string): boolean {
    const { atOnce, atOnceWithHost } = this.limits;
    return this.inUse < atOnce && (this.byHost.get(host) ?? 0) < atOnceWithHost;
  }

  private take(host: string, turn: SourceSlots): void {
    this.inUse++;
    this.byHost.set(host, (this.byHost.get(host) ?? 0) + 1);
    turn.take();
  }
}

function isBefore(a: SourceSlots, b: SourceSlots): boolean {
  if (a.inUse !== b.inUse) return a.inUse < b.inUse;
  return a.hasBegun && !b.hasBegun;
}

/** The limits of a remote source: time, retries, bytes. */
export interface FetchLimits {
  /** For one exchange. */
  readonly timeouts: FetchTimeouts;
  /** For a source with all its retries, redirects, mirrors and includes. */
  readonly sourceMs: number;
  /** Retries after transient failures. */
  readonly retries: number;
  /** The pause before the first retry; it doubles with every further one. */
  readonly pauseMs: number;
  /** The longest pause that a server may ask for. */
  readonly longestPauseMs: number;
  /** How long to wait for a response before the next mirror is tried as well. */
  readonly hedgeMs: number;
  /** Decompressed bytes of a source with its includes: several times the largest list in public use. */
  readonly maxBytes: number;
  /** Lines of a source with its includes: even a short line needs memory. */
  readonly maxLines: number;
  /** The largest compression ratio of a text of more than a megabyte. */
  readonly maxRatio: number;
  readonly redirects: number;
  /** Concurrent requests, in total and per server. */
  readonly atOnce: number;
  readonly atOnceWithHost: number;
}

export const FETCH_LIMITS: FetchLimits = {
  timeouts: { connectMs: 10_000, headersMs: 20_000, idleMs: 30_000, totalMs: 120_000 },
  sourceMs: 120_000,
  retries: 2,
  pauseMs: 500,
  longestPauseMs: 30_000,
  hedgeMs: 5_000,
  maxBytes: 256 * 1024 * 1024,
  maxLines: 25_000_000,
  maxRatio: 100,
  redirects: 5,
  atOnce: 16,
  atOnceWithHost: 6,
};

/** The limits of a source with its own time and bytes. Lines grow with the bytes: who allows a large list allows its lines. */
export function limitsOf(
  limits: FetchLimits,
  {
    timeoutMs,
    maxBytes,
  }: { readonly timeoutMs?: number | undefined; readonly maxBytes?: number | undefined },
): FetchLimits {
  const bytes = maxBytes ?? limits.maxBytes;
  const maxLines = Math.ceil(limits.maxLines * Math.max(1, bytes / limits.maxBytes));
  return { ...limits, sourceMs: timeoutMs ?? limits.sourceMs, maxBytes: bytes, maxLines };
}

const MEGABYTE = 1024 * 1024;

/** The message for a source that exceeds its bytes. */
export function tooLargeText({ maxBytes }: Pick<FetchLimits, "maxBytes">): string {
  const most = maxBytes % MEGABYTE === 0 ? `${maxBytes / MEGABYTE} MiB` : `${maxBytes} bytes`;
  return `with its includes it is larger than ${most}`;
}

/** What to do about it. */
export function tooLargeHint({ maxBytes }: Pick<FetchLimits, "maxBytes">): string {
  return `Check that it is a list; if it is, set max_bytes: ${Math.ceil((2 * maxBytes) / MEGABYTE)}M on the source`;
}

/** Knows whether any server answered. */
export class NetworkWatch {
  private asked = 0;
  private hasAnswered = false;

  /** Whether servers were asked, and none answered. */
  get isDown(): boolean {
    return this.asked > 0 && !this.hasAnswered;
  }

  watch(host: Host): Host {
    return {
      ...host,
      fetch: async (request) => {
        this.asked++;
        try {
          const response = await host.fetch(request);
          this.hasAnswered = true;
          return response;
        } catch (error) {
          // Refused by us, whatever the network.
          if (error instanceof HostError && error.code === "EPRIVATE") this.hasAnswered = true;
          throw error;
        }
      },
    };
  }
}

const PIECE = 256 * 1024;

/** The body of a response in a scratch file, counted against the budget of its source. */
export class DownloadedBody {
  size = 0;
  private readonly scratch: Scratch;
  private readonly account: DownloadAccount | undefined;
  private isOpen = true;

  /** Throws a `CompilerError` if the temporary folder cannot be written to. */
  constructor(host: Host, account?: DownloadAccount) {
    this.account = account;
    try {
      this.scratch = host.openScratch();
    } catch (error) {
      if (!(error instanceof HostError)) throw error;
      throw sourceError(
        "scratch-failed",
        "The temporary folder cannot be written to",
        reasonOf(error.code, error.message),
      );
    }
  }

  /** Throws if the source exceeds its budget. */
  append(bytes: Uint8Array): void {
    this.account?.take(bytes.length);
    this.size += bytes.length;
    this.scratch.append(bytes);
  }

  read(position: number, into: Uint8Array): void {
    this.scratch.read(position, into);
  }

  /** Its bytes; each piece is valid until the next one is read. */
  *pieces(start = 0, end: number = this.size): Generator<Uint8Array> {
    const buffer = new Uint8Array(Math.min(PIECE, end - start));
    for (let at = start; at < end; at += buffer.length) {
      const piece = buffer.subarray(0, Math.min(buffer.length, end - at));
      this.read(at, piece);
      yield piece;
    }
  }

  close(): void {
    if (!this.isOpen) return;
    this.isOpen = false;
    this.account?.give(this.size);
    this.scratch.close();
  }
}

/** The share of the free space in the temporary folder that all downloads together may use. */
const SHARE = 0.25;

/**
 * Limits the space that all downloads of a run use in the temporary folder. If they exceed it, the largest download is
 * stopped: an endless source must not starve the others.
 */
export class DownloadBudget {
  readonly limit: number;
  private total = 0;
  /** Downloads that can be stopped. */
  private readonly running = new Set<DownloadAccount>();

  constructor(limit: number) {
    this.limit = limit;
  }

  static async of(host: Host): Promise<DownloadBudget> {
    return new DownloadBudget(Math.floor((await host.scratchSpace()).free * SHARE));
  }

  /** The account of one download; `stop` is called if it must free its space for others. */
  open(stop: () => void): DownloadAccount {
    const account = new DownloadAccount(this, stop);
    this.running.add(account);
    return account;
  }

  /** Called when the total of all accounts has changed. */
  changed(bytes: number): void {
    this.total += bytes;
    while (this.total > this.limit && this.running.size > 0) this.largest().stop();
  }

  /** The account can no longer be stopped. */
  settle(account: DownloadAccount): void {
    this.running.delete(account);
  }

  private largest(): DownloadAccount {
    return [...this.running].reduce((a, b) => (b.bytes > a.bytes ? b : a));
  }
}

/** The space of one source in the temporary folder. */
export class DownloadAccount {
  bytes = 0;
  /** Whether it was stopped to free space. */
  isStopped = false;
  private isClosed = false;
  private readonly budget: DownloadBudget;
  private readonly onStop: () => void;

  constructor(budget: DownloadBudget, onStop: () => void) {
    this.budget = budget;
    this.onStop = onStop;
  }

  /** Throws if there is no space left. */
  take(bytes: number): void {
    this.change(bytes);
    if (this.isStopped) throw new Error(this.reason);
  }

  give(bytes: number): void {
    this.change(-bytes);
  }

  /** The download is complete; its bytes count until they are released. */
  settle(): void {
    this.budget.settle(this);
  }

  stop(): void {
    this.isStopped = true;
    this.close();
    this.onStop();
  }

  /** The download failed or was stopped; its bytes no longer count. */
  close(): void {
    if (this.isClosed) return;
    this.isClosed = true;
    this.budget.settle(this);
    this.budget.changed(-this.bytes);
  }

  get reason(): string {
    return `all downloads together may put ${this.budget.limit} bytes into the temporary folder, a quarter of what is free there`;
  }

  private change(bytes: number): void {
    if (this.isClosed) return;
    this.bytes += bytes;
    this.budget.changed(bytes);
  }
}

/** The error for an unavailable or invalid list; `cause` may be untrusted text. */
export function sourceError(
  code: Code,
  message: string,
  cause?: string,
  more: Pick<Partial<Diagnostic>, "at" | "hint"> = {},
): CompilerError {
  const why = cause === undefined ? {} : { cause: printable(cause) };
  return new CompilerError([errorOf(code, message, { ...why, ...more })]);
}

/** The remedy for a list that its server does not have. */
export const GONE_HINT = "Open the URL in a browser; correct it, or remove the source";

/** What to do about a response with this status. Without TLS, some proxies answer 401 themselves. */
function statusHint(status: number, shown: string): string {
  if (status === 404 || status === 410) return GONE_HINT;
  if (status === 401 || status === 403) {
    const proxy =
      status === 401 && /^http:/i.test(shown) ? "; if a proxy refuses it, correct HTTP_PROXY" : "";
    return `Open the URL in a browser; if it needs a key, set headers_file, bearer_file or basic_file on the source${proxy}`;
  }
  if (status === 407) return "Write the user and the password of the proxy into HTTPS_PROXY";
  if (status === 429) return "The server gets too many requests from here; run less often";
  return status >= 500 ? "The server has a problem; try again later" : GONE_HINT;
}

/** What to do about a connection that fails with this code of the system. */
function connectionHint(code: string): string | undefined {
  if (code === "ENOTFOUND")
    return "Check the spelling of the host name, and the DNS of this machine";
  if (code === "EAI_AGAIN" || code === "ENETUNREACH")
    return "Check the network and the DNS of this machine";
  if (/^(?:ECONN|EPIPE|EHOST)/.test(code))
    return "Check the host and the port; the server may be down: try again later";
  if (code === "proxy")
    return "Set HTTPS_PROXY and HTTP_PROXY to the URL of an HTTP proxy, such as http://192.0.2.1:3128";
  if (code === "EPROTO") return "If the server has no TLS at this port, write http:// instead";
  return /CERT|SIGN|ALTNAME/.test(code)
    ? "The certificate of the server is not trusted here; for a CA of your own, set NODE_EXTRA_CA_CERTS to its file"
    : undefined;
}

/** The error for a download that failed: the hint depends on a status or on a code of the system. */
export function fetchError(shown: string, cause: string, why?: number | string): CompilerError {
  const hint = typeof why === "number" ? statusHint(why, shown) : why && connectionHint(why);
  return sourceError("fetch-failed", `Failed to fetch ${shown}`, cause, { ...(hint && { hint }) });
}

/** The error for a list that may not be fetched. */
export function offlineError(label: string): CompilerError {
  return new CompilerError([
    errorOf("offline-copies", `${label} has no cached copy`, { cause: "--offline is set" }),
  ]);
}

/** The error for a file without a valid signature. */
export function notSigned(label: string, cause: string): CompilerError {
  return sourceError("source-not-signed", `Failed to fetch ${label}`, cause);
}

/** `isSecret` hides the path too. */
export function shownAddress(url: string, isSecret = false): string {
  return printable(withoutCredentials(url, isSecret));
}

export function fileError(path: string, error: HostError, near?: string): CompilerError {
  const shown = printable(path);
  const hint = near === undefined ? {} : { hint: `Did you mean ${printable(near)}?` };
  if (error.code === "ENOENT" || error.code === "ENOTDIR")
    return sourceError("source-not-found", `File not found: ${shown}`, undefined, {
      ...hint,
      ...webHint(path),
    });
  return sourceError(
    "source-unreadable",
    `Cannot read ${shown}`,
    reasonOf(error.code, error.message),
  );
}

function days(ms: number): string {
  return `${(ms / DAY_MS).toFixed(1)} days`;
}

/** A copy of this age, in milliseconds, is not used. */
export function copyTooOld(
  { label, maxStaleMs }: { readonly label: string; readonly maxStaleMs: number },
  age: number,
): Diagnostic {
  const reason = `it is ${days(age)} old; the limit is ${days(maxStaleMs)}`;
  return errorOf("copy-too-old", `The last good copy of ${label} cannot be used`, {
    cause: reason,
  });
}

/** A source failed, and its last good copy was used until the given timestamp. */
export class EndedError extends CompilerError {
  readonly until: number;

  constructor(diagnostics: readonly Diagnostic[], until: number) {
    super(diagnostics);
    this.until = until;
  }
}

/** What was published last lacks the source, so that a build from the published texts lacks it as well. */
export class UnpublishedError extends CompilerError {}

/** Where a list is: a URL or an absolute path. */
export type Location =
  | {
      readonly kind: "web";
      readonly url: string;
      /** Its name, wherever it is fetched from; the URL itself by default. */
      readonly id?: string;
    }
  | { readonly kind: "file"; readonly path: string };

/** `https://…`, `//…` or anything else with a scheme; the rest are paths. */
export function isAddress(source: string): boolean {
  return /^(?:[a-z][a-z0-9+.-]*:)?\/\//i.test(source);
}

/** Whether a URL can be fetched: `http` or `https`, with a host. */
export function isFetchable(address: string): boolean {
  return URL.canParse(address) && /^https?:$/.test(new URL(address).protocol);
}

/** The paths to try for a source, in order: beside the configuration, then in the working directory. */
export function candidatePaths(
  source: string,
  configFolder: string,
  { cwd, path }: Host,
): string[] {
  if (path.isAbsolute(source)) return [source];
  return [...new Set([path.resolve(configFolder, source), path.resolve(cwd, source)])];
}

/** The path that an `!#include` of a local file names, before it is checked. */
export function includedPath(listPath: string, argument: string, { path }: Host): string {
  return path.isAbsolute(argument) ? argument : path.join(path.dirname(listPath), argument);
}

/** Whether a file is in `folder` or below it. */
export function isBelow(file: string, folder: string, { path }: Host): boolean {
  const from = path.relative(folder, file);
  return (
    from !== "" && from !== ".." && !from.startsWith(`..${path.sep}`) && !path.isAbsolute(from)
  );
}
