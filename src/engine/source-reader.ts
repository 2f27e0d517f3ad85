import type { Trust } from "../config/fields.ts";
import { CompilerError, type Diagnostic, warningOf } from "../diagnostics/render.ts";
import { nearest, printable, someOf, withoutCredentials } from "../diagnostics/text.ts";
import { foreignFormats } from "../formats/readers/registry.ts";
import { Checkpoint, type Host, HostError } from "../host/host.ts";
import { RowFinder } from "../kernel/rows.ts";
import { cancelledNames } from "../meaning/line.ts";
import { type RankList, RankedNames } from "../meaning/ranked-names.ts";
import { NameMatcher } from "../meaning/verdict.ts";
import { hostOf } from "../rules/chunk.ts";
import { ChunkPool } from "../rules/rule-table.ts";
import {
  type Acquired,
  type ListKind,
  type RemoteSource,
  type SourceState,
  acquire,
  isCopy,
} from "../sources/acquire.ts";
import { SourceStore, type StoredFile } from "../sources/copies.ts";
import type { FetchWatch } from "../sources/fetch-text.ts";
import {
  DownloadBudget,
  FETCH_LIMITS,
  type FetchLimits,
  HostSlots,
  type Location,
  NetworkWatch,
  candidatePaths,
  fileError,
  isAddress,
  limitsOf,
  shownAddress,
  sourceError,
} from "../sources/limits.ts";
import { type InputFile, type LineSink, SourceList } from "../sources/source-list.ts";
import { withParents } from "../syntax/public-suffix.ts";
import type { AllowList } from "../transformations/allow.ts";
import { type Stage, eachChunk } from "../transformations/stage.ts";
import { prepareRegex } from "../transformations/trust.ts";
import {
  type EngineOptions,
  FETCH_DEFAULTS,
  type ProgressEvent,
  type SourceOptions,
  hasPlainLines,
  keysOf,
  lockedFiles,
  readingOf,
} from "./compile-options.ts";
import {
  type Entries,
  EntrySink,
  RankSink,
  allowListOf,
  filterOf,
  freeingOf,
  noRanks,
  protectedOf,
  refuseNoRanks,
} from "./filter-entries.ts";
import type { Filters } from "./pipeline.ts";
import type { PlannedSource, StageSettings } from "./plan.ts";
import { PROTECTED_NAMES, waivedNames } from "./protected-names.ts";
import {
  Engine,
  type KeptRanks,
  type SharedSources,
  type SourceNotes,
  acquiredKey,
  failureText,
  webDigestOf,
} from "./shared-sources.ts";
import { type ScanSink, SourceSink } from "./source-sink.ts";
import {
  SourceConditions,
  droppedState,
  ledgerKeyOf,
  storeKeyOf,
  storeWarning,
} from "./source-state.ts";

/** Reads sources and collects diagnostics about them. */
export class SourceReader {
  readonly diagnostics: Diagnostic[] = [];
  readonly failures: Diagnostic[] = [];
  /** How each source was obtained, by its index. */
  readonly states: SourceState[] = [];
  /** The local files that the list depends on. */
  readonly inputs: InputFile[] = [];
  readonly host: Host;
  private readonly options: EngineOptions;
  /** Reads files of entries: exclusions, inclusions, allow-lists, names. */
  readonly entries: EntryReader;
  private readonly lists: (SourceList | undefined)[] = [];
  private readonly buffers: Uint8Array[] = [];
  private readonly limits: FetchLimits;
  private readonly slots: HostSlots;
  private readonly network: NetworkWatch;
  /** What becomes of sources and files of names that cannot be read. */
  readonly conditions: SourceConditions;
  readonly store: SourceStore | undefined;
  private budget: Promise<DownloadBudget> | undefined;
  private readonly checkpoint: Checkpoint;
  /** Whether a copy could not be stored. */
  hasStoreFailed = false;
  /** The files of remote sources, by `storeKeyOf` the source as written in the configuration. */
  readonly files: Map<string, readonly StoredFile[]> = new Map();
  private hasUnknownFiles = false;
  /** `failureText` of sources that are copies or left out, by `storeKeyOf`. */
  private readonly failed = new Map<string, string>();
  private leftOut = 0;
  private readonly decidedByFiles = new WeakSet<CompilerError>();
  /** Bytes of sources that another list read. */
  private knownBytes = 0;
  /** Reads lines that are not compiled. Created on first use. */
  private engine: Engine | undefined;
  readonly engineOf = (): Engine => (this.engine ??= new Engine());

