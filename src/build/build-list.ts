import { CompilerError, type Diagnostic } from "../diagnostics/diagnostic.ts";
import { Conditions } from "./state/conditions.ts";
import { Exit } from "../diagnostics/exit.ts";
import { countText } from "../diagnostics/number-text.ts";
import { scratchOf } from "../engine/scratch.ts";
import { dependsOnTime } from "../feeds/registry.ts";
import type { RecordHeader } from "../record/record-format.ts";
import { needCopies } from "../sources/collect-copies.ts";
import { VERSION } from "../diagnostics/version.ts";
import { askedBy } from "./asked-by.ts";
import { phase } from "./build-context.ts";
import type { ListOutcome } from "./build-outcome.ts";
import { cachedOutcome, exitOf, heldOutcome } from "./cached-outcome.ts";
import type { BuildEvent } from "./build-event.ts";
import { finishPublish } from "./finish-publish.ts";
import { publishedCanary } from "./list-canary.ts";
import { ListOutputs } from "./list-outputs.ts";
import type { ListPlan } from "./list-plan.ts";
import { configPath } from "./project.ts";
import type { QueueSlot } from "./ordered-queue.ts";
import { digestsOf, noteHistory, notePublished, publishedFact } from "./note-history.ts";
import { type Draft, prepare } from "./prepare.ts";
import { type Published, publishList, publishedConfig } from "./publish-list.ts";
import { recordHeader } from "./record-header.ts";
import type { BuildSession } from "./session.ts";
import { type KeptNames, NO_NAMES, RecordedNames, wantsCovered } from "./recorded-names.ts";
import { holdCommandLine, readHold } from "./state/hold.ts";
import type { BuildCache, CachedBuild } from "./state/build-cache.ts";

export interface ListWork {
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
  work: ListWork,
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
  private readonly work: ListWork;
  private readonly started: number;
  private readonly outputs: ListOutputs;
  private readonly names: RecordedNames | undefined;
  private kept: KeptNames = NO_NAMES;
  private draft: Draft | undefined;
  /** Warnings so far. */
  private readonly found: Diagnostic[];
  private readonly conditions: Conditions;

