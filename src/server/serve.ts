import { encodeUtf8 } from "../bytes/utf8.ts";
import { PATCH_FOLDER } from "../publish/patches.ts";
import { CompilerError, errorOf } from "../diagnostics/diagnostic.ts";
import { printable } from "../diagnostics/printable.ts";
import { reasonOf } from "../diagnostics/reason.ts";
import {
  type Host,
  HostError,
  type ListenPlace,
  type Listening,
  type WebRequest,
} from "../host/host.ts";
import type { EventLog } from "./event-log.ts";
import { type Health, ageOf, healthOf } from "./health.ts";
import { readHistory } from "./kept-history.ts";
import { ListShelf } from "./list-shelf.ts";
import { metricsText } from "./metrics.ts";
import { onceASecond } from "./once-a-second.ts";
import { type Facts, route } from "./routes.ts";
import { Runner, type RunnerParts } from "./runner.ts";
import type { Schedule } from "./schedule.ts";
import { statusPage } from "./status-page.ts";
import { keepTime } from "./timekeeper.ts";

export interface ServeSettings {
  readonly place: ListenPlace;
  readonly schedule: Schedule;
  readonly jitterMs: number;
  /** Milliseconds that the last good list may be old; undefined for three times the interval. */
  readonly maxAgeMs: number | undefined;
  /** A run that takes longer is ended; 0 for never. */
  readonly runTimeoutMs: number;
  /** Where the history is kept. */
  readonly folder: string;
  /** The folder that paths of lists start from. */
  readonly root?: string;
  /** The files that the configuration means now. */
  readonly lists: readonly string[];
  readonly compile: RunnerParts["compile"];
  /** Where the page about the last build of each list is. */
  readonly reports: readonly string[];
  /** Writes these pages. */
  report(): Promise<void>;
}

