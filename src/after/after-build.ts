import { Buffer } from "node:buffer";
import { digestAt } from "../builder/apply-plan.ts";
import { type BuildOutcome, type ListOutcome, isDegraded } from "../builder/build.ts";
import type { ProjectOptions } from "../builder/plan/build-options.ts";
import { listFiles } from "../builder/plan/list-plan.ts";
import { openProject } from "../builder/plan/project.ts";
import type { WrittenOutput } from "../builder/publish/publish-list.ts";
import { Conditions } from "../builder/state/conditions.ts";
import { decodeUtf8 } from "../bytes/text.ts";
import type { HookEvent, PostForm, ReloadName } from "../config/hooks.ts";
import type { HookConfig } from "../config/lists.ts";
import { durationMs } from "../config/units.ts";
import { Exit, codeEntry } from "../diagnostics/codes.ts";
import { CompilerError, type Diagnostic, warningOf } from "../diagnostics/render.ts";
import { countText, printable } from "../diagnostics/text.ts";
import { changedRules } from "../explain/list-change.ts";
import type { StateFile } from "../host/files.ts";
import { type Host, HostError } from "../host/host.ts";
import { PATCH_FOLDER, patchesOf } from "../publish/patches.ts";
import { keptBuilds, listOf, stateOf } from "../record/record-file.ts";
import { type ResolverState, lacksProof, lastProofs } from "../resolvers/prove.ts";
import {
  HookFailure,
  type HookFile,
  type HookMessage,
  type HookSetting,
  type ListFacts,
  type OutgoingRequest,
  lineOf,
  messageOf,
  readSecret,
  runHookProgram,
  sendRequest,
} from "./run-program.ts";

/** What hooks run for: files that were published, or states that changed. Resolvers are asked between the two. */
export type HookPhase = "published" | "state";

export interface HookContext {
  readonly options: ProjectOptions;
  /** Whether hooks may run. */
  readonly isAllowed: boolean;
  readonly phase: HookPhase;
  /** Lists that resolvers do not answer from: hooks that reload run again. */
  readonly reloadAgain?: ReadonlySet<string>;
  readonly host: Host;
  readonly signal: AbortSignal;
  readonly report: (diagnostic: Diagnostic) => void;
}

interface Known {
  readonly list: FinishedList;
  readonly state: HookState;
}

const DEFAULT_MS = 60_000;

/** Runs the hooks of a configuration that are due after a build. A hook that fails is a warning, nothing more. */
export async function afterBuild(outcome: BuildOutcome, context: HookContext): Promise<void> {
  const { options, isAllowed, host, signal } = context;
  if (outcome.status === "interrupted" || options.inputs.length > 0) return;
  // Saves most runs from reading the configuration twice.
  if (!isAllowed && !(await mayHaveHooks(options, host))) return;
  const { hooks, folder, resolvers } = await hooksOf(options, host);
  if (hooks.length === 0) return;
  if (!isAllowed) return context.report(skipped(hooks.length));
  const { combined = [] } = outcome;
  const known: Known[] = [];
  const keys = await Promise.all(hooks.map(hookKey));
  for (const one of outcome.lists) {
    // A first list that lacks sources must not replace what a resolver has.
    if (one.isIncomplete === true) continue;
    const list = await finishedList(one, { resolvers, combined }, options, host);
    if (list === undefined) continue;
    const state = await HookState.open(list.path, host);
    state.keepOnly(keys);
    known.push({ list: { ...list, now: await state.complete(list.now) }, state });
  }
  const hooksRun = new HooksRun(known, folder, context);
  for (const [index, hook] of hooks.entries())
    if (!signal.aborted) await hooksRun.run(hook, keys[index]!);
  await hooksRun.end();
}

async function mayHaveHooks({ configPath }: ProjectOptions, host: Host): Promise<boolean> {
  try {
    const text = decodeUtf8(await host.readFile(host.path.resolve(host.cwd, configPath)));
    return text.includes("after");
  } catch (error) {
    if (error instanceof HostError) return false;
    throw error;
  }
}

