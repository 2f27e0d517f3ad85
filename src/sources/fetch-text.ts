import { CR, LF } from "../bytes/ascii.ts";
import { decodeUtf8 } from "../bytes/utf8.ts";
import { CompilerError } from "../diagnostics/diagnostic.ts";
import { printable } from "../diagnostics/printable.ts";
import { reasonOf } from "../diagnostics/reason.ts";
import { type FetchResponse, type Host, HostError } from "../host/host.ts";
import { proxyFor } from "../host/proxy.ts";
import { retryAfterMs } from "../host/retry-after.ts";
import { recodeText } from "./decode.ts";
import { type FetchLimits, tooLargeText } from "./fetch-limits.ts";
import type { DownloadAccount } from "./download-budget.ts";
import { type HostSlots, SourceSlots } from "./host-slots.ts";
import { type RequestHeaders, headersFor } from "./request-headers.ts";
import { notSigned, shownAddress, sourceError } from "./source-error.ts";
import { DownloadedBody } from "./downloaded-body.ts";
import { unpack } from "./unpack.ts";
import { type Validators, type WebText, openAgain, usableValidators } from "./web-text.ts";

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
  /** Whether messages must hide the path of the address too. */
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
  arrived(bytes: number): void;
  retried(retry: number, pauseMs: number, cause: string): void;
}

/** The response of a server: a text, or that the known version is current. */
export type FetchedText = Omit<WebText, "key" | "isMoved">;
export interface NotModified {
  /** The address that answered. */
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
export async function fetchText(
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
  throw failed(shown, `more than ${limits.redirects} redirects`);
}

/** Fetches the signature that is beside a file. The result finds what is wrong with the file. */
async function signatureCheck(
  url: string,
  shown: string,
  context: FetchContext,
): Promise<(file: DownloadedBody) => string | undefined> {
  // Loaded on first use, because few sources are signed.
  const { readPublicKey, signatureProblem } = await import("./minisign.ts");
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
  if (!URL.canParse(text)) throw failed(shown, "it is not a URL");
  const url = new URL(text);
  if (url.protocol !== "http:" && url.protocol !== "https:")
    throw failed(shown, `${printable(url.protocol, 40)} is neither http nor https`);
  return url;
}

/** The address that a redirect leads to. Any other status is a failure; some are transient. */
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
      throw failed(shown, "it redirects from https to http");
    return next;
  }
  const error = failed(shown, `the server responded with status ${status}`);
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
        take: (piece) => {
          body.append(piece);
          context.watch?.arrived(piece.length);
        },
      }),
    );
  } catch (error) {
    if (account?.isStopped === true) throw failed(shown, account.reason);
    if (!(error instanceof HostError)) throw failed(shown, (error as Error).message);
    const { code, message } = error;
    if (code === "ETIMEDOUT")
      throw new RetryableError(
        sourceError("fetch-timeout", `Connection timeout: ${shown}`, message),
      );
    if (code === "EPRIVATE")
      throw sourceError("private-address", `Failed to fetch ${shown}`, message);
    if (code === "EFBIG") throw failed(shown, tooLargeText(limits));
    const problem = failed(shown, reasonOf(code, message));
    if (code === "ECANCELED" || code === "ENOSPC") throw problem;
    throw new RetryableError(problem);
  }
}

function failed(shown: string, cause: string): Error {
  return sourceError("fetch-failed", `Failed to fetch ${shown}`, cause);
}
