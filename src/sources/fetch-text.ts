import { CR, LF, decodeUtf8 } from "../bytes/text.ts";
import { CompilerError, type Diagnostic, warningOf } from "../diagnostics/render.ts";
import { printable, reasonOf } from "../diagnostics/text.ts";
import { type FetchResponse, type Host, HostError } from "../host/host.ts";
import { Secret, proxyFor, retryAfterMs } from "../host/network.ts";
import {
  type SourceRecord,
  type SourceStore,
  type StoredFile,
  type Validators,
  type WebAddress,
  type WebText,
  digestOf,
  openAgain,
  usableValidators,
} from "./copies.ts";
import {
  type DownloadAccount,
  DownloadedBody,
  type FetchLimits,
  type HostSlots,
  SourceSlots,
  fetchError,
  notSigned,
  shownAddress,
  sourceError,
  tooLargeHint,
  tooLargeText,
} from "./limits.ts";
import { recodeText, unpack } from "./unpack.ts";

/** A signature has about 300 bytes. */
const MOST_SIGNATURE = 16 * 1024;

export interface FetchContext {
  readonly host: Host;
  readonly limits: FetchLimits;
  readonly slots: HostSlots;
  /** Whether addresses of private networks may be contacted. */
  readonly allowPrivate: boolean;
  readonly signal?: AbortSignal | undefined;
  /** Bytes that the source may still use; `maxBytes` by default. */
  readonly room?: number | undefined;
  /** The slots that the source uses, for a fair order among those that wait. */
  readonly turn?: SourceSlots | undefined;
  readonly account?: DownloadAccount | undefined;
  /** Whether messages must hide the path of the URL too. */
  readonly isSecret?: boolean | undefined;
  readonly watch?: FetchWatch | undefined;
  readonly keys?: RequestHeaders | undefined;
  /** Selects a file of an archive. */
  readonly member?: string | undefined;
  /** Public keys, one of which must have signed the file. */
  readonly signers?: readonly string[] | undefined;
}

/** Receives the progress of a download. */
export interface FetchWatch {
  /** The server announces this many bytes more. */
  expected(bytes: number): void;
  arrived(bytes: number): void;
  retried(retry: number, pauseMs: number, cause: string): void;
}

/** The response of a server: a text, or that the known version is current. */
type FetchedText = Omit<WebText, "key" | "isMoved">;
interface NotModified {
  /** The URL that answered. */
  readonly url: string;
}

/** A transient failure, with the pause that the server asked for, if any. */
class RetryableError extends Error {
  readonly error: Error;
  readonly afterMs: number | undefined;

  constructor(error: Error, afterMs?: number) {
    super(error.message);
    this.error = error;
    this.afterMs = afterMs;
  }
}

/** Fetches a text and retries transient failures. Rejects with a `CompilerError`. */
async function fetchText(
  url: string,
  validators: Validators | undefined,
  context: FetchContext,
): Promise<FetchedText | NotModified> {
  const { host, limits, signal } = context;
  for (let attempt = 0; ; attempt++) {
    try {
      return await fetchOnce(url, validators, context);
    } catch (error) {
      if (!(error instanceof RetryableError)) throw error;
      if (attempt === limits.retries || isStopped(signal)) throw error.error;
      // Jitter keeps requests that failed together from being repeated together.
      const pause = limits.pauseMs * 2 ** attempt * (0.5 + Math.random() / 2);
      if ((error.afterMs ?? 0) > limits.longestPauseMs) throw error.error;
      const pauseMs = Math.max(pause, error.afterMs ?? 0);
      context.watch?.retried(attempt + 1, pauseMs, causeOf(error.error));
      await host.wait(pauseMs, signal);
      if (isStopped(signal)) throw error.error;
    }
  }
}

function causeOf(error: Error): string {
  const cause = error instanceof CompilerError ? error.diagnostics[0]?.cause : undefined;
  return cause ?? error.message;
}

function isStopped(signal: AbortSignal | undefined): boolean {
  return signal?.aborted === true;
}

async function fetchOnce(
  url: string,
  validators: Validators | undefined,
  context: FetchContext,
): Promise<FetchedText | NotModified> {
  const { host, limits } = context;
  const shown = shownAddress(url, context.isSecret);
  const exchange = { shown, validators: usableValidators(validators ?? {}) };
  let current = url;
  for (let hop = 0; hop <= limits.redirects; hop++) {
    const target = addressOf(current, shown);
    const body = new DownloadedBody(host, context.account);
    let isKept = false;
    try {
      const response = await request(target, exchange, body, context);
      if (response.status === 304 && validators !== undefined) return { url: target.href };
      if (response.status !== 200) {
        current = redirectOf(response, target.href, shown, context);
        continue;
      }
      const findProblem = context.signers && (await signatureCheck(url, shown, context));
      isKept = true;
      return await textOf(response, target.href, shown, { body, context, findProblem });
    } finally {
      if (!isKept) body.close();
    }
  }
  throw fetchError(shown, `more than ${limits.redirects} redirects`);
}