async function hooksOf(
  options: ProjectOptions,
  host: Host,
): Promise<{
  readonly hooks: readonly HookConfig[];
  readonly folder: string;
  readonly resolvers: readonly ResolverState[];
}> {
  try {
    const { project, lists } = await openProject({ ...options, filter: [] }, host);
    const hooks = project.config.after ?? [];
    const resolvers = hooks.length === 0 ? [] : await lastProofs(lists, options, host);
    return { hooks, folder: project.folder, resolvers };
  } catch (error) {
    // The file changed after the build read it; the next run reports its problems.
    if (error instanceof CompilerError) return { hooks: [], folder: "", resolvers: [] };
    throw error;
  }
}

function skipped(count: number): Diagnostic {
  const { hint } = codeEntry("hooks-skipped");
  const message = `${countText(count, "hook")} skipped`;
  return { code: "hooks-skipped", severity: "note", message, hint };
}

/** The hooks of one run, one after the other. */
class HooksRun {
  private readonly known: readonly Known[];
  private readonly folder: string;
  private readonly context: HookContext;
  private readonly failures = new Map<FinishedList, Diagnostic[]>();

  constructor(known: readonly Known[], folder: string, context: HookContext) {
    this.known = known;
    this.folder = folder;
    this.context = context;
  }

  /** Reports failures that earlier runs did not report, and that hooks run again. */
  async end(): Promise<void> {
    const { host, phase, report } = this.context;
    const finder = phase === "published" ? "hooks" : "state-hooks";
    for (const { list } of this.known) {
      const diagnostics = this.failures.get(list) ?? [];
      const found = { finder, diagnostics } as const;
      for (const one of await new Conditions(list.path, host).settle(found)) report(one);
    }
  }

  private failed(list: FinishedList): Diagnostic[] {
    const known = this.failures.get(list) ?? [];
    this.failures.set(list, known);
    return known;
  }

  /** Runs a hook for every list and event that it does not know yet; a reload once for all of them. */
  async run(hook: HookConfig, key: string): Promise<void> {
    const due = this.known.map((one) => ({ ...one, events: this.eventsOf(hook, key, one) }));
    let hasReloaded: boolean | undefined;
    for (const { list, state, events } of due) {
      let isDone = true;
      for (const event of events) {
        if (this.context.signal.aborted) return;
        if (hook.reload === undefined) isDone = (await this.once(hook, event, list)) && isDone;
        else isDone = hasReloaded ??= await this.once(hook, event, list);
      }
      // A hook that failed still does not know, so the next run tries again.
      if (isDone) await state.set(key, this.learned(state.get(key), list.now));
    }
  }

  /** What a hook knows after this phase. */
  private learned(told: Told | undefined, { files, ...states }: Told): Told {
    const { files: known, ...before } = told ?? { health: "good" };
    if (this.context.phase === "published")
      return { ...before, ...(files !== undefined && { files }) };
    return { ...states, ...(known !== undefined && { files: known }) };
  }

  private eventsOf(hook: HookConfig, key: string, { list, state }: Known): HookEvent[] {
    const { phase, reloadAgain } = this.context;
    const { on = ["published"], as, reload } = hook;
    const told = state.get(key);
    const { health } = list.now;
    if (as === "healthchecks")
      return phase === "state" ? [health === "good" ? "published" : health] : [];
    if (phase === "state") return dueStates(told, list.now).filter((event) => on.includes(event));
    const isAgain = reload !== undefined && reloadAgain?.has(list.outcome.list) === true;
    const isDue = isPublishDue(told, list.now) || isAgain;
    return isDue && on.includes("published") ? ["published"] : [];
  }