  constructor(plan: ListPlan, session: BuildSession, work: ListWork, started: number) {
    const { host, options } = session;
    const { files, isToStdout, outputs } = plan;
    this.plan = plan;
    this.session = session;
    this.work = work;
    this.started = started;
    const config = configPath(plan.list.project, host);
    this.outputs = new ListOutputs(files, { record: options.record, isToStdout, config }, host);
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

  private async held(): Promise<ListOutcome | undefined> {
    const { plan, session, list } = this;
    const path = plan.files[0]?.path;
    const hold = path === undefined ? undefined : await readHold(path, session.host);
    if (hold === undefined) return undefined;
    const isOneOfSeveral = plan.list.project.config.lists !== undefined;
    const named = isOneOfSeveral ? list : undefined;
    const end = holdCommandLine("hold --end", named, session.options);
    const outcome = heldOutcome(hold, { list, end }, this.seconds);
    this.found.push(...outcome.diagnostics);
    const diagnostics = await this.settle(true);
    session.tell(diagnostics);
    session.covers.unchanged.add(list);
    return { ...outcome, diagnostics };
  }

  /** The outcome of a list that a guard refused or that could not be built. */
  async failed(error: CompilerError): Promise<ListOutcome> {
    const { draft, session } = this;
    const isRefused = draft !== undefined && error.exit === Exit.Guard;
    if (isRefused) await this.noteRefused(draft, error);
    const warnings = this.found.length;
    // The list is the subject of its errors, so that their end is reported once.
    this.found.push(
      ...error.diagnostics.map((one) =>
        one.severity === "error" ? { ...one, subject: this.list } : one,
      ),
    );
    const settled = await this.settle(!isRefused);
    const errors = settled.slice(settled.length - (this.found.length - warnings));
    session.tell(settled.slice(0, settled.length - errors.length));
    return {
      list: this.list,
      status: isRefused ? "refused" : "failed",
      exit: error.exit,
      ...(isRefused && { report: draft.compiled.report }),
      diagnostics: errors,
      outputs: [],
      files: [],
      seconds: this.seconds,
      isCached: false,
      inputs: draft?.compiled.inputs ?? [],
    };
  }

  private async settle(isPartial = false): Promise<readonly Diagnostic[]> {
    const { plan, session, found } = this;
    return await this.conditions.settle(
      { finder: "build", diagnostics: found, isPartial },
      async (change) => await noteHistory(plan.files, change, session),
    );
  }

  private async noteRefused({ compiled, plan }: Draft, error: CompilerError): Promise<void> {
    const { session } = this;
    const from = await digestsOf(recordHeader(plan.list.config, compiled, 0), session);
    const guards = [...new Set(error.diagnostics.map(({ code }) => code))];
    const { rules } = compiled.report;
    await noteHistory(plan.files, { event: "refused", rules, guards, from }, session);
  }

  private async publish(draft: Draft): Promise<ListOutcome> {
    const { plan, session, outputs, list } = this;
    const { compiled } = draft;
    const { emit, options } = session;
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
      sources: compiled.report.sources.map(({ label }) => label),
      configFolder: project.folder,
      rulesDir: options.rulesDir,
      sourcesFile: await session.sourcesFile(plan, compiled.report),
    };
    if (outputs.keepsRecord) this.kept = this.names?.keep() ?? NO_NAMES;
    await this.askBefore(draft);
    session.signal.throwIfAborted();
    emit({ kind: "publishing", list });
    const published = await phase(
      "publish",
      session,
      () => publishList(outputs, publication, session.host),
      ({ files: all }) => countText(all.length, "file"),
    );
    emit({ kind: "published", list, file: plan.files[0] });
    const { seconds } = this;
    const isWritten =
      plan.isToStdout || published.written.some(({ outcome }) => outcome === "written");
    const header = {
      ...recordHeader(config, compiled, seconds),
      ...(isWritten && { hasChanged: true as const }),
    };
    const fact = publishedFact(compiled.report, options);
    await notePublished(plan.files, fact, header, session);
    await phase(
      "record",
      session,
      () => this.remember(draft, header, publication.sourcesFile?.text),
      () => (outputs.keepsRecord ? "kept" : "none"),
    );
    await this.keepCopies(draft);
    await session.notePublished(plan);
    const renewed = await draft.lock.renewed(compiled);
    if (renewed !== undefined) session.locks.push(renewed);
    const { written, names } = published;
    await this.cache(draft, published);
    const diagnostics = await this.settle();
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

  /** Resolvers that do not answer from the published list are not asked about the next one. */
  private async askBefore({ canary }: Draft): Promise<void> {
    const { plan, session } = this;
    const path = plan.files[0]?.path;
    if (session.beforePublish === undefined || canary === undefined || path === undefined) return;
    const old = await publishedCanary(path, session.host);
    if (old !== undefined && old !== canary) await session.beforePublish(plan, old);
  }

  private async remember(
    { compiled }: Draft,
    record: RecordHeader,
    about: string | undefined,
  ): Promise<void> {
    const { plan, session, kept } = this;
    const { config } = plan.list;
    const { report, shape, timelessHead, learned } = compiled;
    const header = { ...record, by: askedBy(session.options, session.host) };
    const own = { config: publishedConfig(config), runs: kept.runs, about };
    await this.outputs.remember(
      { report, shape, timelessHead, learned, ...own },
      header,
      kept.covered,
    );
  }

  private async cache({ compiled }: Draft, { written, files, names }: Published): Promise<void> {
    const { plan, session } = this;
    const { cache, coveredDone } = this.work;
    const { config, plugins } = plan.list;
    const hasPlugins = plugins.transformations.size + plugins.formats.size > 0;
    const isTimed = plan.compile.sources.some(
      ({ feed, keepMs }) => keepMs !== undefined || (feed && dependsOnTime(feed)),
    );
    // A manifest and entries of feeds expire, and plugins change without notice, so such lists are always rebuilt.
    if (plan.isToStdout || config.manifest !== undefined || hasPlugins || isTimed) return;
    // A cover check that was skipped runs in the next build.
    if (plan.covers.size > 0 && session.options.accept.includes("not-covered")) return;
    await coveredDone?.();
    const compared = [...plan.covers.values()].filter((path) => path !== undefined);
    const { report, inputs, web } = compiled;
    const result = { report, written, names };
    await cache?.put({ ...result, inputs, web, outputs: files, compared });
  }

  /** Keeps the copies that a list was built from, to answer questions about it later. */
  private async keepCopies({ compiled }: Draft): Promise<void> {
    const { host, options } = this.session;
    const path = this.plan.files[0]?.path;
    const objects = [...compiled.files.values()].flat().map(({ sha256 }) => sha256);
    if (options.cacheDir === undefined || path === undefined || objects.length === 0) return;
    await needCopies(options.cacheDir, { path, objects }, host);
  }
}
