import { CompilerError, type Diagnostic } from "../diagnostics/render.ts";
import { listCommandLine } from "../diagnostics/text.ts";
import { VERSION } from "../diagnostics/version.ts";
import { scratchOf } from "../engine/compile-options.ts";
import { type PlannedSource, allEntryFiles } from "../engine/plan.ts";
import { SourceReader } from "../engine/source-reader.ts";
import { storeKeyOf } from "../engine/source-state.ts";
import { dependsOnTime } from "../feeds/registry.ts";
import { sendToOutput } from "../host/files.ts";
import { shadowHost } from "../host/memory-files.ts";
import { ListFile } from "../publish/list-file.ts";
import { isAddress } from "../sources/limits.ts";
import type { BuildContext, BuildEvent, ListOutcome } from "./build.ts";
import { LockSession, saveLock } from "./draft/lockfile.ts";
import {
  type Draft,
  cachedOutcome,
  exitOf,
  heldOutcome,
  prepare,
  recordHeader,
} from "./draft/prepare.ts";
import { type KeptNames, NO_NAMES, RecordedNames, wantsCovered } from "./draft/recorded-names.ts";
import { publishedCanary } from "../publish/list-file.ts";
import { otherPlace, rememberPlaces } from "./foreign-list.ts";
import { type ListPlan, noteListAlone, planLists } from "./plan/list-plan.ts";
import { type ListConfig, configPath } from "./plan/project.ts";
import {
  ListOutputs,
  type ListToPublish,
  type Published,
  failedList,
  finishPublish,
  noteHistory,
  publishList,
  publishedConfig,
  publishedFact,
  releaseList,
} from "./publish/publish-list.ts";
import { BuildSession, type QueueSlot, forEachInOrder } from "./session.ts";
import { Conditions } from "./state/conditions.ts";
import { BuildCache, type CachedBuild, readHold } from "./state/list-state.ts";

/** Maximum number of concurrent lists: one compiles, the others wait for the disk. */
const MOST = 4;

/**
 * Builds lists in order. A list that fails or is refused does not stop the others. Each outcome is pushed to `outcomes`, so that
 * the caller has them even if the run is interrupted.
 */
export async function buildLists(
  lists: readonly ListConfig[],
  context: BuildContext,
  outcomes: ListOutcome[],
): Promise<void> {
  noteListAlone(lists, context);
  const { options, host } = context;
  const plans = await planLists(lists, options, host);
  for (const diagnostic of await otherPlace(plans, options, host))
    context.emit({ kind: "diagnostic", diagnostic });
  const session = new BuildSession(plans, context);
  const ends = new Map<string, Promise<unknown>>();
  try {
    if (session.hasSeveral) await fetchAhead(session);
    await forEachInOrder(session.plans, MOST, async (plan) => {
      const end = buildOne(plan, session, async (names) => {
        await Promise.allSettled(names.flatMap((name) => ends.get(name) ?? []));
      });
      ends.set(plan.list.config.name, end);
      const outcome = await end;
      outcomes.push(outcome);
      context.emit({ kind: "list-done", outcome, lists: lists.length });
    });
    await endLists(session, outcomes);
  } finally {
    const names = lists.map(({ config }) => config.name);
    outcomes.sort((one, other) => names.indexOf(one.list) - names.indexOf(other.list));
    session.close();
  }
}

/** What a run leaves after its last list: locks, what it learned about sources, and where the lists are. */
export async function endLists(
  session: BuildSession,
  outcomes: readonly ListOutcome[],
): Promise<void> {
  const { plans, options, host } = session;
  await saveLocks(session);
  await session.saveLedger();
  const there = new Set(
    outcomes
      .filter(({ status }) => status === "published" || status === "unchanged")
      .map(({ list }) => list),
  );
  await rememberPlaces(
    plans.filter(({ list }) => there.has(list.config.name)),
    options,
    host,
  );
}

async function buildOne(
  plan: ListPlan,
  session: BuildSession,
  whenDone: (lists: readonly string[]) => Promise<void>,
): Promise<ListOutcome> {
  const slot = session.queue.enter();
  try {
    const { host, options, covers } = session;
    const { name } = plan.list.config;
    const started = host.now().getTime();
    // A covered list may change in this run although this list does not.
    const coveredDone = (): Promise<void> => whenDone([...plan.covers.keys()]);
    const cache = await BuildCache.open(session.hasSeveral ? name : undefined, options, host);
    let cached = await cache?.get();
    if (cached !== undefined && plan.covers.size > 0) {
      await coveredDone();
      cached = await cache?.get();
    }
    if (cached !== undefined && session.hasSeveral && cached.web === webOf(plan, session)) {
      covers.unchanged.add(name);
      const diagnostics = await new Conditions(plan.files[0]?.path, host).last();
      session.tell(diagnostics);
      const seconds = (host.now().getTime() - started) / 1000;
      return cachedOutcome({ ...cached, diagnostics }, name, seconds);
    }
    return await buildList(plan, session, { cache, cached, slot, coveredDone });
  } finally {
    slot.release();
  }
}