/** Compiles on a schedule and serves the lists until the signal. Rejects with a `CompilerError` when it cannot begin. */
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
  private readonly shelf: ListShelf;
  private readonly reports: ListShelf;
  private readonly patches: ListShelf;
  private readonly requests = new Map<string, number>();
  private readonly startedAt: number;
  private runner!: Runner;
  private listening: Listening | undefined;
  private next: number | undefined;
  private lagMs = 0;
  private reporting: Promise<void> | undefined;
  private isReportDue = false;

  constructor(settings: ServeSettings, host: Host, log: EventLog, signal: AbortSignal) {
    this.settings = settings;
    this.host = host;
    this.log = log;
    this.signal = signal;
    this.shelf = new ListShelf(host, log, settings.root);
    this.reports = new ListShelf(host, log);
    this.patches = new ListShelf(host, log);
    this.startedAt = host.now().getTime();
  }

  async begin(): Promise<void> {
    const { settings, host, log, signal, shelf } = this;
    const { folder, compile, runTimeoutMs } = settings;
    const history = await readHistory(folder, host, () =>
      log.say("warning", "history-damaged", { folder, reason: "a new one is begun" }),
    );
    this.runner = new Runner(history, {
      host,
      log,
      folder,
      signal,
      runTimeoutMs,
      compile,
      onPublished: () => this.takeOver(),
    });
    // What the configuration means now; an earlier server may have served others.
    shelf.serve(settings.lists);
    await shelf.look();
    await this.takePatches(settings.lists);
    this.reports.serve(settings.reports);
    await this.reports.look();
    this.listening = await this.listen();
    const { address, port } = this.listening;
    log.say("info", "listening", { address, port, schedule: settings.schedule.pattern });
    host.onHangup?.(() => this.runNow("signal"));
  }

  async keepGoing(): Promise<void> {
    const { schedule, jitterMs } = this.settings;
    const now = this.host.now().getTime();
    const age = ageOf(this.runner.history.lastSuccess, now);
    const isThere = this.shelf.missing.length === 0;
    await keepTime(isThere && age !== undefined ? now - age : undefined, {
      schedule,
      jitterMs,
      host: this.host,
      signal: this.signal,
      random: Math.random,
      run: async ({ trigger, lag }) => {
        this.lagMs = trigger === "schedule" ? lag : this.lagMs;
        this.next = undefined;
        await this.runner.run(trigger);
      },
      onNext: (at) => {
        this.next = at;
        const isNever = at === Infinity;
        this.log.say("info", "next-run", { at: isNever ? null : new Date(at).toISOString() });
      },
      onSkipped: (count) => this.runner.noteSkipped(count),
    });
  }

  async end(): Promise<void> {
    await this.listening?.close();
    await this.runner.settled();
    await this.reporting;
    await this.shelf.settled();
    await this.reports.settled();
    await this.patches.settled();
    this.log.say("info", "stopped");
  }

  private async listen(): Promise<Listening> {
    const { place } = this.settings;
    try {
      return await this.host.listen!(place, (request) => this.answer(request));
    } catch (error) {
      if (!(error instanceof HostError)) throw error;
      const where = `${printable(place.address, 80)} port ${place.port}`;
      throw new CompilerError([
        errorOf("listen-failed", `Cannot listen on ${where}`, {
          cause: reasonOf(error.code, error.message),
        }),
      ]);
    }
  }

  private answer(request: WebRequest): ReturnType<typeof route>["reply"] {
    const { name, reply } = route(request, this.facts);
    const key = `${name} ${reply.status}`;
    this.requests.set(key, (this.requests.get(key) ?? 0) + 1);
    if (this.log.says("debug"))
      this.log.say("debug", "request", {
        method: request.method,
        target: request.target,
        status: reply.status,
        address: request.address,
      });
    return reply;
  }

  private readonly facts: Facts = {
    health: () => this.health(),
    metrics: this.onceASecond(() =>
      metricsText({
        history: this.runner.history,
        lists: this.shelf.all,
        isHealthy: this.health().isHealthy,
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
        lists: this.shelf.all,
        now: this.host.now().getTime(),
        schedule: this.settings.schedule.pattern,
        nameOf: (file) => this.shelf.nameOf(this.host.path.resolve(this.host.cwd, file)),
        reports: this.reports.all.map(({ name }) => name),
      }),
    ),
    list: (name) => this.shelf.find(name),
    report: (list) => {
      const [only, ...more] = this.reports.names;
      if (list !== "") return this.reports.find(`${list}.report.html`);
      return more.length === 0 ? this.reports.find(only!) : undefined;
    },
    patch: (name) => this.patches.find(name),
    compile: () => this.runNow("request"),
  };

  /** As bytes: all who ask within a second share them. */
  private onceASecond(make: () => string): () => Uint8Array {
    const now = (): number => this.host.now().getTime();
    return onceASecond(now, () => encodeUtf8(make()));
  }

  private health(): Health {
    const { schedule, maxAgeMs } = this.settings;
    const now = this.host.now().getTime();
    // A look at the disk is started by whoever asks; a list that was removed is missed at the next.
    for (const name of this.shelf.names) this.shelf.find(name);
    return healthOf({
      history: this.runner.history,
      now,
      limitMs: maxAgeMs ?? 3 * schedule.longestInterval,
      missing: this.shelf.missing,
      isRunning: this.runner.runningSince !== undefined,
      next: this.next,
    });
  }

  private runNow(trigger: "signal" | "request"): "started" | "queued" {
    const state = this.runner.runningSince === undefined ? "started" : "queued";
    void this.runner.run(trigger);
    return state;
  }

  private async takeOver(): Promise<void> {
    const outputs = this.runner.history.lastBuild?.outputs ?? [];
    const names = outputs.flatMap(({ file, files }) => files ?? [file]);
    const paths = names.map((name) => this.host.path.resolve(this.host.cwd, name));
    this.shelf.serve(paths);
    await this.shelf.lookNow();
    await this.takePatches(paths);
    // Nobody waits for it: the list is out. Lists that come while one is written share the next.
    this.isReportDue = true;
    this.reporting ??= this.renewReports().finally(() => (this.reporting = undefined));
  }

  /** Differences between editions lie beside the lists. */
  private async takePatches(lists: readonly string[]): Promise<void> {
    const folders = new Set(
      lists.map((path) => this.host.path.join(this.host.path.dirname(path), PATCH_FOLDER)),
    );
    const paths: string[] = [];
    for (const folder of folders)
      for (const name of await this.host.listFolder(folder))
        if (name.endsWith(".patch")) paths.push(this.host.path.join(folder, name));
    this.patches.serve(paths);
    await this.patches.lookNow();
  }

  private async renewReports(): Promise<void> {
    while (this.isReportDue && !this.signal.aborted) {
      this.isReportDue = false;
      await this.renewReport();
    }
  }

  private async renewReport(): Promise<void> {
    const { settings } = this;
    try {
      await settings.report();
      await this.reports.lookNow();
    } catch (error) {
      this.log.say("warning", "no-report", { reason: (error as Error).message });
    }
  }
}