  constructor(host: Host, options: EngineOptions, engine?: Engine) {
    this.engine = engine;
    this.host = host;
    this.network = options.shared?.network ?? new NetworkWatch();
    this.conditions = new SourceConditions(this, options, this.network);
    this.entries = new EntryReader(this, {
      isCompat: options.compat === true,
      engineOf: this.engineOf,
      open: (source) => this.open(source),
      note: (source, notes) => this.note(source, notes),
      conditions: this.conditions,
      shared: options.shared,
    });
    this.options = options;
    this.checkpoint = new Checkpoint(options.signal);
    this.limits = { ...FETCH_LIMITS, ...options.fetchLimits };
    this.slots = new HostSlots(this.limits);
    const { cacheDir } = options;
    this.store = cacheDir === undefined ? undefined : new SourceStore(cacheDir, host);
  }

  /** Fetches all remote sources in parallel. Records every failure, not only the first. */
  async fetch(sources: readonly PlannedSource[]): Promise<void> {
    const ends = await Promise.allSettled(
      sources.map(async (source) => {
        const { index, label } = source;
        this.options.onProgress?.({ kind: "source-started", source: index, label });
        const known = this.options.shared?.find(source);
        if (known !== undefined) {
          this.states[index] = known.state;
          this.knownBytes += known.bytes;
          if (known.state.kind === "local")
            await locateOnce(source.source, this.host, this.options, this);
          if (known.state.kind !== "local" || known.files !== undefined) this.note(source, known);
          return;
        }
        await this.attempt(source, async () => {
          const open = (watch: FetchWatch | undefined): Promise<Acquired> =>
            this.open(source, watch);
          const { list, state } = await fetchWatched(source, open, this.options.onProgress);
          this.states[index] = state;
          this.lists[index] = list;
        });
      }),
    );
    // All have settled, so that none opens a file after `close`.
    for (const end of ends) if (end.status === "rejected") throw end.reason;
    this.conditions.noteSources(sources);
  }

  /** All diagnostics, with those about the states of sources. */
  get found(): readonly Diagnostic[] {
    return [...this.diagnostics, ...this.conditions.diagnostics];
  }

  /** Total bytes of all sources, as far as known before reading. */
  async size(): Promise<number> {
    let size = this.knownBytes;
    for (const list of this.lists) size += (await list?.size()) ?? 0;
    return size;
  }

  /** Digest of all remote content; undefined if it cannot be computed. */
  webDigest(): string | undefined {
    const { files, failed, conditions } = this;
    // A file of names that is left out is read again.
    if (this.hasUnknownFiles || conditions.leftOut.length > this.leftOut) return undefined;
    return webDigestOf([...files.values()].flat(), failed.values());
  }

  isDropped({ index }: PlannedSource): boolean {
    return this.states[index]?.kind === "dropped";
  }

  /** What a source's lines may do. By default, files have full trust and remote sources less. */
  trustOf(source: PlannedSource): { level: Trust; mayCancel: boolean } {
    const { index, trust } = source;
    if (this.options.compat === true) return { level: "full", mayCancel: true };
    const isLocal = this.states[index]?.kind === "local";
    const level = trust ?? (isLocal ? "full" : "standard");
    const mayCancel =
      this.lists[index]?.mayHave.badfilter ?? this.options.shared?.find(source)?.mayCancel ?? true;
    return { level, mayCancel };
  }

  /** The names of rules that a source cancels in the whole list. The source can still be read afterwards. */
  async cancelledBy(source: PlannedSource): Promise<ReadonlySet<string>> {
    const names = new Set<string>();
    const { level, mayCancel } = this.trustOf(source);
    const isTranslated = source.feed !== undefined || foreignFormats.has(source.type);
    if (level !== "full" || !mayCancel || isTranslated) return names;
    const look = (text: Uint8Array): void => {
      for (const name of cancelledNames(text)) names.add(name);
    };
    for (const { bytes } of this.options.shared?.find(source)?.chunks ?? []) look(bytes);
    await this.lists[source.index]?.peek(look);
    return names;
  }

