import type { CompileReport } from "../documents/facts.ts";
import { type Diagnostic, errorOf } from "../diagnostics/render.ts";
import type { PublishedRules } from "../engine/compile-options.ts";
import { buildTime } from "../engine/compile.ts";
import { allEntryFiles } from "../engine/plan.ts";
import { SharedSources } from "../engine/shared-sources.ts";
import { ledgerKeyOf } from "../engine/source-state.ts";
import type { Host } from "../host/host.ts";
import { recordFolder } from "../record/record-file.ts";
import { needCopies } from "../sources/copies.ts";
import { type PublishedSource, SourceLedger, readSources, sourcesText } from "../sources/ledger.ts";
import { TrafficReader } from "../traffic/traffic-reader.ts";
import type { BuildContext, BuildEvent } from "./build.ts";
import type { Lockfile } from "./draft/lockfile.ts";
import type { BuildOptions } from "./plan/build-options.ts";
import { CoveredLists, type ListPlan } from "./plan/list-plan.ts";

/**
 * State that the lists of one configuration share, for one build or many: sources, each fetched and read once; the engine's
 * memory; the build time; texts of lists that others must cover.
 */
export class BuildSession implements BuildContext {
  readonly plans: readonly ListPlan[];
  readonly options: BuildOptions;
  readonly host: Host;
  readonly signal: AbortSignal;
  readonly emit: (event: BuildEvent) => void;
  readonly beforePublish: BuildContext["beforePublish"];
  /** Lists compile one at a time, in order. Disk work of other lists overlaps with it. */
  readonly queue: OrderedQueue = new OrderedQueue();
  /** The locks of the lists that were built. */
  readonly locks: Lockfile[] = [];
  /** Undefined for a single list that is built once. */
  readonly sources: SharedSources | undefined;
  covers: CoveredLists;
  /** The build time in the headers of all lists. */
  builtAt: Date;
  private opened: Promise<SourceLedger> | undefined;
  private readonly readers = new Map<string, TrafficReader>();
  private readonly told = new Set<string>();

  constructor(plans: readonly ListPlan[], context: BuildContext, isLasting = false) {
    const { options, host, signal, emit, beforePublish } = context;
    this.plans = plans;
    this.options = options;
    this.host = host;
    this.signal = signal;
    this.emit = emit;
    this.beforePublish = beforePublish;
    this.covers = new CoveredLists(plans, this);
    this.builtAt = buildTime(host);
    if (!isLasting && !this.hasSeveral) return;
    const sources = plans.map(({ compile }) => compile.sources);
    this.sources = new SharedSources(sources, options.memory, host);
    this.sources.isLasting = isLasting;
  }

  /** Whether the configuration has several lists, even if only one is built. */
  get hasSeveral(): boolean {
    return this.plans.some(({ list }) => list.project.config.lists !== undefined);
  }

  /** What was published of each source, beside the lists; undefined for standard output. */
  async ledger(): Promise<SourceLedger | undefined> {
    const { host } = this;
    const path = this.plans[0]?.files[0]?.path;
    if (path === undefined) return undefined;
    const file = host.path.join(recordFolder(path, host), "sources.json");
    return await (this.opened ??= this.openLedger(file));
  }

  /** Where the state is lost, what was published beside the lists is the baseline. */
  private async openLedger(path: string): Promise<SourceLedger> {
    const ledger = await SourceLedger.open(this.host, path);
    const published = await Promise.all(this.plans.map((plan) => this.publishedSources(plan)));
    ledger.follow(published.flat());
    if (!ledger.isLost) return ledger;
    const sources = published.flat().length;
    if (sources === 0 && !ledger.isDamaged) return ledger;
    const what = ledger.isDamaged ? "damaged" : "missing";
    const where = sources === 0 ? "nothing" : "the published files of sources";
    const message = `The state of the sources is ${what}; they are compared with ${where}`;
    const diagnostic = { ...errorOf("sources-state-lost", message), severity: "note" as const };
    this.emit({ kind: "diagnostic", diagnostic });
    return ledger;
  }

  private async publishedSources({ sourcesFile }: ListPlan): Promise<PublishedSource[]> {
    return (sourcesFile && (await readSources(sourcesFile, this.host))) || [];
  }

