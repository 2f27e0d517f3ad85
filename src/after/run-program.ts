import type { Outcome } from "../builder/state/list-state.ts";
import { decodeUtf8, encodeUtf8 } from "../bytes/text.ts";
import { type HookEvent, isNear, mayReceiveSecrets } from "../config/hooks.ts";
import { countText, printable, someOf } from "../diagnostics/text.ts";
import { VERSION } from "../diagnostics/version.ts";
import { type FetchRequest, type Host, HostError, type ProgramEnd } from "../host/host.ts";
import { Secret, proxyFor } from "../host/network.ts";
import { fetchBody } from "../host/node-fetch.ts";

/** Variables that a program gets from our environment. Others may be secrets. */
const PASSED = [
  "HOME",
  "USER",
  "LOGNAME",
  "SHELL",
  "LANG",
  "LC_ALL",
  "LC_CTYPE",
  "TZ",
  "TMPDIR",
  "TEMP",
  "TMP",
  "XDG_RUNTIME_DIR",
  "SYSTEMROOT",
  "SystemRoot",
  "PATHEXT",
];
const DEFAULT_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
/** Characters of the output that are shown. */
const MOST_SHOWN = 600;

/** Runs a program to its end and returns what it printed, safe to show. Rejects with a `HookFailure`. */
export async function runHookProgram(
  words: readonly string[],
  message: HookMessage | undefined,
  { host, folder, timeoutMs, signal }: HookSetting,
): Promise<string> {
  if (host.runProgram === undefined)
    throw new HookFailure("this runtime cannot start other programs");
  let end: ProgramEnd;
  try {
    end = await host.runProgram({
      words,
      folder,
      env: { ...environmentOf(host), ...(message && variablesOf(message)) },
      input: message === undefined ? "" : `${JSON.stringify(message)}\n`,
      timeoutMs,
      signal,
    });
  } catch (error) {
    if (!(error instanceof HostError)) throw error;
    const what = error.code === "ENOENT" ? "the program does not exist" : error.code;
    throw new HookFailure(`${printable(words[0] ?? "", 80)}: ${what}`);
  }
  const output = outputText(end);
  const printed = output === "" ? "" : `; it printed: ${output}`;
  if (end.isLate) throw new HookFailure(`ended after ${timeoutMs / 1000} s${printed}`);
  if (end.exit === 0) return output;
  const how = end.exit === undefined ? "a signal ended it" : `exit code ${end.exit}`;
  throw new HookFailure(`${how}${printed}`);
}

function environmentOf(host: Host): Record<string, string> {
  const { env, path } = host;
  // A relative folder in PATH would make the program depend on the working directory.
  const folders = (env["PATH"] ?? env["Path"] ?? DEFAULT_PATH)
    .split(path.delimiter)
    .filter((one) => path.isAbsolute(one));
  const known: Record<string, string> = { PATH: folders.join(path.delimiter) };
  for (const name of PASSED) {
    const value = env[name];
    if (value !== undefined) known[name] = value;
  }
  return known;
}

/** The end of the output in one line. */
function outputText({ output, bytes }: ProgramEnd): string {
  const lines = output
    .split(/\r?\n/)
    .map((line) => printable(line.trimEnd(), MOST_SHOWN))
    .filter((line) => line !== "");
  const text = lines.join(" / ");
  if (text.length <= MOST_SHOWN && encodeUtf8(output).length >= bytes) return text;
  return `… ${text.slice(-MOST_SHOWN)} (the end of ${bytes} bytes)`;
}

/** Why a hook failed. Its message contains no secret. */
export class HookFailure extends Error {
  constructor(message: string) {
    super(message);
    this.name = "HookFailure";
  }
}

/** A published file. */
export interface HookFile {
  /** Absolute. */
  readonly path: string;
  readonly bytes: number;
  readonly sha256: string;
}

/** What a hook receives: as JSON on standard input or in the body of a request, and as environment variables. */
export interface HookMessage {
  readonly tool: string;
  readonly event: HookEvent;
  readonly list: string;
  /** When the run ended. */
  readonly at: string;
  /** The list file; absent if the list goes to standard output. */
  readonly output?: string;
  /** All published files; a manifest is the last. */
  readonly files: readonly HookFile[];
  /** The start of the SHA-256 of the list file. */
  readonly build?: string;
  readonly rules?: number;
  /** Rules that were added and removed since the build before, if both are known. */
  readonly added?: number;
  readonly removed?: number;
  /** Sources that were skipped or replaced by their last good copy. */
  readonly degraded: readonly string[];
  /** Resolvers that do not answer from the list. */
  readonly unproved: readonly { readonly resolver: string; readonly outcome: Outcome }[];
  /** What this run found that earlier runs did not report: problems that began or ended. */
  readonly news: readonly { readonly code: string; readonly message: string }[];
  /** Why the list was not published. */
  readonly problems: readonly { readonly code: string; readonly message: string }[];
}

/** What is known about a list, whatever the event is. */
export type ListFacts = Omit<HookMessage, "tool" | "event">;

const MOST_TEXT = 1000;

