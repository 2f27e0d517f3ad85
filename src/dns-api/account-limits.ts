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

/** One thing that an account may have some of. */
export interface AccountLimit {
  readonly name: string;
  readonly used: number;
  readonly limit: number;
}

export interface AccountLimits {
  readonly limits: readonly AccountLimit[];
  /** Whatever else the answer holds, as it came. */
  readonly other: Readonly<Record<string, unknown>>;
}

export interface DnsApiSettings {
  /** Such as `https://api.example.com`. */
  readonly url: string;
  /** Path of the limits below it; `/v1/limits` without it. */
  readonly path?: string | undefined;
  readonly key: ApiKey;
  readonly signal?: AbortSignal | undefined;
}

export const LIMITS_PATH = "/v1/limits";
const TIMEOUTS = { connectMs: 10_000, headersMs: 15_000, idleMs: 15_000, totalMs: 30_000 };
const MAX_BYTES = 1024 * 1024;
const RETRIES = 3;
const PAUSE_MS = 1000;
/** A server that wants more than this is asked again by a person. */
const LONGEST_PAUSE_MS = 60_000;

/** Asks the DNS API for the limits and usage of the account. Rejects with a `CompilerError`. */
export async function accountLimits(settings: DnsApiSettings, host: Host): Promise<AccountLimits> {
  const url = addressOf(settings);
  for (let attempt = 0; ; attempt++) {
    const { status, headers, text } = await exchange(url, settings, host);
    if (status === 200) return limitsIn(text);
    if (status !== 429) throw refusal(status, headers, text);
    const told = retryAfterMs(headers["retry-after"], host.now());
    if (attempt === RETRIES || (told ?? 0) > LONGEST_PAUSE_MS) throw busy(told, attempt + 1);
    await host.wait(told ?? PAUSE_MS * 2 ** attempt, settings.signal);
    settings.signal?.throwIfAborted();
  }
}

function addressOf({ url, path }: DnsApiSettings): URL {
  const whole = `${url.replace(/\/+$/, "")}/${(path ?? LIMITS_PATH).replace(/^\/+/, "")}`;
  if (!URL.canParse(whole)) throw problem("api-address", "The URL of the DNS API is invalid");
  const address = new URL(whole);
  if (address.protocol !== "https:" && !(address.protocol === "http:" && isHere(address)))
    throw problem("api-address", `Refusing to send the key to ${shown(address)}: not https`);
  if (address.username !== "" || address.password !== "")
    throw problem("api-address", "The URL of the DNS API contains credentials");
  return address;
}

function isHere({ hostname }: URL): boolean {
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
      // This machine is spoken to directly, or a key would pass a proxy in clear.
      proxy: isHere(url) ? undefined : proxyFor(url, host.env),
      signal,
    };
    const { status, headers, body } = await fetchBody(request, host);
    // An answer may repeat what it was sent.
    return { status, headers, text: key.redact(decodeUtf8(body)) };
  } catch (error) {
    signal?.throwIfAborted();
    if (!(error instanceof HostError)) throw error;
    const cause = error.code === "ETIMEDOUT" ? error.message : reasonOf(error.code, error.message);
    throw unreachable(`${shown(url)}: ${cause}`);
  }
}

function limitsIn(text: string): AccountLimits {
  let answer: unknown;
  try {
    answer = JSON.parse(text);
  } catch {
    throw unreachable(`the response is not JSON; it begins with ${beginning(text)}`);
  }
  if (typeof answer !== "object" || answer === null || Array.isArray(answer))
    throw unreachable(`the response has no limits; it begins with ${beginning(text)}`);
  const limits: AccountLimit[] = [];
  const other: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(answer)) {
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
  const said = messageIn(text);
  const words = `the response has status ${status}${said === "" ? "" : `: ${said}`}`;
  if (status === 401 || status === 403)
    return problem("api-key-refused", "Failed to connect to the DNS API", words);
  if (status >= 300 && status < 400 && headers["location"] !== undefined)
    return unreachable(`${words}; the key is not sent to the target of the redirect`);
  return unreachable(words);
}

/** The provider's own words, where the answer has them in the form that it documents. */
function messageIn(text: string): string {
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

function busy(told: number | undefined, tries: number): CompilerError {
  const wait = told === undefined ? "" : `; it wants ${Math.ceil(told / 1000)} s of wait`;
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