  /** Reads a source to its end. Returns the bytes of its text, or undefined if it failed. */
  async read(source: PlannedSource, sink: LineSink): Promise<number | undefined> {
    const list = this.lists[source.index];
    if (list === undefined) return undefined;
    this.lists[source.index] = undefined;
    const isRead = await this.attempt(source, () => list.readInto(sink));
    list.close();
    this.diagnostics.push(...list.diagnostics);
    this.inputs.push(...list.inputs);
    return isRead ? this.countRead(source, list.bytesRead) : undefined;
  }

  /** The time of the build. */
  get now(): Date {
    return this.options.builtAt ?? this.host.now();
  }

  limitsOf(source: PlannedSource): FetchLimits {
    return limitsOf(this.limits, source);
  }

  /** Notes files that were made of what a source had, beside its own. */
  noteFiles(source: PlannedSource, made: readonly StoredFile[]): void {
    const key = storeKeyOf(source.source, source);
    const own = this.files.get(key)?.filter(({ role }) => role === undefined) ?? [];
    this.files.set(key, [...own, ...made]);
  }

  /** Call before a source is read. The result gives the notes for lists that reuse its rows. */
  notesOf(source: PlannedSource): (bytes: number) => SourceNotes {
    const { index } = source;
    const said = this.diagnostics.length;
    const read = this.inputs.length;
    const mayCancel = this.lists[index]?.mayHave.badfilter ?? true;
    return (bytes) => ({
      state: this.states[index]!,
      files: this.files.get(storeKeyOf(source.source, source)),
      mayCancel,
      bytes,
      diagnostics: this.diagnostics.slice(said),
      inputs: this.inputs.slice(read),
    });
  }

  /** Records a source whose rows another list read, as if it had been read here. */
  readAgain(source: PlannedSource, { bytes, diagnostics, inputs }: SourceNotes): number {
    this.diagnostics.push(...diagnostics);
    this.inputs.push(...inputs);
    return this.countRead(source, bytes);
  }

  private countRead({ index, label }: PlannedSource, bytes: number): number {
    const { kind } = this.states[index] ?? { kind: "local" };
    const event = { source: index, label, bytes, isCopy: isCopy(kind) };
    this.options.onProgress?.({ kind: "source-read", ...event });
    return bytes;
  }

  /** Releases sources that were fetched but not read. */
  close(): void {
    for (const list of this.lists.splice(0)) list?.close();
  }

  /** Rejects with a `CompilerError` if neither the source nor a copy is readable. */
  async open(wish: SourceOptions, watch?: FetchWatch): Promise<Acquired> {
    const { host, options, buffers } = this;
    const { signal, blockBytes, builtAt: now } = options;
    const location = await locateOnce(wish.source, host, options, this);
    const load = { ...readingOf(wish), checkpoint: this.checkpoint, blockBytes, buffers, now };
    const label = wish.shown;
    if (location.kind === "file") {
      const { path } = location;
      if (!(await host.exists(path))) {
        const near = await nearFile(path, label, host);
        const error = fileError(label, new HostError("ENOENT", "no such file"), near);
        throw this.decided(error, [{ path, stamp: undefined }]);
      }
      const list = new SourceList({ location, label }, host, load);
      // A later error would be too late.
      const kind = wish.isRequired ? undefined : this.kindOf(wish);
      if (kind !== undefined && (await list.size().catch(() => 0)) > 0) {
        const found = await list.namesAmong(kind.watched);
        await kind.judge(found, list).catch((error: unknown) => {
          throw this.decided(error, list.readBefore);
        });
      }
      return { list, state: { kind: "local" } };
    }
    const { limits, slots, store } = this;
    const compat = options.compat === true;
    const remote: RemoteSource = {
      ...wish,
      url: location.url,
      storeKey: storeKeyOf(location.url, wish),
      ledgerKey: await ledgerKeyOf(wish),
      label: printable(label),
      name: printable(wish.label),
      bounds: compat ? undefined : wish.bounds,
      isLines: hasPlainLines(wish),
      accept: options.accept ?? [],
      kind: this.kindOf(wish),
      frees: freeingOf(wish, options.listsWith, this),
      mayBeEmpty: compat,
      checksCount: wish.checksCount && !compat,
      locked: lockedFiles(options.lock, wish),
    };
    const key = acquiredKey(location.url, wish);
    const { shared } = options;
    const failure = shared?.failures.get(key);
    if (failure !== undefined) throw failure;
    // Another list of this run fetched it, and its copy was stored.
    const before = store === undefined ? undefined : shared?.acquired.get(key);
    const wanted = { ...remote, locked: remote.locked ?? before?.files };
    const folder = options.configFolder ?? host.cwd;
    const warn = (warning: Diagnostic) => this.diagnostics.push(warning);
    const keys = await keysOf(location.url, wish, { folder, host }, warn);
    const acquired = await acquire(wanted, {
      budget: await (this.budget ??= DownloadBudget.of(host)),
      fetch: {
        host: this.network.watch(host),
        signal,
        slots,
        watch,
        keys,
        member: wish.member,
        signers: wish.signers,
        limits: limitsOf(limits, wish),
        allowPrivate: wish.allowPrivate || compat || options.allowPrivate === true,
      },
      load,
      store,
      ledger: options.ledger,
      offline: options.offline === true,
      fromPublished: options.fromPublished === true,
      onStoreError: (error) => this.tellStoreError(error),
    }).catch((error: unknown) => {
      if (error instanceof CompilerError) shared?.failures.set(key, error);
      throw error;
    });
    const { files } = acquired;
    const state = before?.state ?? acquired.state;
    if (files !== undefined) shared?.acquired.set(key, { state, files });
    this.note(wish, { state, files });
    return { ...acquired, state };
  }

