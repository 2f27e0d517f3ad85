import { BANG, CR, HASH, LF, SPACE, TAB, decodeUtf8 } from "../bytes/text.ts";
import type { Code } from "../diagnostics/codes.ts";
import { CompilerError, errorOf } from "../diagnostics/render.ts";
import { printable, reasonOf } from "../diagnostics/text.ts";
import { type Host, HostError, type OpenFile } from "../host/host.ts";
import { proxyFor, retryAfterMs } from "../host/network.ts";
import { fetchBody } from "../host/node-fetch.ts";
import type { AccountLimit, AccountLimits } from "../documents/facts.ts";

export interface DnsApiSettings {
  /** Base URL, for example `https://api.example.com`. */
  readonly url: string;
  /** Path of the limits; `/v1/limits` by default. */
  readonly path?: string | undefined;
  readonly key: ApiKey;
  readonly signal?: AbortSignal | undefined;
}

const LIMITS_PATH = "/v1/limits";
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

const FILE_VARIABLE = "DNSAPI_DnsApi__ApiKey_FILE";
const KEY_VARIABLES = ["DNSAPI_DnsApi__ApiKey", "DNSAPI_API_KEY"] as const;

/** An API key that cannot be printed by accident. */
export class ApiKey {
  readonly #key: string;

  /** Throws a `CompilerError` that does not repeat the key. */
  constructor(key: string, from: string) {
    if (!/^[\x21-\x7e]{1,512}$/.test(key))
      throw keyError(`${from} does not contain a valid key: up to 512 visible ASCII characters`);
    this.#key = key;
  }

  /** The value of the `Authorization` header. */
  get authorization(): string {
    return `ApiKey ${this.#key}`;
  }

  /** Replaces the key in a text. */
  redact(text: string): string {
    return text.replaceAll(this.#key, "(key)");
  }

  toString(): string {
    return "(key)";
  }

  toJSON(): string {
    return "(key)";
  }
}

/** The key from the environment: the file first, then the variables in order. Rejects with a `CompilerError`. */
export async function loadApiKey(host: Host): Promise<ApiKey> {
  const file = host.env[FILE_VARIABLE];
  if (file !== undefined && file !== "") {
    try {
      const text = decodeUtf8(await host.readFile(host.path.resolve(host.cwd, file)));
      return new ApiKey(text.replace(/\r?\n$/, ""), `The file of ${FILE_VARIABLE}`);
    } catch (error) {
      if (!(error instanceof HostError)) throw error;
      throw keyError(`${FILE_VARIABLE} names a file that cannot be read`, {
        at: { file: printable(file) },
        cause: reasonOf(error.code, error.message),
      });
    }
  }
  for (const name of KEY_VARIABLES) {
    const key = host.env[name];
    if (key !== undefined && key !== "") return new ApiKey(key.replace(/\r?\n$/, ""), name);
  }
  throw keyError("No key for the DNS API is configured");
}

function keyError(message: string, more: Parameters<typeof errorOf>[2] = {}): CompilerError {
  return new CompilerError([errorOf("api-key-missing", message, more)]);
}

const BLOCK = 1024 * 1024;

/** Counts the rules of a compiled list: all lines except blank ones and comments. Closes the file. */
export async function countRules(file: OpenFile): Promise<number> {
  let rules = 0;
  let isStart = true;
  try {
    const block = new Uint8Array(BLOCK);
    for (let count = await file.read(block); count > 0; count = await file.read(block)) {
      for (let at = 0; at < count; at++) {
        const byte = block[at]!;
        if (byte === LF) isStart = true;
        else if (isStart && byte !== SPACE && byte !== TAB && byte !== CR) {
          isStart = false;
          if (byte !== BANG && byte !== HASH) rules++;
        }
      }
    }
    return rules;
  } finally {
    await file.close();
  }
}
