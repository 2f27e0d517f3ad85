import { encodeUtf8 } from "../bytes/utf8.ts";
import { PATCH_FOLDER } from "../publish/patches.ts";
import type { ListedCondition } from "../build/state/conditions.ts";
import type { ResolverState } from "../resolvers/last-proofs.ts";
import {
  type Host,
  type ListenAddress,
  type Listening,
  type WebReply,
  type WebRequest,
} from "../host/host.ts";
import type { EventLog } from "./event-log.ts";
import { type Health, ageOf, healthOf } from "./health.ts";
import type { HeldList } from "./held-list.ts";
import { isWorthRetrying } from "./history.ts";
import { readHistory } from "./history-file.ts";
import { LastRead } from "./last-read.ts";
import { ListStore } from "./list-store.ts";
import { metricsText } from "./metrics.ts";
import { onceASecond } from "./once-a-second.ts";
import { openPort } from "./open-port.ts";
import type { OwnToken } from "./own-token.ts";
import { type RequestSettings, requestContext } from "./request-context.ts";
import { ReportRenewal } from "./report-renewal.ts";
import { type RouteContext, route } from "./routes.ts";
import { Runner, type RunnerOptions } from "./runner.ts";
import type { Schedule } from "./schedule.ts";
import { ServedFiles } from "./served-files.ts";
import { statusPage } from "./status-page.ts";
import { Scheduler } from "./scheduler.ts";

export interface ServeSettings {
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
  readonly compile: RunnerOptions["compile"];
  readonly requests: RequestSettings;
  /** The token of `requests` if the server made it. */
  readonly ownToken: OwnToken | undefined;
  /** Reads which lists are held. */
  readonly held: () => Promise<readonly HeldList[]>;
  /** Reads what lasts. */
  readonly conditions: () => Promise<readonly ListedCondition[]>;
  /** Reads the last proofs of the resolvers. */
  readonly proofs: () => Promise<readonly ResolverState[]>;
  /** The files of the reports, one per list. */
  readonly reports: readonly string[];
  /** Writes the reports. */
  report(): Promise<void>;
}

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
    await server.keepGoing();
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

  constructor(settings: ServeSettings, host: Host, log: EventLog, signal: AbortSignal) {
    this.settings = settings;
    this.host = host;
    this.log = log;
    this.signal = signal;
    this.store = new ListStore(host, log, settings.root);
    this.served = new ServedFiles([...settings.lists, ...settings.outputs], host);
    this.reports = new ListStore(host, log);
    this.patches = new ListStore(host, log);
    this.held = new LastRead(settings.held, host);
    this.proofs = new LastRead(settings.proofs, host);
    this.conditions = new LastRead(settings.conditions, host);
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
    const { settings, host, log, signal, store } = this;
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
    store.serve(settings.lists);
    await store.refresh();
    await this.servePatches(settings.lists);
    this.reports.serve(settings.reports);
    await this.reports.refresh();
    await this.held.refresh();
    await this.proofs.refresh();
    await this.conditions.refresh();
    this.listening = await openPort(settings.listenOn, host, (request) => this.answer(request));
    const { address, port } = this.listening;
    const header = await settings.ownToken?.write(port);
    const schedule = settings.schedule.pattern;
    log.write("info", "listening", { address, port, schedule, header });
    if (settings.ownToken !== undefined && header === undefined)
      log.write("warning", "no-token", {
        reason: "the cache folder cannot be written, so POST needs --token-file",
      });
    host.onHangup?.(() => this.runNow("signal"));
  }

  async keepGoing(): Promise<void> {
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
        return last !== undefined && isWorthRetrying(last);
      },
      onNext: (at) => {
        this.next = at;
        const isNever = at === Infinity;
        this.log.write("info", "next-run", { at: isNever ? null : new Date(at).toISOString() });
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
    const { name, reply } = route(request, this.context);
    if (reply instanceof Promise) return reply.then((later) => this.counted(request, name, later));
    return this.counted(request, name, reply);
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
    metrics: this.onceASecond(() =>
      metricsText({
        history: this.runner.history,
        lists: this.store.all,
        isHealthy: this.health().isHealthy,
        held: this.held.all,
        resolvers: this.proofs.all,
        conditions: this.conditions.all,
        isRunning: this.runner.runningSince !== undefined,
        startedAt: this.startedAt,
        next: this.next,
        lagMs: this.lagMs,
        requests: this.requests,
      }),
    ),
    page: this.onceASecond(() =>
      statusPage({
        history: this.runner.history,
        health: this.health(),
        lists: this.store.all,
        now: this.host.now().getTime(),
        schedule: this.settings.schedule.pattern,
        nameOf: (file) => this.nameOf(file),
        reports: this.reports.all.map(({ name }) => name),
        asks: this.settings.requests,
      }),
    ),
    list: (name: string) => this.store.find(name),
    report: (list: string) => {
      const [only, ...more] = this.reports.names;
      if (list !== "") return this.reports.find(`${list}.report.html`);
      return more.length === 0 ? this.reports.find(only!) : undefined;
    },
    patch: (name: string) => this.patches.find(name),
  };

  /** As bytes, which all requests within a second share. */
  private onceASecond(make: () => string): () => Uint8Array {
    const now = (): number => this.host.now().getTime();
    return onceASecond(now, () => encodeUtf8(make()));
  }

  private health(): Health {
    const { schedule } = this.settings;
    const now = this.host.now().getTime();
    // Each request starts a refresh, so the next request notices removed lists.
    for (const name of this.store.names) this.store.find(name);
    return healthOf({
      history: this.runner.history,
      now,
      limitMs: 3 * schedule.longestInterval,
      missing: this.store.missing,
      publishedAt: (file) => this.store.find(this.nameOf(file))?.modified.toISOString(),
      held: this.held.look(),
      resolvers: this.proofs.look(),
      conditions: this.conditions.look(),
      isRunning: this.runner.runningSince !== undefined,
      next: this.next,
    });
  }

  /** The served name of an output file. */
  private nameOf(file: string): string {
    return this.store.nameOf(this.host.path.resolve(this.host.cwd, file));
  }

  private runNow(trigger: "signal" | "request"): "started" | "queued" {
    const state = this.runner.isBusy ? "queued" : "started";
    void this.runner.run(trigger);
    return state;
  }

  /** An action may have published other files; the lists that they belong to stay the same. */
  private async afterAction(): Promise<readonly HeldList[]> {
    await this.held.refreshNow();
    await this.store.refreshNow();
    this.renewal.begin();
    return this.held.all;
  }

  private async servePublished(): Promise<void> {
    const outputs = this.runner.history.lastBuild?.outputs ?? [];
    const paths = this.served.pathsOf(outputs);
    this.store.serve(paths);
    await this.store.refreshNow();
    await this.servePatches(paths);
    this.renewal.begin();
  }

  /** Serves the patches in the folders beside the lists. */
  private async servePatches(lists: readonly string[]): Promise<void> {
    const folders = new Set(
      lists.map((path) => this.host.path.join(this.host.path.dirname(path), PATCH_FOLDER)),
    );
    const paths: string[] = [];
    for (const folder of folders)
      for (const name of await this.host.listFolder(folder))
        if (name.endsWith(".patch")) paths.push(this.host.path.join(folder, name));
    this.patches.serve(paths);
    await this.patches.refreshNow();
  }
}
