import type { CompilerError, Diagnostic } from "../diagnostics/render.ts";
import type { Host } from "../host/host.ts";
import { KernelMemory } from "../kernel/kernel.ts";
import { type ComparisonSlot, type NameComparison, comparisonBytes } from "../kernel/names.ts";
import { LineScanner } from "../kernel/rows.ts";
import type { RankedNames } from "../meaning/ranked-names.ts";
import { type KeptChunk, type Origin, keptBytes } from "../rules/rule-table.ts";
import type { FailedState, SourceState } from "../sources/acquire.ts";
import type { StoredFile } from "../sources/copies.ts";
import { type Location, NetworkWatch, isAddress } from "../sources/limits.ts";
import type { InputFile } from "../sources/source-list.ts";
import { suffixFilters } from "../syntax/public-suffix.ts";
import type { SourceOptions } from "./compile-options.ts";
import type { Plan, PlannedSource } from "./plan.ts";
import { droppedState, storeKeyOf } from "./source-state.ts";

/** State of a source when it was read: its origin, and its diagnostics. */
export interface SourceNotes {
  readonly state: SourceState;
  readonly files: readonly StoredFile[] | undefined;
  readonly mayCancel: boolean;
  readonly bytes: number;
  readonly diagnostics: readonly Diagnostic[];
  readonly inputs: readonly InputFile[];
}

/** The rows of a source, for reuse without reading it again. */
interface ReusedSource extends SourceNotes {
  readonly origins: readonly Omit<Origin, "source">[];
  readonly chunks: readonly KeptChunk[];
}

/** Popular names, for reuse without reading their lists again. */
export interface KeptRanks extends Pick<SourceNotes, "diagnostics" | "inputs"> {
  readonly names: RankedNames | undefined;
  readonly sources: readonly (Pick<SourceNotes, "state" | "files"> & {
    readonly source: SourceOptions;
  })[];
}

interface Located {
  readonly location: Location;
  readonly diagnostics: readonly Diagnostic[];
  readonly inputs: readonly InputFile[];
}

/** Share of the run's memory for rows that further lists need. */
const SHARE = 0.25;

/** State that lists of one run share: their working memory, and sources, each fetched and read once. */
export class SharedSources {
  readonly engine: Engine;
  private readonly kept = new Map<string, ReusedSource>();
  /** How many lists still need each source. */
  private readonly uses = new Map<string, number>();
  private readonly comparisons = new Map<Plan, NameComparison>();
  private room: number;
  /** Set when lists are compiled repeatedly: nothing is freed after its last use. */
  isLasting = false;
  /** Results of remote files, by request. */
  readonly acquired: Map<string, { state: SourceState; files: readonly StoredFile[] }> = new Map();
  readonly failures: Map<string, CompilerError> = new Map();
  readonly network: NetworkWatch = new NetworkWatch();
  /** Where local sources were found, and the diagnostics. */
  readonly located: Map<string, Located> = new Map();
  /** Popular names, by the options of their lists. */
  readonly ranks: Map<string, KeptRanks> = new Map();

  /** `lists` has the sources of all lists of the run. */
  constructor(
    lists: readonly (readonly PlannedSource[])[],
    memory: number | undefined,
    host: Host,
  ) {
    this.engine = new Engine();
    this.room = (memory ?? host.memoryLimit() / 2) * SHARE;
    for (const source of lists.flat()) {
      const key = keyOf(source);
      this.uses.set(key, (this.uses.get(key) ?? 0) + 1);
    }
  }

  find(source: PlannedSource): ReusedSource | undefined {
    return this.kept.get(keyOf(source));
  }

  /** Whether another list needs it. */
  isWanted(source: PlannedSource): boolean {
    return this.isLasting || (this.uses.get(keyOf(source)) ?? 0) > 1;
  }

  keep(source: PlannedSource, rows: ReusedSource): void {
    const bytes = sizeOf(rows);
    if (bytes > this.room) return;
    this.room -= bytes;
    this.kept.set(keyOf(source), rows);
  }

  /** Where Compress finds the results of the last compile of this list and leaves its own; undefined for lists that are compiled once. */
  comparisonOf(plan: Plan): ComparisonSlot | undefined {
    return this.isLasting ? { last: this.comparisons.get(plan), next: undefined } : undefined;
  }

  /** Keeps the results of Compress for the next compile, if there is room for them and for the rows of all sources. */
  keepComparison(plan: Plan, fresh: NameComparison | undefined): void {
    const last = this.comparisons.get(plan);
    if (last !== undefined) this.room += comparisonBytes(last);
    this.comparisons.delete(plan);
    if (fresh === undefined || plan.sources.some((source) => this.find(source) === undefined))
      return;
    const bytes = comparisonBytes(fresh);
    if (bytes > this.room) return;
    this.room -= bytes;
    this.comparisons.set(plan, fresh);
  }