export function messageOf(event: HookEvent, facts: ListFacts): HookMessage {
  const message = { tool: `rules-compiler ${VERSION}`, event, ...facts };
  // A hook may learn of an earlier publish from a run that was refused.
  return event === "published" ? { ...message, problems: [] } : message;
}

/** The message in one line, for people. */
export function lineOf(message: HookMessage): string {
  const { event, list, rules, added, removed, degraded, unproved, problems } = message;
  const parts = [`${printable(list)}: ${event}`];
  if (rules !== undefined) parts.push(countText(rules, "rule"));
  if (added !== undefined) parts.push(`${added} added`);
  if (removed !== undefined) parts.push(`${removed} removed`);
  if (event === "degraded" && degraded.length > 0)
    parts.push(`affected sources: ${someOf(degraded)}`);
  if (event !== "published" && unproved.length > 0)
    parts.push(`resolvers: ${someOf(unproved.map((one) => `${one.resolver} is ${one.outcome}`))}`);
  const [problem] = problems;
  if (problem !== undefined) parts.push(`[${problem.code}] ${problem.message}`);
  return printable(parts.join("; "), MOST_TEXT);
}

/** The message as environment variables. No value contains a control character. */
function variablesOf(message: HookMessage): Record<string, string> {
  const { event, list, at, output, files, build, rules, added, removed, degraded } = message;
  const [problem] = message.problems;
  const values: Record<string, string | number | undefined> = {
    EVENT: event,
    LIST: list,
    AT: at,
    OUTPUT: output,
    FILES: files.length,
    BUILD: build,
    RULES: rules,
    ADDED: added,
    REMOVED: removed,
    DEGRADED: degraded.length,
    UNPROVED: message.unproved.length,
    PROBLEM: problem?.code,
    MESSAGE: lineOf(message),
  };
  return Object.fromEntries(
    Object.entries(values)
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => [`RULES_COMPILER_${name}`, printable(String(value), 4096)]),
  );
}

/** Where and how long a hook runs. */
export interface HookSetting {
  readonly host: Host;
  /** The folder of the configuration, where its relative paths start. */
  readonly folder: string;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** Reads a secret: one line of visible ASCII characters. Rejects with a `HookFailure` that does not repeat it. */
export async function readSecret(file: string, folder: string, host: Host): Promise<Secret> {
  let text: string;
  try {
    text = decodeUtf8(await host.readFile(host.path.resolve(folder, file)));
  } catch (error) {
    if (!(error instanceof HostError)) throw error;
    throw new HookFailure(`${printable(file)} cannot be read: ${error.code}`);
  }
  const line = text.replace(/\r?\n$/, "");
  if (/^[\x21-\x7e]{1,4096}$/.test(line)) return new Secret(line);
  throw new HookFailure(`${printable(file)} must contain one line without spaces`);
}

export interface OutgoingRequest {
  /** It may contain secrets, so no message repeats it. */
  readonly url: string;
  readonly method?: "POST" | "DELETE";
  readonly headers?: Readonly<Record<string, string>>;
  /** An object is sent as JSON. */
  readonly body?: string | object;
}

const MAX_BYTES = 1024 * 1024;
const CONNECT_MS = 10_000;

/** Sends one request and returns the body of the response. Follows no redirect. Rejects with a `HookFailure`. */
export async function sendRequest(
  request: OutgoingRequest,
  { host, timeoutMs, signal }: HookSetting,
): Promise<string> {
  if (!URL.canParse(request.url)) throw new HookFailure("it is not a valid URL");
  const url = new URL(request.url);
  if (!mayReceiveSecrets(url))
    throw new HookFailure("the URL must be https, without a user name and password");
  const limit = { headersMs: timeoutMs, idleMs: timeoutMs, totalMs: timeoutMs };
  try {
    const { status, headers, body } = await fetchBody(
      {
        url: url.href,
        method: request.method ?? "POST",
        ...contentOf(request),
        timeouts: { connectMs: Math.min(CONNECT_MS, timeoutMs), ...limit },
        maxBytes: MAX_BYTES,
        onlyPublic: false,
        takesAnyStatus: true,
        // A near server is contacted directly: a proxy would see the secrets.
        proxy: isNear(url.hostname) ? undefined : proxyFor(url, host.env),
        signal,
      },
      host,
    );
    if (status >= 200 && status < 300) return decodeUtf8(body);
    const redirect = status >= 300 && status < 400 && headers["location"] !== undefined;
    const more = redirect ? "; secrets are not sent to the target of a redirect" : "";
    throw new HookFailure(`the response has status ${status}${more}`);
  } catch (error) {
    if (error instanceof HookFailure) throw error;
    // Messages of the system contain the name of the server; those of time limits do not.
    if (error instanceof HostError)
      throw new HookFailure(error.code === "ETIMEDOUT" ? error.message : error.code);
    throw new HookFailure("the proxy settings are invalid");
  }
}

function contentOf({ headers, body }: OutgoingRequest): Pick<FetchRequest, "headers" | "body"> {
  const all = { "user-agent": "rules-compiler", ...headers };
  if (body === undefined) return { headers: all };
  if (typeof body === "string") return { headers: all, body: encodeUtf8(body) };
  return {
    headers: { ...all, "content-type": "application/json" },
    body: encodeUtf8(JSON.stringify(body)),
  };
}