  /** Notes that a source failed because of what is in these files, or because they are missing. */
  private decided(error: unknown, inputs: readonly InputFile[]): unknown {
    if (!(error instanceof CompilerError)) return error;
    this.decidedByFiles.add(error);
    this.inputs.push(...inputs);
    return error;
  }

  private kindOf(wish: SourceOptions): ListKind {
    return this.options.compat === true ? ANY_KIND : kindOf(wish, this.engineOf);
  }

  /** A copy has the same text but makes a different build, because the report, the record and later limits tell its age. */
  private note(wish: SourceOptions, { state, files }: Pick<SourceNotes, "state" | "files">): void {
    const key = storeKeyOf(wish.source, wish);
    if (files === undefined || state.kind === "offline") this.hasUnknownFiles = true;
    if (files !== undefined) this.files.set(key, files);
    if ("causes" in state) this.failed.set(key, failureText(wish, state));
  }

  tellStoreError(error: HostError): void {
    if (this.hasStoreFailed) return;
    this.hasStoreFailed = true;
    this.diagnostics.push(storeWarning(error, this.options.cacheDir ?? ""));
  }

  private async attempt(source: PlannedSource, action: () => Promise<void>): Promise<boolean> {
    const { index, label } = source;
    try {
      await action();
      return true;
    } catch (error) {
      if (!(error instanceof CompilerError)) throw error;
      this.lists[index]?.close();
      this.lists[index] = undefined;
      this.options.onProgress?.({ kind: "source-failed", source: index, label });
      if (this.conditions.mayLeaveOut(source, error) && this.states[index] === undefined) {
        const state = droppedState(error);
        this.states[index] = state;
        this.leftOut++;
        if (!this.decidedByFiles.has(error))
          this.failed.set(storeKeyOf(source.source, source), failureText(source, state));
      } else this.failures.push(...error.diagnostics);
      return false;
    }
  }
}

/**
 * Real block-lists have rules for 1 to 7 protected names, which the engine handles one by one. A list with more than this is
 * something else: allow-lists used by mistake have 28 to 71.
 */
const MOST = 10;

/** Protected names and their parents, except top-level domains. */
const WATCHED: ReadonlySet<string> = new Set(PROTECTED_NAMES.flatMap(watchedFor));

function watchedFor(name: string): string[] {
  return withParents(name).filter((one) => one.includes("."));
}

/** For a source that may hold anything. It has watched names too: another configuration may use its copy as a block-list. */
const ANY_KIND: ListKind = { watched: WATCHED, judge: async () => {} };

