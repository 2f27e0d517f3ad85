import { Buffer } from "node:buffer";
import { decodeUtf8, encodeUtf8 } from "../bytes/text.ts";
import { type PostForm, type ReloadName, isNear, mayReceiveSecrets } from "../config/hooks.ts";
import type { HookConfig } from "../config/lists.ts";
import { countText, printable, someOf } from "../diagnostics/text.ts";
import { VERSION } from "../diagnostics/version.ts";
import { type FetchRequest, type Host, HostError, type ProgramEnd } from "../host/host.ts";
import { Secret, proxyFor } from "../host/network.ts";
import { fetchBody } from "../host/node-fetch.ts";
import type { HookEvent, HookMessage } from "../documents/facts.ts";

/** Runs a hook; returns what it printed. Rejects with a `HookFailure`. */
export async function runHook(
  hook: HookConfig,
  message: HookMessage,
  setting: HookSetting,
): Promise<string> {
  const { run, reload } = hook;
  if (run !== undefined) return await runHookProgram(run, message, setting);
  if (reload !== undefined) return await RELOAD_PRESETS[reload](hook, setting);
  await postMessage(hook, message, setting);
  return "";
}

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
      env: {
        ...environmentOf(host),
        ...(message && { ...variablesOf(message), RULES_COMPILER_TIMEOUT: secondsOf(timeoutMs) }),
      },
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

/** Whole seconds, for programs that wait for others. */
function secondsOf(timeoutMs: number): string {
  return String(Math.max(1, Math.floor(timeoutMs / 1000)));
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
    RESOLVER: message.resolver,
    ADDRESS: message.address,
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

type Form = (message: HookMessage, url: URL) => OutgoingRequest;

/** The forms of services with a host of their own. */
const HOSTS: ReadonlyMap<string, PostForm> = new Map([
  ["hooks.slack.com", "slack"],
  ["discord.com", "discord"],
  ["api.telegram.org", "telegram"],
  ["ntfy.sh", "ntfy"],
]);

/** The request of each service, in the form that it documents. */
const FORMS: Readonly<Record<PostForm, Form>> = {
  json: (message, { href }) => ({ url: href, body: message }),
  // The three characters that Slack interprets must be escaped.
  slack: (message, { href }) => ({
    url: href,
    body: {
      text: lineOf(message)
        .replaceAll("&", "&amp;")
        .replaceAll("<", "&lt;")
        .replaceAll(">", "&gt;"),
    },
  }),
  // Without `parse`, no text in the message can notify a user or a role.
  discord: (message, { href }) => ({
    url: href,
    body: { content: lineOf(message), allowed_mentions: { parse: [] } },
  }),
  ntfy: (message, url) => {
    // Messages as JSON go to the server, and name the topic.
    const at = url.pathname.lastIndexOf("/");
    const topic = decodeURIComponent(url.pathname.slice(at + 1));
    if (topic === "") throw new HookFailure("the URL of ntfy must end with a topic");
    const server = new URL(url);
    server.pathname = url.pathname.slice(0, at + 1);
    const { event } = message;
    const isBad = event === "refused" || event === "failed";
    const body = { topic, title: `rules-compiler: ${event}`, message: lineOf(message) };
    return { url: server.href, body: { ...body, priority: isBad ? 4 : 3 } };
  },
  telegram: (message, url) => {
    const chat = url.searchParams.get("chat_id");
    if (chat === null) throw new HookFailure("the URL of telegram must end with ?chat_id=…");
    const bot = new URL(url);
    bot.search = "";
    return { url: bot.href, body: { chat_id: chat, text: lineOf(message) } };
  },
  healthchecks: (message, url) => {
    const { event } = message;
    const ping = new URL(url);
    if (event === "refused" || event === "failed")
      ping.pathname = `${url.pathname.replace(/\/$/, "")}/fail`;
    return { url: ping.href, body: lineOf(message) };
  },
};

/** The form of the service at a URL. */
export function formAt({ hostname }: URL): PostForm {
  return HOSTS.get(hostname) ?? "json";
}

/** Sends a message. Rejects with a `HookFailure`. */
export async function postMessage(
  { post: urlFile, as, token_file: file }: HookConfig,
  message: HookMessage,
  setting: HookSetting,
): Promise<void> {
  const { folder, host } = setting;
  const address = (await readSecret(urlFile!, folder, host)).reveal();
  if (!URL.canParse(address))
    throw new HookFailure("the file of post does not contain a valid URL");
  const url = new URL(address);
  const request = FORMS[as ?? formAt(url)](message, url);
  const token = file === undefined ? undefined : await readSecret(file, folder, host);
  const headers = token && { authorization: `Bearer ${token.reveal()}` };
  await sendRequest({ ...request, ...(headers && { headers }) }, setting);
}

/** Makes a resolver read its list again; returns what it printed. Rejects with a `HookFailure`. */
export type Reload = (hook: HookConfig, setting: HookSetting) => Promise<string>;

/** A control program: its name, how long it may wait, the words of `with`, then the command. */
function programReload(
  name: string,
  command: readonly string[],
  patience: (timeoutMs: number) => readonly string[] = () => [],
): Reload {
  return async ({ with: words = [] }, setting) => {
    const all = [name, ...patience(setting.timeoutMs), ...words, ...command];
    return await runHookProgram(all, undefined, setting);
  };
}

/** How each resolver documents its reload. */
export const RELOAD_PRESETS: Readonly<Record<ReloadName, Reload>> = {
  unbound: programReload("unbound-control", ["reload"]),
  // It waits for a minute. Only newer versions can wait longer: `with: ["-t", "600"]`.
  bind: programReload("rndc", ["reload"]),
  // Without --force, it ignores a file that changed while its settings did not.
  "knot-resolver": programReload("kresctl", ["reload", "--force"]),
  "knot-resolver-5": programReload("systemctl", ["restart", "kresd@*"]),
  // By itself, it waits for five seconds.
  "powerdns-recursor": programReload("rec_control", ["reload-lua-config"], (timeoutMs) => [
    `--timeout=${secondsOf(timeoutMs)}`,
  ]),
  // The function is defined in the configuration of dnsdist; see docs/resolvers/dnsdist.md.
  dnsdist: programReload("dnsdist", ["-e", "reloadList()"]),
  dnsmasq: async ({ pid_file: file = "/run/dnsmasq/dnsmasq.pid" }, setting) =>
    await signalByFile(file, { program: "dnsmasq", signal: "SIGHUP" }, setting),
  smartdns: programReload("systemctl", ["restart", "smartdns"]),
  "adguard-home": refreshAdGuardHome,
  "pi-hole": refreshPiHole,
  technitium: refreshTechnitium,
};

/** `POST /control/filtering/refresh` downloads the lists that AdGuard Home subscribes to. */
export async function refreshAdGuardHome(hook: HookConfig, setting: HookSetting): Promise<string> {
  const password = await tokenOf(hook, setting);
  const pair = Buffer.from(`${hook.user ?? ""}:${password ?? ""}`).toString("base64");
  const headers = password === undefined ? {} : { authorization: `Basic ${pair}` };
  const url = addressOf(hook, "control/filtering/refresh");
  await sendRequest({ url, headers, body: { whitelist: false } }, setting);
  return "";
}

/** `POST /api/action/gravity` in a session, which is ended afterwards because Pi-hole has few of them. */
export async function refreshPiHole(hook: HookConfig, setting: HookSetting): Promise<string> {
  const password = await tokenOf(hook, setting);
  const auth = addressOf(hook, "api/auth");
  const headers: Record<string, string> = {};
  if (password !== undefined) {
    const text = await sendRequest({ url: auth, body: { password } }, setting);
    headers["x-ftl-sid"] = sessionIn(text);
  }
  try {
    await sendRequest({ url: addressOf(hook, "api/action/gravity"), headers }, setting);
  } finally {
    if (password !== undefined)
      await sendRequest({ url: auth, method: "DELETE", headers }, setting).catch(() => {});
  }
  return "";
}

/** `/api/settings/forceUpdateBlockLists`. Its responses have status 200 even if they report an error. */
export async function refreshTechnitium(hook: HookConfig, setting: HookSetting): Promise<string> {
  const body = new URLSearchParams({ token: (await tokenOf(hook, setting)) ?? "" }).toString();
  const headers = { "content-type": "application/x-www-form-urlencoded" };
  const url = addressOf(hook, "api/settings/forceUpdateBlockLists");
  const { status } = objectIn(await sendRequest({ url, headers, body }, setting));
  if (status === "invalid-token") throw new HookFailure("Technitium rejected the token");
  if (status !== "ok") throw new HookFailure("Technitium reported an error");
  return "";
}

function addressOf({ url = "" }: HookConfig, path: string): string {
  return `${url.replace(/\/+$/, "")}/${path}`;
}

async function tokenOf(
  { token_file: file }: HookConfig,
  { folder, host }: HookSetting,
): Promise<string | undefined> {
  return file === undefined ? undefined : (await readSecret(file, folder, host)).reveal();
}

function sessionIn(text: string): string {
  const { session } = objectIn(text);
  const { sid } = (session ?? {}) as { sid?: unknown };
  if (typeof sid === "string" && /^[\x21-\x7e]{1,512}$/.test(sid)) return sid;
  throw new HookFailure("Pi-hole rejected the password");
}

function objectIn(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null) return value as Record<string, unknown>;
  } catch {
    // Reported below.
  }
  throw new HookFailure("the response is not JSON");
}

