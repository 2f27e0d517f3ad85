import { decodeUtf8 } from "../bytes/utf8.ts";
import type { Code } from "../diagnostics/codes.ts";
import { CompilerError, errorOf } from "../diagnostics/diagnostic.ts";
import { printable } from "../diagnostics/printable.ts";
import { reasonOf } from "../diagnostics/reason.ts";
import { fetchBody } from "../host/fetch-body.ts";
import { type Host, HostError } from "../host/host.ts";
import { proxyFor } from "../host/proxy.ts";
import { retryAfterMs } from "../host/retry-after.ts";
import type { ApiKey } from "./api-key.ts";

/** One quota of an account. */
export interface AccountLimit {
  readonly name: string;
  readonly used: number;
  readonly limit: number;
}

export interface AccountLimits {
  readonly limits: readonly AccountLimit[];
  /** All other fields of the response, unchanged. */
  readonly other: Readonly<Record<string, unknown>>;
}

export interface DnsApiSettings {
  /** Base URL, for example `https://api.example.com`. */
  readonly url: string;
  /** Path of the limits; `/v1/limits` by default. */
  readonly path?: string | undefined;
  readonly key: ApiKey;
  readonly signal?: AbortSignal | undefined;
}

export const LIMITS_PATH = "/v1/limits";
const TIMEOUTS = { connectMs: 10_000, headersMs: 15_000, idleMs: 15_000, totalMs: 30_000 };
const MAX_BYTES = 1024 * 1024;
const RETRIES = 3;
const PAUSE_MS = 1000;
/** Longer delays are reported instead of waited for. */
const LONGEST_PAUSE_MS = 60_000;

/** Requests the limits of the account and their use. Rejects with a `CompilerError`. */
export async function fetchAccountLimits(
  settings: DnsApiSettings,
  host: Host,
): Promise<AccountLimits> {
  const url = limitsUrl(settings);
  for (let attempt = 0; ; attempt++) {
    const { status, headers, text } = await exchange(url, settings, host);
    if (status === 200) return parseLimits(text);
    if (status !== 429) throw refusal(status, headers, text);
    const retryAfter = retryAfterMs(headers["retry-after"], host.now());
    if (attempt === RETRIES || (retryAfter ?? 0) > LONGEST_PAUSE_MS)
      throw busy(retryAfter, attempt + 1);
    await host.wait(retryAfter ?? PAUSE_MS * 2 ** attempt, settings.signal);
    settings.signal?.throwIfAborted();
  }
}

function limitsUrl({ url, path }: DnsApiSettings): URL {
  const whole = `${url.replace(/\/+$/, "")}/${(path ?? LIMITS_PATH).replace(/^\/+/, "")}`;
  if (!URL.canParse(whole))
    throw problem("api-address", "The URL of the DNS API is not a valid URL");
  const address = new URL(whole);
  if (address.protocol !== "https:" && !(address.protocol === "http:" && isLocal(address)))
    throw problem("api-address", `The key is not sent to ${shown(address)}: the URL is not https`);
  if (address.username !== "" || address.password !== "")
    throw problem("api-address", "The URL of the DNS API contains a password");
  return address;
}

function isLocal({ hostname }: URL): boolean {
  return /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname);
}

async function exchange(
  url: URL,
  { key, signal }: DnsApiSettings,
  host: Host,
): Promise<{ status: number; headers: Readonly<Record<string, string>>; text: string }> {
  try {
    const request = {
      url: url.href,
      headers: {
        accept: "application/json",
        authorization: key.authorization,
        "user-agent": "rules-compiler",
      },
      timeouts: TIMEOUTS,
      maxBytes: MAX_BYTES,
      onlyPublic: false,
      takesAnyStatus: true,
      // A local API is contacted directly: otherwise a proxy would see the key in plain text.
      proxy: isLocal(url) ? undefined : proxyFor(url, host.env),
      signal,
    };
    const { status, headers, body } = await fetchBody(request, host);
    // The response may echo the key.
    return { status, headers, text: key.redact(decodeUtf8(body)) };
  } catch (error) {
    signal?.throwIfAborted();
    if (!(error instanceof HostError)) throw error;
    const cause = error.code === "ETIMEDOUT" ? error.message : reasonOf(error.code, error.message);
    throw unreachable(`${shown(url)}: ${cause}`);
  }
}

function parseLimits(text: string): AccountLimits {
  let response: unknown;
  try {
    response = JSON.parse(text);
  } catch {
    throw unreachable(`the response is not JSON; it begins with ${beginning(text)}`);
  }
  if (typeof response !== "object" || response === null || Array.isArray(response))
    throw unreachable(`the response contains no limits; it begins with ${beginning(text)}`);
  const limits: AccountLimit[] = [];
  const other: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(response)) {
    const { used, limit, ...rest } = (value ?? {}) as Record<string, unknown>;
    if (typeof used === "number" && typeof limit === "number") {
      limits.push({ name, used, limit });
      for (const [more, what] of Object.entries(rest)) other[`${name}.${more}`] = what;
    } else other[name] = value;
  }
  return { limits, other };
}

function refusal(
  status: number,
  headers: Readonly<Record<string, string>>,
  text: string,
): CompilerError {
  const message = providerMessage(text);
  const cause = `the response has status ${status}${message === "" ? "" : `: ${message}`}`;
  if (status === 401 || status === 403)
    return problem("api-key-refused", "Failed to connect to the DNS API", cause);
  if (status >= 300 && status < 400 && headers["location"] !== undefined)
    return unreachable(`${cause}; the key is not sent to the target of a redirect`);
  return unreachable(cause);
}

/** The provider's error message, in the documented format. */
function providerMessage(text: string): string {
  try {
    const { error_code: code, message } = JSON.parse(text) as Record<string, unknown>;
    return [code, message]
      .filter((part) => typeof part === "string")
      .map((part) => printable(part, 160))
      .join(", ");
  } catch {
    return "";
  }
}

function busy(retryAfter: number | undefined, tries: number): CompilerError {
  const wait =
    retryAfter === undefined
      ? ""
      : `; it allows the next request in ${Math.ceil(retryAfter / 1000)} s`;
  const after = tries === 1 ? "" : ` after ${tries} tries`;
  return problem("api-busy", `The DNS API is rate limiting (HTTP 429)${after}${wait}`);
}

function beginning(text: string): string {
  return JSON.stringify(printable(text.slice(0, 40)));
}

function shown({ origin, pathname }: URL): string {
  return printable(`${origin}${pathname}`);
}

function unreachable(cause: string): CompilerError {
  return problem("api-unreachable", "Failed to connect to the DNS API", cause);
}

function problem(code: Code, message: string, cause?: string): CompilerError {
  return new CompilerError([errorOf(code, message, cause === undefined ? {} : { cause })]);
}