/** What a source or a file of names must be. */
function kindOf(wish: SourceOptions, engineOf: () => Engine): ListKind {
  const { mayBlock, role } = wish;
  if (role === "ranks" || role === "known")
    return { ...ANY_KIND, judge: (_, list) => refuseNoRanks(list, wish, engineOf()) };
  return mayBlock === undefined ? ANY_KIND : new BlocklistKind(wish, mayBlock, engineOf);
}

/** Recognizes block-lists. A list that blocks too many of the built-in protected names is something else. */
export class BlocklistKind implements ListKind {
  readonly watched: ReadonlySet<string> = WATCHED;
  private readonly source: Pick<PlannedSource, "type" | "shown" | "feed">;
  private readonly names: readonly string[];
  /** With their parents. */
  private readonly own: ReadonlySet<string>;
  private readonly engineOf: () => Engine;

  /** Names in `mayBlock` do not count. `engineOf` is lazy: few lists need their rules checked. */
  constructor(
    source: Pick<PlannedSource, "type" | "shown" | "feed">,
    mayBlock: readonly string[],
    engineOf: () => Engine,
  ) {
    const waived = new Set(waivedNames(mayBlock));
    this.source = source;
    this.names = PROTECTED_NAMES.filter((name) => !waived.has(name));
    this.own = new Set(this.names.flatMap(watchedFor));
    this.engineOf = engineOf;
  }

  /** Checks the names in the text first, and the rules only if there are many. */
  async judge(...[found, list]: Parameters<ListKind["judge"]>): Promise<void> {
    if (found.filter((name) => this.own.has(name)).length <= MOST) return;
    const { kernel, scanner } = this.engineOf();
    const { stage, problem } = this.counter(new RowFinder(kernel), true);
    const sink = new SourceSink(
      new ChunkPool(kernel),
      { ...this.source, index: 0, splitHosts: false },
      { scanner, preparing: [{ prepare: prepareRegex }] },
      (chunk) => stage.push(chunk, (judged) => judged.leave()),
    );
    await list.readAhead(sink);
    await sink.end();
    const said = problem();
    if (said !== undefined) throw said;
  }

  /** Counts a source's rules for protected names during the compile; `isRaw` if its lines are not tidied yet. */
  counter(
    finder: RowFinder,
    isRaw = false,
  ): {
    readonly stage: Stage;
    readonly problem: () => CompilerError | undefined;
  } {
    const watch = new NameMatcher(this.names, finder, true);
    // Readers of other formats write patterns.
    const looksAtAll = isRaw || foreignFormats.has(this.source.type);
    let hits = 0;
    return {
      stage: eachChunk((chunk) => {
        if (looksAtAll) {
          watch.take(chunk);
          return;
        }
        // Allow-lists are lists of names. Matching patterns against protected names would cost 10% of the compile time.
        const rows = finder
          .hashed(chunk, watch.filter)
          .filter((row) => this.own.has(hostOf(chunk, row).toLowerCase()));
        hits += rows.length;
        if (rows.length > 0) watch.takeRows(chunk, rows);
      }),
      problem: () => {
        if (!looksAtAll && hits <= MOST) return undefined;
        const blocked = [...watch.verdicts()].filter(({ isBlocked }) => isBlocked);
        // A rule that blocks several protected names counts once.
        const rules = new Set(blocked.map(({ by }) => by.name ?? by.text));
        if (rules.size <= MOST) return undefined;
        const label = printable(this.source.shown);
        return sourceError(
          "source-not-blocklist",
          `${label} is not a block-list: it blocks ${blocked.length} names that devices need`,
          someOf(blocked.map(({ name }) => name)),
        );
      },
    };
  }
}

interface EntryOptions {
  readonly isCompat: boolean;
  engineOf(this: void): Engine;
  open(this: void, source: SourceOptions): Promise<Acquired>;
  readonly conditions: SourceConditions;
  /** Records the files of a source that another list of this run read. */
  note(this: void, source: SourceOptions, notes: Pick<SourceNotes, "state" | "files">): void;
  readonly shared: SharedSources | undefined;
}

/** A file of entries, without a list if it is left out. */
type OpenedFile =
  | Acquired
  | { readonly list: undefined; readonly state: SourceState; readonly files: undefined };

/** No line has a line feed, and so this entry matches none. */
const NOTHING = "\n";