  private async once(hook: HookConfig, event: HookEvent, list: FinishedList): Promise<boolean> {
    const { host, signal, report } = this.context;
    const timeoutMs = durationMs(hook.timeout ?? "") ?? DEFAULT_MS;
    const title = `${titleOf(hook)}, ${event}, ${printable(list.outcome.list, 80)}`;
    const began = host.now().getTime();
    try {
      const message = messageOf(event, await factsOf(list, host));
      const setting = { host, signal, timeoutMs, folder: this.folder };
      const printed = await runHook(hook, message, setting);
      const seconds = ((host.now().getTime() - began) / 1000).toFixed(1);
      const output = printed === "" ? "" : `; it printed: ${printed}`;
      const text = `Hook ran: ${title}, ${seconds} s${output}`;
      report({ code: "hook-ran", severity: "note", message: text });
      return true;
    } catch (error) {
      if (!(error instanceof HookFailure)) throw error;
      const { hint } = codeEntry("hook-failed");
      const cause = error.message;
      const found = warningOf("hook-failed", `Hook failed: ${title}`, {
        cause,
        hint,
        subject: titleOf(hook),
      });
      this.failed(list).push(found);
      return false;
    }
  }
}

/** What the last run made of a list. */
export type ListHealth = "good" | "degraded" | "refused" | "failed";

/** What a hook knows about a list: what its last successful run reported. */
export interface Told {
  readonly health: ListHealth;
  /** Whether a resolver does not answer from the list. */
  readonly isUnproved?: boolean;
  /** Identifies the published files; absent if none were published yet. */
  readonly files?: string;
}

/** Whether a hook does not know the published files yet. */
export function isPublishDue(told: Told | undefined, now: Told): boolean {
  return now.files !== undefined && now.files !== told?.files;
}

/** The states that a hook does not know yet. A state is an event when it begins, not in every run. */
export function dueStates(told: Told | undefined, now: Told): HookEvent[] {
  const events = new Set<HookEvent>();
  if (now.health !== "good" && now.health !== told?.health) events.add(now.health);
  if (now.isUnproved === true && told?.isUnproved !== true) events.add("degraded");
  if (told !== undefined && isTrouble(told) && !isTrouble(now)) events.add("recovered");
  return [...events];
}

function isTrouble({ health, isUnproved }: Told): boolean {
  return health !== "good" || isUnproved === true;
}

interface StoredState {
  readonly version: 1;
  /** Identifies the files of the last publish. */
  readonly files?: string;
  /** By the digest of the hook's settings. */
  readonly told: Readonly<Record<string, Told>>;
}

const HEALTHS = new Set<ListHealth>(["good", "degraded", "refused", "failed"]);

/** What each hook knows about one list, stored beside the list. A list on standard output has no such file. */
export class HookState {
  private readonly file: StateFile<StoredState> | undefined;
  private told: Record<string, Told>;
  private files: string | undefined;

  private constructor(file: StateFile<StoredState> | undefined, stored: StoredState | undefined) {
    this.file = file;
    this.told = { ...stored?.told };
    this.files = stored?.files;
  }

  static async open(list: string | undefined, host: Host): Promise<HookState> {
    if (list === undefined) return new HookState(undefined, undefined);
    const file = stateOf(list, "hooks.json", isState, host);
    return new HookState(file, await file.read());
  }

  get(key: string): Told | undefined {
    return Object.hasOwn(this.told, key) ? this.told[key] : undefined;
  }

  /** Completes what a run found. One that published nothing leaves the files of an earlier one, which a hook may not know yet. */
  async complete(now: Told): Promise<Told> {
    const { files = this.files } = now;
    if (files === undefined) return now;
    if (files !== this.files) {
      this.files = files;
      await this.store();
    }
    return { ...now, files };
  }

  /** Stores at once, so that a run that is killed repeats as little as possible. */
  async set(key: string, told: Told): Promise<void> {
    const known = this.get(key);
    if (known !== undefined && isSame(known, told)) return;
    this.told[key] = told;
    await this.store();
  }

