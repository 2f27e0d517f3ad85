import { type ListedCondition, PATCH_FOLDER, lacksProof } from "../library/programs.ts";
import {
  CompilerError,
  type Diagnostic,
  type Style,
  errorOf,
  locationText,
} from "../diagnostics/render.ts";
import { printable, reasonOf } from "../diagnostics/text.ts";
import type { Health, HeldList, ResolverState } from "../documents/facts.ts";
import {
  type Answerer,
  type Host,
  HostError,
  type ListenAddress,
  type Listening,
  type WebReply,
  type WebRequest,
} from "../host/host.ts";
import { ageOf, healthOf } from "./health.ts";
import { NO_HISTORY, isWorthRetrying, readHistory } from "./history.ts";
import { type ProbeTimes, metricsText } from "./metrics.ts";
import { type OwnToken, jsonReply, textReply } from "./requests.ts";
import { type RequestSettings, type RouteContext, requestContext, route } from "./routes.ts";
import { Runner, type RunnerOptions, type Schedule, Scheduler } from "./runs.ts";
import { ListStore, ServedFiles } from "./served-lists.ts";
import { statusPage } from "./status-page.ts";

interface ServeSettings {
  readonly listenOn: ListenAddress;
  readonly schedule: Schedule;
  readonly jitterMs: number;
  /** When a run that was not good is first repeated; 0 for never. */
  readonly retryMs: number;
  /** Time limit of a run; 0 for none. */
  readonly runTimeoutMs: number;
  /** The folder of the history. */
  readonly folder: string;
  /** The folder that paths of lists are relative to. */
  readonly root?: string;
  /** The files that the configuration names, ... */
  readonly lists: readonly string[];
  /** ... and all that it may have, also of formats and of several lists. */
  readonly outputs: readonly string[];
  /** The paths of all parts that are published of a file; the first one is that of the file. */
  readonly partsOf: (path: string) => Promise<readonly string[]>;
  readonly compile: RunnerOptions["compile"];
  readonly requests: RequestSettings;
  /** The token of `requests` if the server made it. */
  readonly ownToken: OwnToken | undefined;
  /** Reads what is published. */
  readonly published: () => Promise<readonly PublishedFile[]>;
  /** Reads which lists are held. */
  readonly held: () => Promise<readonly HeldList[]>;
  /** The names of the hooks that runs may run. */
  readonly hooks: readonly string[];
  /** Reads what lasts. */
  readonly conditions: () => Promise<readonly ListedCondition[]>;
  /** The last proofs of the resolvers. */
  readonly proofs: () => Promise<readonly ResolverState[]>;
  /** Asks all resolvers once, and returns what changed; undefined without the permission for it. */
  readonly probe?: AskResolvers | undefined;
  /** The files of the reports, one per list. */
  readonly reports: readonly string[];
  /** Writes the reports. */
  report(): Promise<void>;
}

interface PublishedFile {
  /** The path of its file. */
  readonly path: string;
  readonly rules: number;
}

type AskResolvers = (
  isRunning: () => boolean,
  signal: AbortSignal,
) => Promise<readonly Pick<ResolverState, "resolver" | "list" | "outcome" | "detail">[]>;

/** Compiles on a schedule and serves the lists until the signal. Rejects with a `CompilerError` if it cannot start. */
export async function serve(
  settings: ServeSettings,
  host: Host,
  log: EventLog,
  signal: AbortSignal,
): Promise<void> {
  const server = new Server(settings, host, log, signal);
  await server.begin();
  try {
    await server.run();
  } finally {
    await server.end();
  }
}

class Server {
  private readonly settings: ServeSettings;
  private readonly host: Host;
  private readonly log: EventLog;
  private readonly signal: AbortSignal;
  private readonly store: ListStore;
  private readonly served: ServedFiles;
  private readonly reports: ListStore;
  private readonly patches: ListStore;
  private readonly published: LastRead<PublishedFile>;
  private readonly held: LastRead<HeldList>;
  private readonly proofs: LastRead<ResolverState>;
  private readonly conditions: LastRead<ListedCondition>;
  private readonly renewal: ReportRenewal;
  private readonly context: RouteContext;
  private readonly requests = new Map<string, number>();
  private readonly startedAt: number;
  private runner!: Runner;
  private listening: Listening | undefined;
  private next: number | undefined;
  private lagMs = 0;
  private probed: ProbeTimes | undefined;