/** A single list has its own lock. Several lists share one, which keeps the locked files of lists that were not built. */
async function saveLocks(session: BuildSession): Promise<void> {
  const [first] = session.plans;
  if (first === undefined || session.locks.length === 0) return;
  const { folder } = first.list.project;
  if (!session.hasSeveral) return await saveLock(folder, session.locks[0], session);
  const lock = await LockSession.open(first.list, session);
  await saveLock(folder, lock.joined(session.locks), session);
}

/** Digest of everything that a list uses from the web; undefined if it is not known before the compile. */
function webOf({ list, compile }: ListPlan, { sources }: BuildSession): string | undefined {
  if (allEntryFiles(list.config).some(({ source }) => isAddress(source))) return undefined;
  return sources?.webOf(compile.sources);
}

/** Fetches the sources of all lists in advance, into the cache. Without a cache, each list fetches its own. */
async function fetchAhead(session: BuildSession): Promise<void> {
  const { options, host, signal, emit, plans, sources } = session;
  const { cacheDir, offline, decided, accept, compat, frozen, update } = options;
  const all = plans.flatMap(({ compile }) => compile.sources);
  const remote = [
    ...new Map<string, PlannedSource>(
      all.map((one) => [storeKeyOf(one.source, one), one]),
    ).values(),
  ]
    .filter(({ source }) => isAddress(source))
    .map((source, index) => ({ ...source, index }));
  // Each list looks up its own locked files, so there is nothing to fetch in advance.
  if (cacheDir === undefined || remote.length === 0 || frozen || update !== undefined) return;
  const configFolder = plans[0]!.list.project.folder;
  const ledger = await session.ledger();
  const own = { configFolder, signal, shared: sources, ledger };
  const fromPublished = decided !== undefined;
  const fetchOptions = { cacheDir, offline, fromPublished, accept, compat, ...own };
  const reader = new SourceReader(host, {
    ...fetchOptions,
    onProgress: (event) => emit({ kind: "progress", event }),
  });
  emit({ kind: "reading", sources: remote.length, lists: plans.length });
  try {
    await reader.fetch(remote);
  } finally {
    emit({ kind: "read" });
    reader.close();
  }
}

export interface BuildSlot {
  readonly cache?: BuildCache | undefined;
  readonly cached?: CachedBuild | undefined;
  readonly slot?: QueueSlot;
  /** Resolves when the lists that this one must cover have been built. */
  readonly coveredDone?: () => Promise<void>;
}

/** Builds a list and publishes it, unless a guard refuses it. Rejects if a signal stopped it, and for bugs. */
export async function buildList(
  plan: ListPlan,
  session: BuildSession,
  work: BuildSlot,
): Promise<ListOutcome> {
  const started = session.host.now().getTime();
  const result = new ListBuild(plan, session, work, started);
  try {
    return await result.run();
  } catch (error) {
    if (!(error instanceof CompilerError) || session.signal.aborted) throw error;
    return await result.failed(error);
  } finally {
    await result.close();
    work.slot?.release();
  }
}

class ListBuild {
  private readonly plan: ListPlan;
  private readonly session: BuildSession;
  private readonly work: BuildSlot;
  private readonly started: number;
  private readonly outputs: ListOutputs;
  private readonly names: RecordedNames | undefined;
  private kept: KeptNames = NO_NAMES;
  private draft: Draft | undefined;
  /** Warnings so far. */
  private readonly found: Diagnostic[];
  private readonly conditions: Conditions;

  constructor(plan: ListPlan, session: BuildSession, work: BuildSlot, started: number) {
    const { host, options } = session;
    const { files, isToStdout, outputs } = plan;
    this.plan = plan;
    this.session = session;
    this.work = work;
    this.started = started;
    const config = configPath(plan.list.project, host);
    const { record, to } = options;
    const isSent = isToStdout && to === undefined;
    this.outputs = new ListOutputs(files, { record, isToStdout: isSent, config }, host);
    this.found = plan.list.project.warnings.filter(({ severity }) => severity !== "note");
    this.conditions = new Conditions(files[0]?.path, host);
    if (outputs.length > 0)
      this.names = new RecordedNames(wantsCovered(outputs), () => scratchOf(host));
  }