/** Fetches the signature that is beside a file. The result finds what is wrong with the file. */
async function signatureCheck(
  url: string,
  shown: string,
  context: FetchContext,
): Promise<(file: DownloadedBody) => string | undefined> {
  // Loaded on first use, because few sources are signed.
  const { readPublicKey, signatureProblem } = await import("./held-text.ts");
  const keys = context.signers!.flatMap((text) => readPublicKey(text) ?? []);
  const place = new URL(url);
  place.pathname += ".minisig";
  const limits = { ...context.limits, maxBytes: MOST_SIGNATURE };
  const own = { ...context, limits, room: MOST_SIGNATURE, signers: undefined, member: undefined };
  const answer = await fetchText(place.href, undefined, own).catch((error: unknown) => {
    const [first] = error instanceof CompilerError ? error.diagnostics : [];
    if (first?.code !== "fetch-failed") throw error;
    throw notSigned(shown, `its signature cannot be read: ${first.cause ?? first.message}`);
  });
  const bytes = new Uint8Array("open" in answer ? answer.size : 0);
  if ("open" in answer) {
    await (await answer.open()).read(bytes);
    answer.close();
  }
  return (file) => signatureProblem(file.pieces(), decodeUtf8(bytes), keys);
}

/** A downloaded file, and what its signature says. */
interface Download {
  readonly body: DownloadedBody;
  readonly context: FetchContext;
  readonly findProblem: ((file: DownloadedBody) => string | undefined) | undefined;
}

/** Takes ownership of the body. */
async function textOf(
  { headers, isUnframed }: FetchResponse,
  url: string,
  shown: string,
  { body, context, findProblem }: Download,
): Promise<FetchedText> {
  const unpacking = { ...context, findProblem };
  const unpacked = await unpack(body, headers["content-encoding"], shown, unpacking);
  // Compressed data marks its own end.
  const isCut = isUnframed === true && unpacked === body && !endsWithLine(body);
  const charset = /charset\s*=\s*([^\s;]+)/i.exec(headers["content-type"] ?? "")?.[1];
  // A header is not signed.
  const named = findProblem === undefined ? charset : undefined;
  const text = await recodeText(unpacked, shown, named, context);
  const { etag, "last-modified": lastModified } = headers;
  return {
    url,
    size: text.size,
    isCut,
    // Without validators, the next run fetches the whole text again.
    validators: isCut ? {} : usableValidators({ etag, lastModified }),
    open: async () => openAgain(text.size, (position, into) => text.read(position, into)),
    close: () => text.close(),
  };
}

function endsWithLine(body: DownloadedBody): boolean {
  if (body.size === 0) return true;
  const last = new Uint8Array(1);
  body.read(body.size - 1, last);
  return last[0] === LF || last[0] === CR;
}

function addressOf(text: string, shown: string): URL {
  if (!URL.canParse(text)) throw fetchError(shown, "it is not a URL");
  const url = new URL(text);
  if (url.protocol !== "http:" && url.protocol !== "https:")
    throw sourceError(
      "fetch-failed",
      `Failed to fetch ${shown}`,
      `${printable(url.protocol, 40)} is neither http nor https`,
      { hint: "Use its https URL, or download it and name the file" },
    );
  return url;
}

/** The URL that a redirect leads to. Any other status is a failure; some are transient. */
function redirectOf(
  { status, headers }: FetchResponse,
  current: string,
  shown: string,
  { host }: FetchContext,
): string {
  const { location } = headers;
  if (status >= 300 && status < 400 && location !== undefined) {
    const next = URL.canParse(location, current) ? new URL(location, current).href : location;
    if (current.startsWith("https:") && next.startsWith("http:"))
      throw fetchError(shown, "it redirects from https to http");
    return next;
  }
  const error = fetchError(shown, `the server responded with status ${status}`, status);
  if ([408, 425, 429, 500, 502, 503, 504].includes(status))
    throw new RetryableError(error, retryAfterMs(headers["retry-after"], host.now()));
  throw error;
}

