import type { CompileOptions } from "./compile-options.ts";
import { CompilerError, type Diagnostic, warningOf } from "../diagnostics/diagnostic.ts";
import { printable } from "../diagnostics/printable.ts";
import type { Trust } from "../config/fields.ts";
import { Checkpoint } from "../host/checkpoint.ts";
import { type Host, HostError } from "../host/host.ts";
import { fileError } from "../sources/source-error.ts";
import { type Acquired, type ListKind, type RemoteSource, acquire } from "../sources/acquire.ts";
import { type SourceState, isCopy } from "../sources/source-state.ts";
import { DownloadBudget } from "../sources/download-budget.ts";
import type { FetchWatch } from "../sources/fetch-text.ts";
import { FETCH_LIMITS, type FetchLimits, limitsOf } from "../sources/fetch-limits.ts";
import { HostSlots } from "../sources/host-slots.ts";
import { NetworkWatch } from "../sources/network-watch.ts";
import { type InputFile, type LineSink, SourceList } from "../sources/source-list.ts";
import { SourceStore, type StoredFile } from "../sources/source-store.ts";
import { cancelledNames } from "../meaning/cancelled-names.ts";
import { foreignFormats } from "../formats/readers/registry.ts";
import { ANY_KIND, kindOf } from "./blocklist-kind.ts";
import { EntryReader } from "./entry-reader.ts";
import { freeingOf } from "./freed-by-file.ts";
import { Keeping } from "./keeping.ts";
import { locateOnce } from "./locate.ts";
import type { PlannedSource } from "./plan.ts";
import { type SourceNotes, acquiredKey, webDigestOf } from "./shared-sources.ts";
import { lockedFiles } from "./source-lock.ts";
import { ledgerKeyOf, storeKeyOf } from "./source-key.ts";
import { type SourceOptions, hasPlainLines, keysOf, readingOf } from "./source-options.ts";
import { fetchWatched } from "./source-progress.ts";
import { SourceConditions, droppedState } from "./source-conditions.ts";
import { storeWarning } from "./state-text.ts";
import { Engine } from "./engine.ts";

/** Reads sources and collects diagnostics about them. */
export class SourceReader {
  readonly diagnostics: Diagnostic[] = [];
  readonly failures: Diagnostic[] = [];
  /** How each source was obtained, by its index. */
  readonly states: SourceState[] = [];
  /** The local files that the list depends on. */
  readonly inputs: InputFile[] = [];
  readonly host: Host;
  private readonly options: CompileOptions;
  /** Reads files of entries: exclusions, inclusions, allow-lists, names. */
  readonly entries: EntryReader;
  private readonly lists: (SourceList | undefined)[] = [];
  private readonly buffers: Uint8Array[] = [];
  private readonly limits: FetchLimits;
  private readonly slots: HostSlots;
  private readonly network: NetworkWatch;
  /** What becomes of sources and files of names that cannot be read. */
  readonly conditions: SourceConditions;
  private readonly store: SourceStore | undefined;
  private budget: Promise<DownloadBudget> | undefined;
  private readonly checkpoint: Checkpoint;
  /** Whether a copy could not be stored. */
  hasStoreFailed = false;
  /** The files of remote sources, by `storeKeyOf` the source as written in the configuration. */
  readonly files: Map<string, readonly StoredFile[]> = new Map();
  private hasUnknownFiles = false;
  /** Bytes of sources that another list read. */
  private knownBytes = 0;
  /** Reads lines that are not compiled. Created on first use. */
  private engine: Engine | undefined;
  readonly engineOf = (): Engine => (this.engine ??= new Engine());

  constructor(host: Host, options: CompileOptions, engine?: Engine) {
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
    if (this.hasUnknownFiles || this.conditions.leftOut.length > 0) return undefined;
    return webDigestOf([...this.files.values()].flat());
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

  /** What remembers the rules of a source; undefined if it keeps none. */
  keepingOf(source: PlannedSource): Keeping | undefined {
    const { store, host, options } = this;
    if (source.keepMs === undefined) return undefined;
    if (store === undefined) {
      const message = `${printable(source.label)} keeps nothing: there is no cache`;
      this.diagnostics.push(warningOf("keep-needs-cache", message));
      return undefined;
    }
    const isOwn = this.states[source.index]?.kind === "local";
    return new Keeping(source, {
      host,
      folder: options.configFolder ?? host.cwd,
      store,
      now: options.builtAt ?? host.now(),
      locked: options.lock?.files.get(storeKeyOf(source.source, source)),
      limits: isOwn ? undefined : limitsOf(this.limits, source),
      warn: (warning) => this.diagnostics.push(warning),
      onStoreError: (error) => this.tellStoreError(error),
    });
  }

  /** Notes the files of a source that keeps rules, beside its own. */
  noteKept(source: PlannedSource, kept: readonly StoredFile[]): void {
    const key = storeKeyOf(source.source, source);
    const own = this.files.get(key)?.filter(({ role }) => role === undefined) ?? [];
    this.files.set(key, [...own, ...kept]);
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
      // Only a source that may be left out must be checked before it is read.
      if (!wish.isRequired && !(await host.exists(location.path)))
        throw fileError(label, new HostError("ENOENT", "no such file"));
      const list = new SourceList({ location, label }, host, load);
      // A later error would be too late.
      const kind = wish.isRequired ? undefined : this.kindOf(wish);
      if (kind !== undefined && (await list.size().catch(() => 0)) > 0)
        await kind.judge(await list.namesAmong(kind.watched), list);
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

  private kindOf(wish: SourceOptions): ListKind {
    return this.options.compat === true ? ANY_KIND : kindOf(wish, this.engineOf);
  }

  /** A cached copy has the same text but makes a different build, so the digest does not apply. */
  private note(wish: SourceOptions, { state, files }: Pick<SourceNotes, "state" | "files">): void {
    if (files === undefined || isCopy(state.kind)) this.hasUnknownFiles = true;
    if (files !== undefined) this.files.set(storeKeyOf(wish.source, wish), files);
  }

  private tellStoreError(error: HostError): void {
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
      if (this.conditions.mayLeaveOut(source, error) && this.states[index] === undefined)
        this.states[index] = droppedState(error);
      else this.failures.push(...error.diagnostics);
      return false;
    }
  }
}