  /** Call when a list has used it. */
  used(source: PlannedSource): void {
    if (this.isLasting) return;
    const key = keyOf(source);
    const left = (this.uses.get(key) ?? 1) - 1;
    this.uses.set(key, left);
    const rows = this.kept.get(key);
    if (left > 0 || rows === undefined) return;
    this.room += sizeOf(rows);
    this.kept.delete(key);
  }

  /** Digest of all remote content of these sources, if all of it was fetched before; see `SourceReader.webDigest`. */
  webOf(sources: readonly PlannedSource[]): string | undefined {
    const files: StoredFile[] = [];
    const failed: string[] = [];
    const byKey = new Map(sources.map((one) => [storeKeyOf(one.source, one), one]));
    for (const source of byKey.values()) {
      if (!isAddress(source.source)) continue;
      const location = this.located.get(source.source)?.location;
      if (location?.kind === "file") continue;
      if (location === undefined) return undefined;
      const key = acquiredKey(location.url, source);
      const failure = this.failures.get(key);
      const found = this.acquired.get(key);
      const state = failure === undefined ? found?.state : droppedState(failure);
      if (state === undefined || state.kind === "offline") return undefined;
      if ("causes" in state) failed.push(failureText(source, state));
      files.push(...(found?.files ?? []));
    }
    return webDigestOf(files, failed);
  }

  /** A local file changed: discards what was read from it, or failed without it. */
  forget(path: string): void {
    for (const [key, rows] of this.kept)
      if (rows.inputs.some((input) => input.path === path)) {
        this.room += sizeOf(rows);
        this.kept.delete(key);
      }
    for (const [key, { inputs }] of this.ranks)
      if (inputs.some((input) => input.path === path)) this.ranks.delete(key);
    this.located.clear();
    this.failures.clear();
  }

  close(): void {
    this.kept.clear();
    this.comparisons.clear();
  }
}

/** The key of a remote file in `acquired`. */
export function acquiredKey(
  url: string,
  wish: Partial<
    Pick<
      SourceOptions,
      | "role"
      | "mirrors"
      | "maxStaleMs"
      | "timeoutMs"
      | "allowPrivate"
      | "bounds"
      | "mayBlock"
      | "feed"
      | "maxBytes"
      | "member"
      | "keyFiles"
      | "signers"
      | "checksCount"
    >
  >,
): string {
  const { mirrors, maxStaleMs, timeoutMs, allowPrivate, bounds, mayBlock, feed } = wish;
  const limits = [
    maxStaleMs,
    timeoutMs,
    allowPrivate,
    bounds,
    mayBlock,
    wish.maxBytes,
    wish.checksCount,
  ];
  const own = [wish.role, wish.keyFiles, wish.member, wish.signers];
  return JSON.stringify([url, mirrors, ...limits, feed, ...own]);
}

/** Digest that identifies files, and how sources failed. */
export function webDigestOf(files: readonly StoredFile[], failed: Iterable<string>): string {
  return [...files.map(({ key, sha256 }) => `${key} ${sha256}`), ...failed].toSorted().join("\n");
}

/** Stays the same while a source fails in the same way. */
export function failureText({ shown }: SourceOptions, { causes, ...state }: FailedState): string {
  // The counts in the causes of a held source are estimates that differ from run to run.
  const how = state.kind === "held" ? causes.map(({ code }) => code) : causes;
  return JSON.stringify([shown, state, how]);
}

function sizeOf({ chunks }: ReusedSource): number {
  return chunks.reduce((sum, chunk) => sum + keptBytes(chunk), 0);
}

/** Everything that decides which rows a source has. Later stages may differ from list to list. */
function keyOf(source: PlannedSource): string {
  const { label, type, splitHosts, mirrors, isRequired, maxStaleMs, timeoutMs, allowPrivate } =
    source;
  const { bounds, mayBlock, feed } = source;
  return JSON.stringify([
    source.source,
    label,
    type,
    splitHosts,
    mirrors,
    isRequired,
    maxStaleMs,
    timeoutMs,
    allowPrivate,
    bounds,
    mayBlock,
    feed,
    source.maxBytes,
    source.keyFiles,
    source.signers,
    source.member,
    source.checksCount,
    source.keepMs,
  ]);
}

/** The kernel with its memory. Compiles can use it one after another. */
export class Engine {
  readonly kernel: KernelMemory = new KernelMemory();
  readonly scanner: LineScanner = new LineScanner(this.kernel, suffixFilters);

  /** Frees everything that an earlier compile left. */
  clear(): void {
    this.kernel.freeAll();
  }
}