async function request(
  url: URL,
  { shown, validators }: { readonly shown: string; readonly validators: Validators },
  body: DownloadedBody,
  context: FetchContext,
): Promise<FetchResponse> {
  const { host, limits, slots, allowPrivate, signal, account } = context;
  const headers: Record<string, string> = {
    accept: "text/plain, */*;q=0.5",
    "accept-encoding": "gzip, br",
    "user-agent": "rules-compiler",
    ...headersFor(url, context.keys),
  };
  if (validators.etag !== undefined) headers["if-none-match"] = validators.etag;
  else if (validators.lastModified !== undefined)
    headers["if-modified-since"] = validators.lastModified;
  try {
    const proxy = proxyFor(url, host.env);
    return await slots.run(url.host, context.turn ?? new SourceSlots(), signal, () =>
      host.fetch({
        url: url.href,
        headers,
        timeouts: limits.timeouts,
        maxBytes: context.room ?? limits.maxBytes,
        onlyPublic: !allowPrivate,
        proxy,
        signal,
        expect: (bytes) => context.watch?.expected(bytes),
        take: (piece) => {
          body.append(piece);
          context.watch?.arrived(piece.length);
        },
      }),
    );
  } catch (error) {
    if (account?.isStopped === true) throw fetchError(shown, account.reason);
    if (!(error instanceof HostError)) throw fetchError(shown, (error as Error).message, "proxy");
    const { code, message } = error;
    if (code === "ETIMEDOUT")
      throw new RetryableError(
        sourceError("fetch-timeout", `Connection timeout: ${shown}`, message),
      );
    if (code === "EPRIVATE")
      throw sourceError("private-address", `Failed to fetch ${shown}`, message, {
        // Only a URL that is shown in full can be pasted.
        ...(!shown.includes("…") && {
          hint: `If this is intended, write { source: ${shown}, allow_private: true }`,
        }),
      });
    if (code === "EFBIG")
      throw sourceError("fetch-failed", `Failed to fetch ${shown}`, tooLargeText(limits), {
        hint: tooLargeHint(limits),
      });
    const problem = fetchError(shown, reasonOf(code, message), code);
    if (code === "ECANCELED" || code === "ENOSPC") throw problem;
    throw new RetryableError(problem);
  }
}

/** Files with the keys of a source. */
export interface KeyFiles {
  readonly headers: string | undefined;
  readonly bearer: string | undefined;
  readonly basic: string | undefined;
}

/** Headers with keys, for one server only. */
export interface RequestHeaders {
  /** The server of the source. No other one gets them, neither by a redirect nor as a mirror. */
  readonly origin: string;
  readonly headers: ReadonlyMap<string, Secret>;
}

/** The permission bits of the group and of other users. */
const NOT_OWNER = 0o077;
/** Headers that belong to the connection or to the cache. */
const OWN =
  /^(?:host|connection|content-.*|transfer-encoding|te|trailer|upgrade|expect|range|accept-encoding|if-.*|proxy-.*)$/;
const HEADER =
  /^(?<name>[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100})[ \t]*:[ \t]*(?<value>[\x20-\x7e]{1,4096})$/;

/** Reads the keys of a source; undefined if it has none. Rejects with a `CompilerError` that does not repeat them. */
export async function readRequestHeaders(
  url: string,
  files: KeyFiles,
  host: Host,
  warn: (warning: Diagnostic) => void,
): Promise<RequestHeaders | undefined> {
  const headers = new Map<string, Secret>();
  const linesOf = async (file: string): Promise<string[]> => await readLines(file, host, warn);
  if (files.headers !== undefined)
    for (const [index, line] of (await linesOf(files.headers)).entries()) {
      if (line.trim() === "" || line.startsWith("#")) continue;
      const { name = "", value = "" } = HEADER.exec(line.trim())?.groups ?? {};
      if (value === "" || OWN.test(name.toLowerCase()))
        throw badKeys(files.headers, `line ${index + 1} must be a name, a colon and a value`);
      headers.set(name.toLowerCase(), new Secret(value));
    }
  if (files.bearer !== undefined) {
    const [token = "", ...more] = await linesOf(files.bearer);
    if (!/^[\x21-\x7e]{1,4096}$/.test(token) || more.length > 0)
      throw badKeys(files.bearer, "it must contain one line without spaces");
    headers.set("authorization", new Secret(`Bearer ${token}`));
  }
  if (files.basic !== undefined) {
    const [pair = "", ...more] = await linesOf(files.basic);
    if (!/^[\x20-\x39\x3b-\x7e]{1,1000}:[\x20-\x7e]{1,1000}$/.test(pair) || more.length > 0)
      throw badKeys(files.basic, "it must contain one line: a user name, a colon and a password");
    headers.set("authorization", new Secret(`Basic ${btoa(pair)}`));
  }
  return headers.size === 0 ? undefined : { origin: new URL(url).origin, headers };
}