  constructor(settings: ServeSettings, host: Host, log: EventLog, signal: AbortSignal) {
    this.settings = settings;
    this.host = host;
    this.log = log;
    this.signal = signal;
    this.store = new ListStore(host, log, settings.root);
    const { lists, outputs, partsOf } = settings;
    this.served = new ServedFiles({ host, configured: [...lists, ...outputs], partsOf });
    this.reports = new ListStore(host, log);
    this.patches = new ListStore(host, log);
    this.published = new LastRead("published lists", settings.published, { host, log });
    this.held = new LastRead("held lists", settings.held, { host, log });
    this.proofs = new LastRead("proofs", settings.proofs, { host, log });
    this.conditions = new LastRead("conditions", settings.conditions, { host, log });
    this.startedAt = host.now().getTime();
    this.renewal = new ReportRenewal({
      log,
      signal,
      renew: async () => {
        await settings.report();
        await this.reports.refreshNow();
      },
    });
    const parts = { host, log, signal, timeoutMs: settings.runTimeoutMs };
    this.context = {
      ...this.pages,
      ...requestContext(
        settings.requests,
        { ...parts, onDone: () => this.afterAction(), version: () => this.version() },
        () => this.runner,
      ),
      compile: () => this.runNow("request"),
    };
  }

  async begin(): Promise<void> {
    const { settings, host, log, signal } = this;
    const { folder, compile, runTimeoutMs } = settings;
    const history = await readHistory(folder, host, () =>
      log.write("warning", "history-damaged", { folder, reason: "starting with an empty one" }),
    );
    this.runner = new Runner(history, {
      host,
      log,
      folder,
      signal,
      runTimeoutMs,
      compile,
      onPublished: () => this.servePublished(),
    });
    // The files of the current configuration; an earlier server may have served others.
    await this.serveFiles(settings.lists);
    this.reports.serve(settings.reports);
    await this.reports.refresh();
    await this.published.refresh();
    await this.held.refresh();
    await this.proofs.refresh();
    await this.conditions.refresh();
    const place = { host, log, listenOn: settings.listenOn };
    this.listening = await openPort(place, (request) => this.answer(request));
    const { address, port } = this.listening;
    const header = await settings.ownToken?.write(port);
    const schedule = settings.schedule.pattern;
    log.write("info", "listening", { address, port, schedule, header }, [
      ["status page", addressText(this.listening, "")],
      ...this.store.names
        .slice(0, MOST_LISTS)
        .map((name) => ["list", addressText(this.listening!, name)] as const),
      ["schedule", schedule],
    ]);
    if (settings.ownToken !== undefined && header === undefined)
      log.write("warning", "no-token", {
        reason: "the cache folder cannot be written, so POST needs --token-file",
      });
    host.onHangup?.(() => this.runNow("signal"));
  }

  async run(): Promise<void> {
    const { probe } = this.settings;
    const stop = new AbortController();
    const end = (): void => stop.abort(this.signal.reason);
    if (this.signal.aborted) end();
    this.signal.addEventListener("abort", end, { once: true });
    await Promise.all([
      this.compileOnSchedule().finally(end),
      probe && this.askResolvers(probe, stop.signal),
    ]);
  }

  /** Resolvers lose their list between runs, too: when they restart, or are installed again. */
  private async askResolvers(probe: AskResolvers, signal: AbortSignal): Promise<void> {
    const { host, log } = this;
    let problem: string | undefined;
    while (!signal.aborted) {
      const began = host.now().getTime();
      try {
        const changes = await probe(() => this.runner.isBusy, signal);
        for (const { resolver, list, outcome, detail } of changes) {
          const level = outcome === "proved" ? "info" : "warning";
          log.write(level, "resolver", { resolver, list, outcome, detail });
        }
        await this.proofs.refreshNow();
        problem = undefined;
      } catch (error) {
        const reason = (error as Error).message;
        if (reason !== problem) log.write("warning", "not-asked", { reason });
        problem = reason;
      }
      const took = Math.max(0, host.now().getTime() - began);
      this.probed = { at: began + took, ms: took };
      await host.wait(Math.max(SECOND, PROBE_MS - took), signal);
    }
  }