  async close(): Promise<void> {
    this.names?.buffer.close();
    this.kept.close();
    await this.outputs.close();
  }

  private get list(): string {
    return this.plan.list.config.name;
  }

  private get seconds(): number {
    return (this.session.host.now().getTime() - this.started) / 1000;
  }

  async run(): Promise<ListOutcome> {
    const { plan, session, outputs, names } = this;
    const { cached, slot } = this.work;
    await outputs.open(() => this.finishLast());
    if (session.options.to !== undefined && !plan.isToStdout) await this.finishConversion();
    await this.conditions.read();
    // This run has the lock, so that no rollback can hold the list from now on.
    const held = await this.held();
    if (held !== undefined) return held;
    const sink = {
      write: (bytes: Uint8Array) => outputs.write(bytes),
      writeRecord: outputs.keepsRecord
        ? (bytes: Uint8Array) => outputs.writeRecord(bytes)
        : undefined,
      names,
    };
    const onFound = (found: readonly Diagnostic[]): void => void this.found.push(...found);
    const onFetched = async (): Promise<void> => await outputs.openRecords();
    const draft = await prepare(plan, session, sink, { cached, slot, onFound, onFetched });
    if (draft === undefined) {
      await session.notePublished(plan);
      const diagnostics = await this.conditions.last();
      session.tell(diagnostics);
      return cachedOutcome({ ...cached!, diagnostics }, this.list, this.seconds);
    }
    this.draft = draft;
    // Frees the rows on disk before the next list needs the space.
    draft.compiled.close();
    if (draft.violations.length > 0) throw new CompilerError(draft.violations);
    return await this.publish(draft);
  }

  /** Finishes what a killed run left, and reports it at once, whatever becomes of this run. It is a condition of the list, too. */
  private async finishLast(): Promise<void> {
    const { plan, session } = this;
    const { options, host } = session;
    const emit = (event: BuildEvent): void => {
      if (event.kind !== "diagnostic") return;
      session.tell([{ ...event.diagnostic, news: true }]);
      this.found.push(event.diagnostic);
    };
    await finishPublish({ ...plan, config: plan.list.config }, { options, host, emit });
  }

  /** A converted list has no file whose lock this run holds. */
  private async finishConversion(): Promise<void> {
    const { plan, session } = this;
    for (const { name, path } of plan.outputs) {
      const file = new ListFile(path, session.host);
      await file.open(async () => {
        const names = { ...plan, files: [{ name, path }], config: plan.list.config };
        await finishPublish(names, session);
      });
      await file.close();
    }
  }

  private async held(): Promise<ListOutcome | undefined> {
    const { plan, session, list } = this;
    const path = plan.files[0]?.path;
    const hold = path === undefined ? undefined : await readHold(path, session.host);
    if (hold === undefined) return undefined;
    const isOneOfSeveral = plan.list.project.config.lists !== undefined;
    const named = isOneOfSeveral ? list : undefined;
    const end = listCommandLine("hold --end", named, session.options);
    const outcome = heldOutcome(hold, { list, end }, this.seconds);
    this.found.push(...outcome.diagnostics);
    const diagnostics = await this.settle(true);
    session.tell(diagnostics);
    session.covers.unchanged.add(list);
    return { ...outcome, diagnostics };
  }

  /** The outcome of a list that a guard refused or that could not be built. */
  async failed(error: CompilerError): Promise<ListOutcome> {
    const { draft, plan, session, found, conditions, list } = this;
    const compiled = draft?.compiled;
    const known = compiled && {
      report: compiled.report,
      record: recordHeader(plan.list.config, compiled, 0),
    };
    const { files } = plan;
    const own = { list, files, error, warnings: found, conditions };
    const { outcome, warnings } = await failedList(
      { ...own, draft: known, named: compiled?.named },
      session,
    );
    session.tell(warnings);
    return { ...outcome, seconds: this.seconds, inputs: compiled?.inputs ?? [] };
  }

  private async settle(isPartial = false): Promise<readonly Diagnostic[]> {
    const { plan, session, found } = this;
    const named = this.draft?.compiled.named;
    return await this.conditions.settle(
      { finder: "build", diagnostics: found, isPartial, named },
      async (change) => await noteHistory(plan.files, change, session),
    );
  }