/** Sends a signal to the process that a PID file names, if it is the expected program. Rejects with a `HookFailure`. */
export async function signalByFile(
  file: string,
  { program, signal }: { readonly program: string; readonly signal: string },
  { host, folder }: HookSetting,
): Promise<string> {
  if (host.sendSignal === undefined) throw new HookFailure("this runtime cannot send signals");
  const text = await textOf(host.path.resolve(folder, file), host);
  if (text === undefined) throw new HookFailure(`${printable(file)} cannot be read`);
  const pid = /^\s*(?<pid>[1-9]\d{0,9})\s*$/.exec(text)?.groups?.["pid"];
  if (pid === undefined) throw new HookFailure(`${printable(file)} does not contain a PID`);
  // The file may be old, and the number belong to another process now.
  const name = await textOf(`/proc/${pid}/comm`, host);
  if (name !== undefined && name.trim() !== program)
    throw new HookFailure(`process ${pid} is not ${program}`);
  try {
    host.sendSignal(Number(pid), signal);
  } catch (error) {
    if (!(error instanceof HostError)) throw error;
    throw new HookFailure(`process ${pid}: ${error.code}`);
  }
  return "";
}

async function textOf(path: string, host: Host): Promise<string | undefined> {
  try {
    return decodeUtf8(await host.readFile(path));
  } catch (error) {
    if (error instanceof HostError) return undefined;
    throw error;
  }
}