  private async compileOnSchedule(): Promise<void> {
    const { schedule, jitterMs, retryMs } = this.settings;
    const now = this.host.now().getTime();
    const age = ageOf(this.runner.history.lastSuccess, now);
    const isComplete = this.store.missing.length === 0;
    const scheduler = new Scheduler({
      schedule,
      jitterMs,
      retryMs,
      host: this.host,
      signal: this.signal,
      random: Math.random,
      run: async ({ trigger, lag }) => {
        this.lagMs = trigger === "schedule" ? lag : this.lagMs;
        this.next = undefined;
        await this.runner.run(trigger);
        await this.held.refresh();
        await this.proofs.refresh();
        await this.conditions.refresh();
      },
      isRetryDue: () => {
        const last = this.runner.history.runs.at(-1);
        if (last === undefined) return false;
        // A run reloads the resolver, and tells hooks.
        const isLost = this.settings.probe !== undefined && this.proofs.all.some(lacksProof);
        return isLost || isWorthRetrying(last);
      },
      onNext: (at) => {
        this.next = at;
        const isNever = at === Infinity;
        const time = isNever ? null : `${new Date(at).toISOString().slice(0, 19)}Z`;
        this.log.write("info", "next-run", { at: time });
      },
      onSkipped: (count) => this.runner.noteSkipped(count),
    });
    await scheduler.run(isComplete && age !== undefined ? now - age : undefined);
  }

  async end(): Promise<void> {
    await this.settings.ownToken?.remove();
    await this.listening?.close();
    await this.runner.settled();
    await this.renewal.settled();
    await this.store.settled();
    await this.reports.settled();
    await this.patches.settled();
    this.log.write("info", "stopped");
  }

  private answer(request: WebRequest): ReturnType<typeof route>["reply"] {
    try {
      const { name, reply } = route(request, this.context);
      if (!(reply instanceof Promise)) return this.counted(request, name, reply);
      return reply
        .catch((error: unknown) => this.failed(request, error))
        .then((later) => this.counted(request, name, later));
    } catch (error) {
      return this.counted(request, "other", this.failed(request, error));
    }
  }

  private failed({ method, target }: WebRequest, error: unknown): WebReply {
    const reason = (error as Error).message;
    this.log.write("error", "request-failed", { method, target: target.split("?")[0], reason });
    return textReply(500, "internal error\n");
  }

  private counted(request: WebRequest, name: string, reply: WebReply): WebReply {
    const key = `${name} ${reply.status}`;
    this.requests.set(key, (this.requests.get(key) ?? 0) + 1);
    if (this.log.isEnabled("debug"))
      this.log.write("debug", "request", {
        method: request.method,
        // A query may hold what is not meant for a log.
        target: request.target.split("?")[0],
        status: reply.status,
        address: request.address,
      });
    return reply;
  }

  /** Changes with every list that is published. */
  private version(): string {
    for (const name of this.store.names) this.store.find(name);
    return this.store.all.map(({ fingerprint }) => fingerprint).join(" ");
  }

  private readonly pages = {
    health: (): Health => this.health(),
    metrics: this.throttle(() =>
      metricsText({
        history: this.runner.history,
        lists: this.store.all,
        rulesOf: this.rulesOf,
        isHealthy: this.health().isHealthy,
        held: this.held.all,
        resolvers: this.proofs.all,
        probed: this.probed,
        hooks: this.settings.hooks,
        conditions: this.conditions.all,
        isRunning: this.runner.runningSince !== undefined,
        startedAt: this.startedAt,
        next: this.next,
        lagMs: this.lagMs,
        requests: this.requests,
      }),
    ),
    page: this.throttle(() =>
      statusPage({
        history: this.runner.history,
        health: this.health(),
        lists: this.store.all,
        rulesOf: this.rulesOf,
        now: this.host.now().getTime(),
        schedule: this.settings.schedule.pattern,
        nameOf: (file) => this.nameOf(file),
        reports: this.reports.all.map(({ name }) => name),
        asks: this.settings.requests,
      }),
    ),
    list: (name: string) => this.store.findNew(name),
    report: (list: string) => {
      const [only, ...more] = this.reports.names;
      if (list !== "") return this.reports.find(`${list}.report.html`);
      return more.length === 0 ? this.reports.find(only!) : undefined;
    },
    patch: (name: string) => this.patches.findNew(name),
  };