  private async publish(draft: Draft): Promise<ListOutcome> {
    const { plan, session, outputs, list } = this;
    const { compiled } = draft;
    const { options } = session;
    const { config, project } = plan.list;
    const publication = {
      config,
      outputPlans: plan.outputs,
      nameBuffer: this.names?.buffer,
      shape: compiled.shape,
      accept: options.accept,
      builtAt: compiled.builtAt,
      timelessHead: compiled.timelessHead,
      tool: VERSION,
      sources: compiled.report.sources,
      configFolder: project.folder,
      rulesDir: options.rulesDir,
      sourcesFile: await session.sourcesFile(plan, compiled.report),
    };
    if (outputs.keepsRecord) this.kept = this.names?.keep() ?? NO_NAMES;
    const { kept } = this;
    await this.askBefore(draft);
    const { report, shape, timelessHead, learned } = compiled;
    const about = publication.sourcesFile?.text;
    const known = { report, shape, timelessHead, learned, about };
    const { published, isWritten: hasFile } = await releaseList(
      {
        files: plan.files,
        outputs,
        publication,
        write: () => this.write(publication),
        draft: { ...known, config: publishedConfig(config), runs: kept.runs },
        covered: kept.covered,
        record: () => recordHeader(config, compiled, this.seconds),
        copies: [...compiled.files.values()].flat().map(({ sha256 }) => sha256),
        fact: publishedFact(report, options),
      },
      session,
    );
    const { seconds } = this;
    const isWritten = plan.isToStdout || hasFile;
    await session.notePublished(plan);
    const renewed = await draft.lock.renewed(compiled);
    if (renewed !== undefined) session.locks.push(renewed);
    const { written, names } = published;
    await this.cache(draft, published);
    // The sources were not asked, so that nothing is known about their problems.
    const diagnostics = await this.settle(options.decided !== undefined);
    session.tell(diagnostics);
    return {
      list,
      status: isWritten ? "published" : "unchanged",
      exit: exitOf(compiled.report),
      ...(draft.isIncomplete && { isIncomplete: true as const }),
      report: compiled.report,
      diagnostics,
      outputs: written,
      files: names,
      seconds,
      isCached: false,
      inputs: compiled.inputs,
      lastByte: outputs.lastByte,
    };
  }

  private async write(publication: ListToPublish): Promise<Published> {
    const { plan, session, outputs } = this;
    const { host, options } = session;
    const [converted] = plan.outputs;
    if (!plan.isToStdout || options.to === undefined || converted === undefined)
      return await publishList(outputs, publication, host);
    const shadow = shadowHost(host);
    const published = await publishList(outputs, publication, shadow);
    await sendToOutput(await shadow.readFile(converted.path), host);
    const written = published.written.map((one) => ({ ...one, file: "standard output" }));
    return { ...published, written, names: [] };
  }

  /** Resolvers that do not answer from the published list are not asked about the next one. */
  private async askBefore({ canary }: Draft): Promise<void> {
    const { plan, session } = this;
    const path = plan.files[0]?.path;
    if (session.beforePublish === undefined || canary === undefined || path === undefined) return;
    const old = await publishedCanary(path, session.host);
    if (old !== undefined && old !== canary) await session.beforePublish(plan, old);
  }

  private async cache(
    { compiled, isIncomplete }: Draft,
    { written, files, names }: Published,
  ): Promise<void> {
    // Hooks wait for a whole list, or for the next build.
    if (isIncomplete) return;
    const { plan, session } = this;
    const { cache, coveredDone } = this.work;
    const { config, plugins } = plan.list;
    const hasPlugins = plugins.transformations.size + plugins.formats.size > 0;
    const isTimed = plan.compile.sources.some(
      ({ feed, keepMs, dropsDead }) =>
        keepMs !== undefined || dropsDead || (feed && dependsOnTime(feed)),
    );
    // A manifest, entries of feeds and observations expire, and plugins change without notice, so such lists are always rebuilt.
    if (plan.files.length === 0 || config.manifest !== undefined || hasPlugins || isTimed) return;
    // The next build asks the sources, and says what has ended.
    if (session.options.decided !== undefined) return;
    // A cover check that was skipped runs in the next build.
    if (plan.covers.size > 0 && session.options.accept.includes("not-covered")) return;
    await coveredDone?.();
    const compared = [...plan.covers.values()].filter((path) => path !== undefined);
    const { report, inputs, web } = compiled;
    const result = { report, written, names };
    await cache?.put({ ...result, inputs, web, outputs: files, compared });
  }
}