  /** The sources that are published beside a list, in their displayed form: what they block, by kind. */
  async publishedKinds(plan: ListPlan): Promise<NonNullable<PublishedRules["sources"]>> {
    const published = await this.publishedSources(plan);
    const found = new Map<string, Readonly<Record<string, number>>>();
    for (const source of plan.compile.sources) {
      const key = await ledgerKeyOf(source);
      const own = published.find((one) => one.key === key);
      if (own !== undefined) found.set(source.shown, own.kinds ?? {});
    }
    return found;
  }

  /** What is published beside a list about its remote sources; undefined if there is no such file. */
  async sourcesFile(
    plan: ListPlan,
    report: CompileReport,
  ): Promise<{ path: string; text: string } | undefined> {
    const { sourcesFile: path, compile } = plan;
    const ledger = await this.ledger();
    if (path === undefined || ledger === undefined) return undefined;
    const states = report.sources.map(async ({ state, kinds }, index) => ({
      key: await ledgerKeyOf(compile.sources[index]!),
      state,
      kinds,
    }));
    const sources = (await Promise.all(states)).filter(({ state }) => state !== "local");
    const before = await this.publishedSources(plan);
    return { path, text: sourcesText(compile.config.name, sources, { ledger, before }) };
  }

  /** The files of the lists that a file of names, as written in the configuration, has an effect on. */
  listsWith(file: string): readonly string[] {
    return this.plans.flatMap(({ list, files }) => {
      const isNamed = allEntryFiles(list.config).some(({ source }) => source === file);
      return isNamed && files[0] !== undefined ? [files[0].path] : [];
    });
  }

  /** Notes that a list is published with what this run took of its sources. */
  async notePublished({ compile, list }: ListPlan): Promise<void> {
    const ledger = await this.ledger();
    const files = [...allEntryFiles(list.config), ...compile.ranks, ...compile.expand];
    const keys = await Promise.all([...compile.sources, ...files].map(ledgerKeyOf));
    ledger?.publish(keys);
    await this.saveLedger();
  }

  /** Saves what this run learned about its sources. */
  async saveLedger(): Promise<void> {
    const { cacheDir } = this.options;
    const ledger = await this.ledger();
    const isSaved = (await ledger?.save()) === true;
    if (isSaved && ledger?.path !== undefined && cacheDir !== undefined)
      await needCopies(cacheDir, { path: ledger.path }, this.host);
  }

  /** Query logs, which lists share. */
  logs(paths: readonly string[]): TrafficReader {
    const key = paths.join("\0");
    const reader = this.readers.get(key) ?? new TrafficReader(paths, this.host);
    this.readers.set(key, reader);
    return reader;
  }

  /** Reports what lists found. What several of them found is reported once. */
  tell(diagnostics: readonly Diagnostic[]): void {
    for (const diagnostic of diagnostics) {
      const { code, message } = diagnostic;
      const key = `${code} ${message}`;
      if (!this.told.has(key)) this.emit({ kind: "diagnostic", diagnostic });
      this.told.add(key);
    }
  }

  /** Prepares for the next build after these local files have changed. */
  invalidate(paths: readonly string[]): void {
    for (const path of paths) this.sources?.forget(path);
    this.readers.clear();
    this.told.clear();
    this.locks.length = 0;
    this.opened = undefined;
    this.covers = new CoveredLists(this.plans, this);
    this.builtAt = buildTime(this.host);
  }

  close(): void {
    this.sources?.close();
  }
}

/** A place in a queue. Exclusive work happens between `acquire` and `release`. */
export interface QueueSlot {
  /** Resolves when all earlier slots have been released. */
  acquire(): Promise<void>;
  release(): void;
}

/** Runs exclusive work one at a time, in the order of entry. */
class OrderedQueue {
  private last: Promise<unknown> = Promise.resolve();

  enter(): QueueSlot {
    const before = this.last;
    const released = Promise.withResolvers<void>();
    // If a slot is released early, the next one still waits for all earlier slots.
    this.last = Promise.all([before, released.promise]);
    return {
      acquire: async () => void (await before),
      release: () => released.resolve(),
    };
  }
}

/** Runs work for every item, at most `most` at a time, starting in order. Rejects after all started work has ended. */
export async function forEachInOrder<T, R>(
  items: readonly T[],
  most: number,
  work: (item: T) => Promise<R>,
): Promise<R[]> {
  const ends: Promise<R>[] = [];
  let hasFailed = false;
  for (const [index, item] of items.entries()) {
    await ends[index - most]?.catch(() => {});
    if (hasFailed) break;
    const end = work(item);
    end.catch(() => (hasFailed = true));
    ends.push(end);
  }
  await Promise.allSettled(ends);
  return await Promise.all(ends);
}