  /** As bytes, which all requests within a second share. */
  private throttle(make: () => string): () => Uint8Array {
    const now = (): number => this.host.now().getTime();
    return throttle(now, () => new TextEncoder().encode(make()));
  }

  private health(): Health {
    const { schedule } = this.settings;
    const now = this.host.now().getTime();
    // Each request starts a refresh, so the next request notices removed lists.
    for (const name of this.store.names) this.store.find(name);
    return healthOf({
      history: this.runner.history,
      now,
      limitMs: 3 * schedule.longestInterval(now),
      missing: this.store.missing,
      publishedAt: (file) => this.store.find(this.nameOf(file))?.modified.toISOString(),
      rulesOf: this.rulesOf,
      held: this.held.look(),
      resolvers: this.proofs.look(),
      conditions: this.conditions.look(),
      unread: [this.published, this.held, this.proofs, this.conditions].flatMap(
        (one) => one.unread,
      ),
      isRunning: this.runner.runningSince !== undefined,
      next: this.next,
    });
  }

  private readonly rulesOf = (file: string): number | undefined => {
    const path = this.host.path.resolve(this.host.cwd, file);
    return this.published.look().find((one) => one.path === path)?.rules;
  };

  /** The served name of an output file. */
  private nameOf(file: string): string {
    return this.store.nameOf(this.host.path.resolve(this.host.cwd, file));
  }

  private runNow(trigger: "signal" | "request"): "started" | "queued" {
    const state = this.runner.isBusy ? "queued" : "started";
    void this.runner.run(trigger);
    return state;
  }

  /** An action may have published other files: a rollback writes a patch, and as many parts as that build has. */
  private async afterAction(): Promise<readonly HeldList[]> {
    await this.published.refreshNow();
    await this.held.refreshNow();
    await this.store.refreshNow();
    await this.patches.refreshNow();
    this.renewal.begin();
    return this.held.all;
  }

  private async servePublished(): Promise<void> {
    const outputs = this.runner.history.lastBuild?.outputs ?? [];
    await this.serveFiles(this.served.pathsOf(outputs));
    await this.published.refreshNow();
    this.renewal.begin();
  }

  /** Serves files with their parts and patches, also those that others publish later. */
  private async serveFiles(paths: readonly string[]): Promise<void> {
    this.store.serve(paths, () => this.served.withParts(paths));
    await this.store.refreshNow();
    this.patches.serve([], () => this.patchesBeside(paths));
    await this.patches.refreshNow();
  }

  /** The patches in the folders beside the lists. */
  private async patchesBeside(lists: readonly string[]): Promise<string[]> {
    const folders = new Set(
      lists.map((path) => this.host.path.join(this.host.path.dirname(path), PATCH_FOLDER)),
    );
    const paths: string[] = [];
    for (const folder of folders)
      for (const name of await this.host.listFolder(folder))
        if (name.endsWith(".patch")) paths.push(this.host.path.join(folder, name));
    return paths;
  }
}

/** How often resolvers are asked. */
const PROBE_MS = 60_000;

/** How many addresses of lists a terminal shows; the status page has all. */
const MOST_LISTS = 10;

/** A URL that works on this machine. */
function addressText({ address, port }: Listening, path: string): string {
  const isAny = address === "0.0.0.0" || address === "::";
  const host = isAny ? "localhost" : address.includes(":") ? `[${address}]` : address;
  return new URL(path, `http://${host}:${port}/`).href;
}

type LogFields = Readonly<Record<string, string | number | boolean | null | undefined>>;
type EventLevel = "debug" | "info" | "warning" | "error";

const TONES = { debug: "faint", info: "strong", warning: "warning", error: "error" } as const;

interface EventLogSettings {
  readonly json: boolean;
  readonly style: Style;
  /** Wraps a text to the width of the screen. */
  readonly wrap?: (text: string) => string;
  isEnabled(level: EventLevel): boolean;
}

/** The log of a server, one event per line: JSON for machines, `time event key=value` for people. */
export class EventLog {
  private readonly host: Host;
  private readonly settings: EventLogSettings;