/** The headers for a request to this URL. */
function headersFor(url: URL, keys: RequestHeaders | undefined): Record<string, string> {
  if (keys === undefined || url.origin !== keys.origin) return {};
  return Object.fromEntries([...keys.headers].map(([name, secret]) => [name, secret.reveal()]));
}

async function readLines(
  file: string,
  host: Host,
  warn: (warning: Diagnostic) => void,
): Promise<string[]> {
  let text: string;
  try {
    text = decodeUtf8(await host.readFile(file));
    if ((((await host.modeOf?.(file)) ?? 0) & NOT_OWNER) !== 0)
      warn(warningOf("key-file-open", `Other users of this machine may read ${printable(file)}`));
  } catch (error) {
    if (!(error instanceof HostError)) throw error;
    throw badKeys(file, `it cannot be read: ${error.code}`);
  }
  return text.replace(/\r?\n$/, "").split(/\r?\n/);
}

function badKeys(file: string, cause: string): Error {
  return sourceError("bad-key-file", `${printable(file)} cannot be used`, cause);
}

/** The texts of a source, each fetched once: the list itself and its includes. */
export interface WebTexts {
  /** Whether texts know the URL that answered. */
  readonly knowsPlaces: boolean;
  get(address: WebAddress): Promise<WebText>;
  close(): void;
}

/** The last good version of a source, and its store. */
interface LastGood {
  readonly store: SourceStore;
  readonly record: Pick<SourceRecord, "files">;
}

/** Texts from the network, or from the last good version if the server confirms that it is current. */
export class FetchedTexts implements WebTexts {
  readonly knowsPlaces = true;
  /** Fetched texts by id. */
  readonly files: Map<string, WebText> = new Map();
  /** Whether every text is the same as last time. */
  isUnchanged = true;
  private readonly context: FetchContext;
  private readonly last: LastGood | undefined;

  constructor(context: FetchContext, last: LastGood | undefined) {
    this.context = context;
    this.last = last;
  }

  async get(address: WebAddress): Promise<WebText> {
    const known = this.files.get(address.id);
    if (known !== undefined) return known;
    const text = await this.fetch(address);
    this.files.set(address.id, text);
    return text;
  }

  private async fetch({ url, id }: WebAddress): Promise<WebText> {
    const last = await this.last?.store.textOf(this.last.record, { url, id });
    const room = this.context.limits.maxBytes - this.size;
    let answer;
    try {
      answer = await fetchText(url, last?.validators, { ...this.context, room });
    } catch (error) {
      last?.close();
      throw error;
    }
    const isMoved = !URL.canParse(id) || new URL(id).href !== answer.url;
    if (!("open" in answer)) return { ...last!, url: answer.url, isMoved };
    last?.close();
    this.isUnchanged = false;
    return { ...answer, key: await digestOf(id), isMoved };
  }

  /** Bytes of all texts together. */
  get size(): number {
    return [...this.files.values()].reduce((sum, text) => sum + text.size, 0);
  }

  /** Reads from the stored copies from now on, and frees the temporary folder. */
  async moveInto(store: SourceStore, copies: readonly StoredFile[]): Promise<void> {
    for (const [id, text] of this.files) {
      const copy = copies.find(({ key }) => key === text.key);
      const kept =
        text.sha256 === undefined && copy !== undefined ? await store.open(copy) : undefined;
      if (kept === undefined) continue;
      this.files.set(id, { ...text, ...kept });
      text.close();
    }
  }

  close(): void {
    for (const text of this.files.values()) text.close();
    this.files.clear();
  }
}

/** Texts of the last good version, without the network. */
export class StoredTexts implements WebTexts {
  readonly knowsPlaces = false;
  private readonly last: LastGood;
  private readonly isSecret: boolean;
  private readonly files = new Map<string, WebText>();

  constructor(last: LastGood, isSecret: boolean) {
    this.last = last;
    this.isSecret = isSecret;
  }

  async get(address: WebAddress): Promise<WebText> {
    const known = this.files.get(address.id);
    if (known !== undefined) return known;
    const text = await this.last.store.textOf(this.last.record, address);
    if (text === undefined) {
      const shown = shownAddress(address.url, this.isSecret);
      throw sourceError("fetch-failed", `Failed to fetch ${shown}`, "its cached copy was removed");
    }
    this.files.set(address.id, text);
    return text;
  }

  close(): void {
    for (const text of this.files.values()) text.close();
    this.files.clear();
  }
}