  /** Forgets hooks that the configuration no longer has. */
  keepOnly(keys: readonly string[]): void {
    this.told = Object.fromEntries(Object.entries(this.told).filter(([key]) => keys.includes(key)));
  }

  private async store(): Promise<void> {
    const { told, files } = this;
    await this.file?.tryReplace({ version: 1, ...(files !== undefined && { files }), told }, 1);
  }
}

/** Identifies a hook by its settings. Secrets are in files, and not part of it. */
export async function hookKey(hook: HookConfig): Promise<string> {
  return await shortDigest(JSON.stringify(hook));
}

export async function shortDigest(text: string): Promise<string> {
  const { createHash } = await import("node:crypto");
  return createHash("sha256").update(text).digest("hex").slice(0, 16);
}

function isSame(one: Told, other: Told): boolean {
  const { isUnproved = false } = one;
  const isKnown = one.health === other.health && one.files === other.files;
  return isKnown && isUnproved === (other.isUnproved ?? false);
}

function isState(value: unknown): value is StoredState {
  if (typeof value !== "object" || value === null) return false;
  const { version, files, told } = value as Partial<StoredState>;
  if (files !== undefined && typeof files !== "string") return false;
  if (version !== 1 || typeof told !== "object" || told === null) return false;
  return Object.values(told).every(isTold);
}

function isTold(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  const { health, files, isUnproved = false } = value as Partial<Told>;
  if (typeof isUnproved !== "boolean") return false;
  return HEALTHS.has(health!) && (files === undefined || typeof files === "string");
}

/** A list after a build, as hooks see it. */
export interface FinishedList {
  readonly outcome: ListOutcome;
  /** The list file; undefined if the list goes to standard output. */
  readonly path: string | undefined;
  /** Its files and those over several lists, as absolute paths; patches are a folder. */
  readonly files: readonly string[];
  readonly now: Told;
  /** The resolvers that do not answer from it. */
  readonly unproved: readonly ResolverState[];
}

/** What a run found beside its lists. */
interface RunFacts {
  readonly resolvers: readonly ResolverState[];
  /** Files over several lists. */
  readonly combined: readonly WrittenOutput[];
}

/** Comparing larger lists would take too much memory. */
const MOST_COMPARED = 64 * 1024 * 1024;

/** Undefined if another run builds the list: that run has its own hooks. */
export async function finishedList(
  outcome: ListOutcome,
  { resolvers, combined }: RunFacts,
  options: ProjectOptions,
  host: Host,
): Promise<FinishedList | undefined> {
  if (outcome.exit === Exit.Locked) return undefined;
  const [list] = listFiles(outcome.list, options, host);
  const pathsOf = (outputs: readonly WrittenOutput[]): string[] =>
    outputs.flatMap(({ file, files }) => files ?? [file]).map(absolute);
  const absolute = (name: string): string => host.path.resolve(host.cwd, name);
  const written = pathsOf(outcome.outputs);
  const files = new Set([...written, ...pathsOf(combined), ...outcome.files.map(absolute)]);
  const stamps: string[] = [];
  // A manifest is new in every run.
  for (const file of written) stamps.push(`${file} ${(await host.stampOf(file))?.text}`);
  const health = healthOf(outcome);
  const isPublished = health === "good" || health === "degraded";
  const isNew = list === undefined && outcome.status === "published";
  const known = stamps.length > 0 || isNew;
  const unproved = resolvers.filter((one) => one.list === outcome.list && lacksProof(one));
  const now = {
    health,
    ...(unproved.length > 0 && { isUnproved: true }),
    ...(isPublished && known && { files: await shortDigest(stamps.join("\n")) }),
  };
  return { outcome, path: list?.path, files: [...files], now, unproved };
}

function healthOf({ status, report }: ListOutcome): ListHealth {
  if (status === "refused" || status === "failed") return status;
  return report?.degraded === true ? "degraded" : "good";
}