  constructor(host: Host, settings: EventLogSettings) {
    this.host = host;
    this.settings = settings;
  }

  isEnabled(level: EventLevel): boolean {
    return this.settings.isEnabled(level);
  }

  /** `shown`: what people see below the event, instead of its fields. */
  write(
    level: EventLevel,
    event: string,
    fields: LogFields = {},
    shown?: readonly (readonly [string, string])[],
  ): void {
    const { json, style, wrap = (text: string): string => text } = this.settings;
    if (!this.isEnabled(level)) return;
    const time = this.host.now().toISOString();
    if (json) {
      this.host.stderr.write(`${JSON.stringify({ time, level, event, ...fields })}\n`);
      return;
    }
    const pairs = Object.entries(shown === undefined ? fields : {})
      .filter(([, value]) => value !== undefined && value !== null)
      .map(([key, value]) => `${style.faint(`${key}=`)}${fieldText(value)}`);
    const line = [style.faint(time.slice(0, 19).replace("T", " ")), style[TONES[level]](event)];
    this.host.stderr.write(wrap(`${[...line, ...pairs].join(" ")}\n`));
    const width = Math.max(0, ...(shown ?? []).map(([name]) => name.length));
    for (const [name, value] of shown ?? [])
      this.host.stderr.write(`  ${style.faint(name.padEnd(width))}  ${printable(value)}\n`);
  }
}

