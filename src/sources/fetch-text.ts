import { reasonOf } from "../diagnostics/reason.ts";
import { type FetchResponse, type Host, HostError } from "../host/host.ts";
import { proxyFor } from "../host/proxy.ts";
import { retryAfterMs } from "../host/retry-after.ts";
import { recodeText } from "./decode.ts";
import type { FetchLimits } from "./fetch-limits.ts";
import type { HostSlots } from "./host-slots.ts";
import { shownAddress, sourceError } from "./source-error.ts";
import { type Spool, newSpool, unpack } from "./unpack.ts";
import { type Validators, type WebText, openScratchFile } from "./web-text.ts";

export interface FetchContext {
  readonly host: Host;
  readonly limits: FetchLimits;
  readonly slots: HostSlots;
  /** Whether addresses of private networks may be spoken to. */
  readonly allowPrivate: boolean;
  readonly signal?: AbortSignal | undefined;
}

/** The server says that the text with these validators is still the one. */
export const NOT_MODIFIED = "not-modified";

/** A failure that another try may not meet; the server may have said when. */
class BadLuck extends Error {
  readonly error: Error;
  readonly afterMs: number | undefined;

  constructor(error: Error, afterMs?: number) {
    super(error.message);
    this.error = error;
    this.afterMs = afterMs;
  }
}

/** Fetches a text, again if that may help. Rejects with a `CompilerError`. */
export async function fetchText(
  url: string,
  validators: Validators | undefined,
  context: FetchContext,
): Promise<WebText | typeof NOT_MODIFIED> {
  const { host, limits, signal } = context;
  for (let attempt = 0; ; attempt++) {
    try {
      return await fetchOnce(url, validators, context);
    } catch (error) {
      if (!(error instanceof BadLuck)) throw error;
      if (attempt === limits.retries || isStopped(signal)) throw error.error;
      // Between half and all of it, so that those who failed together do not come back together.
      const pause = limits.pauseMs * 2 ** attempt * (0.5 + Math.random() / 2);
      if ((error.afterMs ?? 0) > limits.longestPauseMs) throw error.error;
      await host.wait(Math.max(pause, error.afterMs ?? 0), signal);
      if (isStopped(signal)) throw error.error;
    }
  }
}

function isStopped(signal: AbortSignal | undefined): boolean {
  return signal?.aborted === true;
}

async function fetchOnce(
  url: string,
  validators: Validators | undefined,
  context: FetchContext,
): Promise<WebText | typeof NOT_MODIFIED> {
  const { host, limits } = context;
  const shown = shownAddress(url);
  let current = url;
  for (let hop = 0; hop <= limits.redirects; hop++) {
    const target = addressOf(current, shown);
    const spool = newSpool(host);
    let isKept = false;
    try {
      const response = await request(target, shown, validators, spool, context);
      const { status, headers } = response;
      if (status === 304 && validators !== undefined) return NOT_MODIFIED;
      if (status !== 200) {
        current = redirectOf(response, target.href, shown, context);
        continue;
      }
      isKept = true;
      const encoding = headers["content-encoding"];
      const unpacked = await unpack(spool, encoding, shown, host, limits, context.signal);
      const charset = /charset\s*=\s*([^\s;]+)/i.exec(headers["content-type"] ?? "")?.[1];
      const text = await recodeText(unpacked, shown, charset, host, limits.maxBytes);
      const { etag, "last-modified": lastModified } = headers;
      return {
        url: target.href,
        size: text.size,
        validators: { etag, lastModified },
        open: async () => openScratchFile(text.scratch, text.size),
        close: () => text.scratch.close(),
      };
    } finally {
      if (!isKept) spool.scratch.close();
    }
  }
  throw failed(shown, `more than ${limits.redirects} redirects`);
}

function addressOf(text: string, shown: string): URL {
  if (!URL.canParse(text)) throw failed(shown, "it is not an address");
  const url = new URL(text);
  if (url.protocol !== "http:" && url.protocol !== "https:")
    throw failed(shown, `${shownAddress(text)} is neither http nor https`);
  return url;
}

/** Where to go on. Any other answer is a failure, and perhaps bad luck. */
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
  const error = failed(shown, `the server answered with status ${status}`);
  if ([408, 425, 429, 500, 502, 503, 504].includes(status))
    throw new BadLuck(error, retryAfterMs(headers["retry-after"], host.now()));
  throw error;
}

async function request(
  url: URL,
  shown: string,
  validators: Validators | undefined,
  spool: Spool,
  { host, limits, slots, allowPrivate, signal }: FetchContext,
): Promise<FetchResponse> {
  const headers: Record<string, string> = {
    accept: "text/plain, */*;q=0.5",
    "accept-encoding": "gzip, br",
    "user-agent": "rules-compiler",
  };
  if (validators?.etag !== undefined) headers["if-none-match"] = validators.etag;
  else if (validators?.lastModified !== undefined)
    headers["if-modified-since"] = validators.lastModified;
  try {
    const proxy = proxyFor(url, host.env);
    return await slots.run(url.host, () =>
      host.fetch({
        url: url.href,
        headers,
        timeouts: limits.timeouts,
        maxBytes: limits.maxBytes,
        onlyPublic: !allowPrivate,
        proxy,
        signal,
        take(piece) {
          spool.scratch.append(piece);
          spool.size += piece.length;
        },
      }),
    );
  } catch (error) {
    if (!(error instanceof HostError)) throw failed(shown, (error as Error).message);
    const { code, message } = error;
    if (code === "ETIMEDOUT")
      throw new BadLuck(sourceError("fetch-timeout", `Connection timeout: ${shown}`, message));
    if (code === "EPRIVATE")
      throw sourceError("private-address", `Failed to fetch ${shown}`, message);
    const problem = failed(shown, reasonOf(code, message));
    if (code === "EFBIG" || code === "ECANCELED" || code === "ENOSPC") throw problem;
    throw new BadLuck(problem);
  }
}

function failed(shown: string, cause: string): Error {
  return sourceError("fetch-failed", `Failed to fetch ${shown}`, cause);
}