/** Reads files of entries. Warnings and inputs go to `findings`. */
class EntryReader {
  private readonly findings: { readonly diagnostics: Diagnostic[]; readonly inputs: InputFile[] };
  private readonly options: EntryOptions;

  constructor(findings: EntryReader["findings"], options: EntryOptions) {
    this.findings = findings;
    this.options = options;
  }

  async filters({ exclusions, inclusions }: StageSettings): Promise<Filters> {
    const [excluded, included] = await Promise.all([
      Promise.all(exclusions.files.map((file) => this.read(file))),
      Promise.all(inclusions.files.map((file) => this.readIfThere(file))),
    ]);
    const there = included.filter((one) => one !== undefined);
    // Without a file of what to include, nothing of it is included; without any entry, everything would be.
    const inline = [...inclusions.inline, ...(there.length < included.length ? [NOTHING] : [])];
    return {
      exclusions: this.taken(await filterOf(exclusions.inline, excluded, false)),
      inclusions: this.taken(await filterOf(inline, there, true)),
    };
  }

  private async open(file: SourceOptions): Promise<OpenedFile> {
    const { open, conditions } = this.options;
    try {
      const opened = await open(file);
      conditions.note(file, opened.state);
      return opened;
    } catch (error) {
      if (!(error instanceof CompilerError) || !conditions.mayLeaveOut(file, error)) throw error;
      const state = droppedState(error);
      conditions.note(file, state);
      return { list: undefined, state, files: undefined };
    }
  }

  private taken<T>({ value, warnings }: Entries<T>): T {
    this.findings.diagnostics.push(...warnings);
    return value;
  }

  /** The allow-list: entries of the configuration and of files. Rejects with a `CompilerError` that lists every invalid one. */
  async allowList(inline: readonly string[], files: readonly SourceOptions[]): Promise<AllowList> {
    const lists = await Promise.all(files.map((file) => this.read(file)));
    return this.taken(allowListOf(inline, lists));
  }

  /** The names in files, one per line, in any syntax. */
  async names(files: readonly SourceOptions[]): Promise<string[]> {
    const lists = await Promise.all(files.map((file) => this.read(file)));
    return this.taken(protectedOf(lists));
  }

  /** Lists of popular or known names; undefined without any. Several lists of a run read them once. */
  async ranks(sources: readonly SourceOptions[]): Promise<RankedNames | undefined> {
    if (sources.length === 0) return undefined;
    const { shared, note, conditions } = this.options;
    const key = JSON.stringify(sources);
    const known = shared?.ranks.get(key);
    if (known === undefined) {
      const read = await this.readRanks(sources);
      shared?.ranks.set(key, read);
      return read.names;
    }
    this.findings.diagnostics.push(...known.diagnostics);
    this.findings.inputs.push(...known.inputs);
    for (const { source, ...notes } of known.sources)
      if (notes.state.kind !== "local") {
        note(source, notes);
        conditions.note(source, notes.state);
      }
    return known.names;
  }

  private async readRanks(sources: readonly SourceOptions[]): Promise<KeptRanks> {
    const lists: RankList[] = [];
    const notes: KeptRanks["sources"][number][] = [];
    const { diagnostics, inputs } = this.findings;
    const said = diagnostics.length;
    const read = inputs.length;
    for (const source of sources) {
      const { list, state, files } = await this.open(source);
      notes.push({ source, state, files });
      if (list === undefined) continue;
      const sink = new RankSink(this.options.engineOf(), source.role === "known");
      await this.readInto(sink, list);
      if (sink.list.length === 0) throw noRanks(source);
      lists.push(sink.list);
    }
    return {
      names: lists.length === 0 ? undefined : new RankedNames(lists),
      sources: notes,
      diagnostics: diagnostics.slice(said),
      inputs: inputs.slice(read),
    };
  }

  private async read(file: SourceOptions): Promise<EntrySink> {
    return (await this.readIfThere(file)) ?? new EntrySink(true, this.options.engineOf());
  }

  /** Undefined if it is left out. */
  private async readIfThere(file: SourceOptions): Promise<EntrySink | undefined> {
    const { isCompat, engineOf } = this.options;
    const { list, state } = await this.open(file);
    if (list === undefined) return undefined;
    const sink = new EntrySink(!isCompat && state.kind !== "local", engineOf());
    await this.readInto(sink, list);
    return sink;
  }