function fieldText(value: LogFields[string]): string {
  const text = printable(String(value), 400);
  return /[\s"=]/.test(text) ? JSON.stringify(text) : text;
}

/** Facts that other processes may change, as last read. Each look begins a new read, at most once a second. */
class LastRead<Fact> {
  /** The facts when they were last read. */
  all: readonly Fact[] = [];
  private readonly what: string;
  private readonly read: () => Promise<readonly Fact[]>;
  private readonly host: Host;
  private readonly log: EventLog;
  private begunAt = -Infinity;
  private reading: Promise<void> | undefined;
  /** Why they could not be read the last time. */
  private problem: string | undefined;

  constructor(
    what: string,
    read: () => Promise<readonly Fact[]>,
    { host, log }: { readonly host: Host; readonly log: EventLog },
  ) {
    this.what = what;
    this.read = read;
    this.host = host;
    this.log = log;
  }

  /** What it is, if it could not be read the last time, so that it may be old. */
  get unread(): string[] {
    return this.problem === undefined ? [] : [this.what];
  }

  look(): readonly Fact[] {
    if (Math.abs(this.host.now().getTime() - this.begunAt) >= SECOND) void this.refresh();
    return this.all;
  }

  /** Like `refresh`, but sees everything that happened before the call. */
  async refreshNow(): Promise<void> {
    await this.reading;
    await this.refresh();
  }

  /** Resolves when the facts have been read. */
  async refresh(): Promise<void> {
    this.begunAt = this.host.now().getTime();
    this.reading ??= this.read()
      .then((all) => {
        this.all = all;
        this.problem = undefined;
      })
      // What cannot be read now is read again at the next look.
      .catch((error: unknown) => this.note(error))
      .finally(() => (this.reading = undefined));
    await this.reading;
  }

  /** What lasts is logged once. */
  private note(error: unknown): void {
    const reason = (error as Error).message;
    const level = error instanceof HostError ? "warning" : "error";
    if (reason !== this.problem) this.log.write(level, "not-read", { what: this.what, reason });
    this.problem = reason;
  }
}

const SECOND = 1000;

/** Caches an expensive value for a second, however many clients request it. */
export function throttle<T>(now: () => number, make: () => T): () => T {
  let made: { readonly value: T; readonly at: number } | undefined;
  return () => {
    const at = now();
    // A clock may be set back.
    if (made === undefined || Math.abs(at - made.at) >= SECOND) made = { value: make(), at };
    return made.value;
  };
}

/** Listens. Rejects with a `CompilerError` if the address is in use or not available. */
async function openPort(
  { listenOn, host, log }: Pick<WaitSettings, "listenOn" | "host" | "log">,
  answer: Answerer,
): Promise<Listening> {
  try {
    return await host.listen!(listenOn, answer, (error) => {
      const level = error instanceof HostError ? "warning" : "error";
      log.write(level, "request-failed", { reason: (error as Error).message });
    });
  } catch (error) {
    if (!(error instanceof HostError)) throw error;
    const where = `${printable(listenOn.address, 80)} port ${listenOn.port}`;
    throw new CompilerError([
      errorOf("listen-failed", `Cannot listen on ${where}`, {
        cause: reasonOf(error.code, error.message),
        ...listenHint(error.code, listenOn.port),
      }),
    ]);
  }
}

function listenHint(code: string, port: number): { readonly hint?: string } {
  if (code === "EADDRINUSE")
    return { hint: `Stop the other program, or choose another port: --port ${port + 1}` };
  if (code === "EACCES") return { hint: "Choose a port from 1024: --port 5000" };
  return code === "EADDRNOTAVAIL"
    ? { hint: "It is not an address of this machine; listen on all of them: --listen 0.0.0.0" }
    : {};
}

interface RenewalOptions {
  readonly log: EventLog;
  readonly signal: AbortSignal;
  /** Writes the reports and reads them again. */
  renew(): Promise<void>;
}

/** Writes reports in the background. Lists that are published meanwhile share the next report. */
class ReportRenewal {
  private readonly options: RenewalOptions;
  private renewing: Promise<void> | undefined;
  private isDue = false;

  constructor(options: RenewalOptions) {
    this.options = options;
  }

  begin(): void {
    this.isDue = true;
    this.renewing ??= this.whileDue().finally(() => (this.renewing = undefined));
  }

  /** Resolves when no report is being written. */
  async settled(): Promise<void> {
    await this.renewing;
  }

  private async whileDue(): Promise<void> {
    const { log, signal } = this.options;
    while (this.isDue && !signal.aborted) {
      this.isDue = false;
      try {
        await this.options.renew();
      } catch (error) {
        log.write("warning", "no-report", { reason: (error as Error).message });
      }
    }
  }
}

/** How often a missing configuration is looked for. */
const POLL_MS = 2000;

interface WaitSettings {
  readonly host: Host;
  readonly log: EventLog;
  readonly listenOn: ListenAddress;
  readonly signal: AbortSignal;
}

/**
 * What `open` resolves to, and a host to listen with. While there is no configuration, all requests are answered with 503 and the reason, so that a
 * container that has none yet is unhealthy and is not restarted for ever. Undefined if the signal came first. Other errors at the first try are the caller's.
 */
export async function waitForConfig<T>(
  open: () => Promise<T>,
  { host, log, listenOn, signal }: WaitSettings,
): Promise<{ readonly opened: T; readonly host: Host } | undefined> {
  let problem: Diagnostic;
  try {
    return { opened: await open(), host };
  } catch (error) {
    problem = problemOf(error);
    if (problem.code !== "config-not-found") throw error;
  }
  let answer: Answerer = () => notReady(problem);
  const listening = await openPort({ listenOn, host, log }, (request) => answer(request));
  host.onHangup?.(() => {});
  const { address, port } = listening;
  const report = (): void => {
    const { code, message, at, hint } = problem;
    log.write("error", "waiting", {
      address,
      port,
      code,
      message,
      at: at && locationText(at),
      hint,
    });
  };
  report();
  while (!signal.aborted) {
    await host.wait(POLL_MS, signal);
    try {
      const opened = await open();
      const listen: Host["listen"] = (_, next) => {
        answer = next;
        return Promise.resolve(listening);
      };
      return { opened, host: { ...host, listen } };
    } catch (error) {
      const { message } = problem;
      problem = problemOf(error);
      if (problem.message !== message) report();
    }
  }
  await listening.close();
  log.write("info", "stopped");
  return undefined;
}

function problemOf(error: unknown): Diagnostic {
  if (!(error instanceof CompilerError)) throw error;
  return error.diagnostics[0]!;
}

function notReady({ code, message, hint, at }: Diagnostic): WebReply {
  const problem = { code, message, ...(hint && { hint }), ...(at && { at: locationText(at) }) };
  const nothing = { history: NO_HISTORY, now: 0, limitMs: 0, missing: [], isRunning: false };
  const health = healthOf({ ...nothing, next: undefined });
  return jsonReply(503, { ...health, reason: message, lastProblem: problem, problems: [problem] });
}