/** What a message contains about a list. It reads the list, so it is made only for a hook that runs. */
export async function factsOf(list: FinishedList, host: Host): Promise<ListFacts> {
  const { outcome, path, unproved } = list;
  const { report, diagnostics, status } = outcome;
  const isPublished = status === "published" || status === "unchanged";
  const build = path === undefined ? undefined : await digestAt(path, host);
  const sources = report?.sources.filter(({ state }) => isDegraded(state)) ?? [];
  return {
    list: outcome.list,
    at: host.now().toISOString(),
    ...(path !== undefined && { output: path }),
    files: await publishedFiles(list, host),
    ...(build && { build: build.slice(0, 16) }),
    ...(isPublished && report && { rules: report.rules }),
    ...(isPublished && path !== undefined && (await changeOf(path, host))),
    degraded: sources.map(({ label }) => label),
    unproved: unproved.map(({ resolver, outcome: state }) => ({ resolver, outcome: state! })),
    news: diagnostics
      .filter(({ news, severity }) => news === true && severity !== "error")
      .map(({ code, message }) => ({ code, message })),
    problems: isPublished ? [] : diagnostics.map(({ code, message }) => ({ code, message })),
  };
}

/** The files that exist, with those of the folder of patches. */
async function publishedFiles(list: FinishedList, host: Host): Promise<HookFile[]> {
  const files: HookFile[] = [];
  for (const path of list.files) {
    const isFolder = host.path.basename(path) === PATCH_FOLDER;
    const names = isFolder ? await patchesOf(list.outcome.list, path, host) : [""];
    for (const name of names) {
      const one = host.path.join(path, name);
      const sha256 = await digestAt(one, host);
      if (sha256 !== null) files.push({ path: one, bytes: await host.sizeOf(one), sha256 });
    }
  }
  return files;
}

/** How many rules the last two builds differ by; empty if they are not both kept. */
async function changeOf(
  path: string,
  host: Host,
): Promise<{ readonly added?: number; readonly removed?: number }> {
  const [last, before] = (await keptBuilds(path, host)).toReversed();
  if (last === undefined || before === undefined) return {};
  if ((await host.sizeOf(path)) > MOST_COMPARED) return {};
  const old = await listOf(before, host);
  const fresh = await listOf(last, host);
  if (old === undefined || fresh === undefined) return {};
  const { added, removed } = changedRules(old, fresh);
  return { added: added.length, removed: removed.length };
}

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

/** Names a hook in messages: its arguments may be long or private, so they are left out. */
export function titleOf({ run, as, reload }: HookConfig): string {
  if (run !== undefined) return `run ${printable(run[0] ?? "", 80)}`;
  return reload === undefined ? (as === undefined ? "post" : `post ${as}`) : `reload ${reload}`;
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

/** A control program: its name, the words of `with`, then the command. */
function programReload(name: string, ...command: string[]): Reload {
  return async ({ with: words = [] }, setting) =>
    await runHookProgram([name, ...words, ...command], undefined, setting);
}

/** How each resolver documents its reload. */
export const RELOAD_PRESETS: Readonly<Record<ReloadName, Reload>> = {
  unbound: programReload("unbound-control", "reload"),
  bind: programReload("rndc", "reload"),
  // Without --force, it ignores a file that changed while its settings did not.
  "knot-resolver": programReload("kresctl", "reload", "--force"),
  "knot-resolver-5": programReload("systemctl", "restart", "kresd@*"),
  "powerdns-recursor": programReload("rec_control", "reload-lua-config"),
  // The function is defined in the configuration of dnsdist; see docs/resolvers/dnsdist.md.
  dnsdist: programReload("dnsdist", "-e", "reloadList()"),
  dnsmasq: async ({ pid_file: file = "/run/dnsmasq/dnsmasq.pid" }, setting) =>
    await signalByFile(file, { program: "dnsmasq", signal: "SIGHUP" }, setting),
  smartdns: programReload("systemctl", "restart", "smartdns"),
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