  private async readInto(sink: ScanSink, list: SourceList): Promise<void> {
    try {
      await list.readInto(sink);
    } finally {
      list.close();
    }
    sink.end();
    this.findings.diagnostics.push(...list.diagnostics);
    this.findings.inputs.push(...list.inputs);
  }
}

/** The file beside a missing one whose name is most like it, written as the source is. */
async function nearFile(path: string, label: string, host: Host): Promise<string | undefined> {
  const name = host.path.basename(path);
  if (!label.endsWith(name)) return undefined;
  const files = await host.listFolder(host.path.dirname(path)).catch(() => []);
  const near = nearest(name, files);
  return near === undefined ? undefined : label.slice(0, -name.length) + near;
}

/** Resolves a source of the configuration to a path or URL. Adds a note if a path was found elsewhere. */
async function locate(
  source: string,
  configFolder: string,
  host: Host,
  { diagnostics, inputs }: { readonly diagnostics: Diagnostic[]; readonly inputs: InputFile[] },
): Promise<Location> {
  if (/^file:/i.test(source))
    throw sourceError(
      "source-not-found",
      `Failed to fetch ${shownAddress(source)}`,
      "file: URLs are not read; write the path",
    );
  if (isAddress(source)) return { kind: "web", url: source };
  const [beside, elsewhere] = candidatePaths(source, configFolder, host);
  if (elsewhere === undefined || (await host.exists(beside!)))
    return { kind: "file", path: beside! };
  if (!(await host.exists(elsewhere))) return { kind: "file", path: beside! };
  // If this file appears later, it takes precedence.
  inputs.push({ path: beside!, stamp: undefined });
  diagnostics.push({
    ...warningOf(
      "found-beside-working-directory",
      `${printable(source)} was found in the working directory, not next to the configuration`,
    ),
    severity: "note",
  });
  return { kind: "file", path: elsewhere };
}

/** The same, looked up once for all lists of a run. */
async function locateOnce(
  source: string,
  host: Host,
  { shared, configFolder }: Pick<EngineOptions, "shared" | "configFolder">,
  notes: { readonly diagnostics: Diagnostic[]; readonly inputs: InputFile[] },
): Promise<Location> {
  let found = shared?.located.get(source);
  if (found === undefined) {
    const own = { diagnostics: [], inputs: [] };
    const location = await locate(source, configFolder ?? host.cwd, host, own);
    found = { location, ...own };
    shared?.located.set(source, found);
  }
  notes.diagnostics.push(...found.diagnostics);
  notes.inputs.push(...found.inputs);
  return found.location;
}

type Tell = ((event: ProgressEvent) => void) | undefined;

/** Fetches a source and reports its progress. */
async function fetchWatched(
  { index, label }: PlannedSource,
  open: (watch: FetchWatch | undefined) => Promise<Acquired>,
  tell: Tell,
): Promise<Acquired> {
  if (tell === undefined) return await open(undefined);
  const started = performance.now();
  let arrived = 0;
  let total: number | undefined;
  const acquired = await open({
    expected: (bytes) => {
      total = arrived + bytes;
    },
    arrived: (bytes) => {
      arrived += bytes;
      tell({ kind: "source-arriving", source: index, bytes: arrived, ...(total && { total }) });
    },
    retried: (retry, pauseMs, cause) =>
      tell({ kind: "source-retried", source: index, label, retry, pauseMs, cause }),
  });
  const { kind: state } = acquired.state;
  const ms = performance.now() - started;
  const bytes = state === "local" ? 0 : await acquired.list.size();
  tell({ kind: "source-fetched", source: index, label, state, bytes, ms });
  return acquired;
}

/** Shows the text of a source without compiling it. Rejects with a `CompilerError` if neither it nor a copy is readable. */
export async function inspectSource(
  reader: SourceReader,
  wish: Pick<SourceOptions, "source"> & Partial<SourceOptions>,
  see: (text: Uint8Array) => void,
): Promise<SourceState> {
  const shown = withoutCredentials(wish.source);
  const { list, state } = await reader.open({ ...FETCH_DEFAULTS, shown, label: shown, ...wish });
  try {
    await list.check();
    await list.peek(see);
    return state;
  } finally {
    list.close();
  }
}
