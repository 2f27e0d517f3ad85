import type { Trust } from "../config/fields.ts";
import { CompilerError, errorOf } from "../diagnostics/render.ts";
import { printable } from "../diagnostics/text.ts";
import { OWN_TIER } from "../formats/fit-rules.ts";
import { adblock } from "../formats/formats.ts";
import { bannerLines } from "../formats/header.ts";
import type { ListShape } from "../formats/list-model.ts";
import { foreignFormats } from "../formats/readers/registry.ts";
import { Checkpoint, type Host } from "../host/host.ts";
import { RowFinder, RowRecorder } from "../kernel/rows.ts";
import { RecordWriter } from "../record/build-record.ts";
import { ChunkCache, ChunkPool } from "../rules/rule-table.ts";
import { LINE_COUNT } from "../sources/names-of-source.ts";
import { Nesting } from "../transformations/compress.ts";
import type { StageContext } from "../transformations/stage.ts";
import { OwnAddresses, Sinkholes, SplitHosts } from "../transformations/to-block-rule.ts";
import {
  finalTrust,
  prepareNames,
  prepareRegex,
  prepareTrust,
  trustStages,
} from "../transformations/trust.ts";
import {
  type EngineOptions,
  type MemoryPlan,
  type PublishedRules,
  expectText,
  memoryPlan,
  scratchNeed,
  scratchOf,
} from "./compile-options.ts";
import type {
  FeatureResult,
  FeatureRun,
  ListFeature,
  ListWork,
  Place,
  SourceRun,
} from "./feature.ts";
import { type ByteSink, ListHeader, OutputStage } from "./output-stage.ts";
import { type Filters, type NamedStage, Pipeline, Warnings, stagesOf } from "./pipeline.ts";
import { type Plan, type PlannedSource, trustInList } from "./plan.ts";
import { type CompiledList, NO_FINDINGS, compileReport } from "./report.ts";
import { Engine, type SharedSources } from "./shared-sources.ts";
import { BlocklistKind, SourceReader } from "./source-reader.ts";
import { SourceSink, pushBanner } from "./source-sink.ts";
import { stateNote } from "./source-state.ts";

interface FetchedFilters {
  readonly list: Filters;
  readonly sources: readonly Filters[];
}

/** One compile in two steps: `fetch` downloads all remote content, `compile` builds the list. */
export class Compilation implements ListWork {
  readonly plan: Plan;
  readonly options: EngineOptions;
  readonly reader: SourceReader;
  readonly host: Host;
  private readonly memory: MemoryPlan;
  readonly context: StageContext;
  private readonly warnings: Warnings;
  private readonly head: ListHeader;
  private readonly output: OutputStage;
  readonly engine: Engine;
  private readonly builtAt: Date;
  private readonly checkpoint: Checkpoint;
  /** Exceptions per source that lost their `$important`. */
  private readonly weakened: number[] = [];
  private filters: FetchedFilters | undefined;
  /** The features that the list uses. */
  private readonly runs = new Map<ListFeature, FeatureRun>();

  constructor(plan: Plan, host: Host, sink: ByteSink, options: EngineOptions) {
    const { config } = plan;
    this.plan = plan;
    this.host = host;
    this.options = options;
    this.checkpoint = new Checkpoint(options.signal);
    this.engine = options.shared?.engine ?? new Engine();
    this.builtAt = options.builtAt ?? buildTime(host);
    const timed = { ...options, builtAt: this.builtAt };
    this.reader = new SourceReader(host, timed, this.engine);
    const { kernel } = this.engine;
    this.engine.clear();
    this.memory = memoryPlan(options, host, kernel);
    const { chunksLimit, budget } = this.memory;
    const cache = new ChunkCache(chunksLimit, () => budget.openScratch());
    const pool = new ChunkPool(kernel, cache);
    this.context = { pool, budget, finder: new RowFinder(kernel) };
    this.warnings = new Warnings(pool);
    this.head = new ListHeader(config, this.builtAt, options.headerLines ?? []);
    const sources = this.plan.sources.length;
    const to = this.head.before(sink, () => scratchOf(host));
    this.output = new OutputStage(
      pool,
      kernel,
      { sources, format: adblock, header: this.head.lines() },
      to,
    );
    for (const feature of plan.features) {
      const run = feature.open(this);
      if (run !== undefined) this.runs.set(feature, run);
    }
  }

  runOf<Run extends FeatureRun>(feature: ListFeature<Run>): Run | undefined {
    return this.runs.get(feature) as Run | undefined;
  }

  readonly isFull = (index: number): boolean =>
    this.reader.trustOf(this.plan.sources[index]!).level === "full";

  drops(name: string): boolean {
    for (const run of this.runs.values()) if (run.drops?.(name) === true) return true;
    return false;
  }

  close(): void {
    this.reader.close();
    this.head.close();
    this.memory.close();
  }

  async fetch(): Promise<void> {
    const { plan, reader } = this;
    const { entries } = reader;
    for (const run of this.runs.values()) await run.fetch?.();
    const list = await entries.filters(plan.list);
    const sources = await Promise.all(plan.sources.map(({ passes }) => entries.filters(passes)));
    await reader.fetch(plan.sources);
    this.filters = { list, sources };
  }

  /** Digest of all remote content; undefined if a source failed or the digest cannot be computed. */
  get web(): string | undefined {
    const { failures, hasStoreFailed } = this.reader;
    return failures.length === 0 && !hasStoreFailed ? this.reader.webDigest() : undefined;
  }

  /** `published` describes the published list. Without it, no exception and no blocked name counts as new. */
  async compile(published: PublishedRules = {}): Promise<CompiledList> {
    const { plan, options, reader, context, output } = this;
    const { list: listFilters, sources: sourceFilters } = this.filters!;
    const web = reader.webDigest();
    const size = await reader.size();
    expectText(size, this.memory);
    const scratchBytes = scratchNeed(size, this.memory);
    if (scratchBytes > 0)
      options.onProgress?.({
        kind: "needs-scratch",
        bytes: scratchBytes,
        ...(await this.host.scratchSpace()),
      });
    const cancelled = await cancelledElsewhere(plan.sources, reader);
    const runs = [...this.runs.values()];
    for (const run of runs) await run.start?.(published);
    output.watches = runs.filter(takes);
    output.record =
      options.record &&
      new RecordWriter(context.finder, new RowRecorder(this.engine.kernel), options.record);
    output.names = options.names;
    const trustOf = (index: number): Trust =>
      trustInList(plan, index, reader.trustOf(plan.sources[index]!).level);
    const tiers = tiersOf(plan, trustOf, (index) => reader.states[index]?.kind === "local");
    const comparison = options.shared?.comparisonOf(plan);
    const added = runs.map((run) => run.stages?.() ?? {});
    const at = (place: Place): NamedStage[] => added.flatMap((stages) => stages[place] ?? []);
    const split = plan.splitsNames ? [{ name: "names", stage: new SplitHosts(context) }] : [];
    const trust =
      options.compat === true ? [] : [{ name: "trust", stage: finalTrust(trustOf, context) }];
    const stages = stagesOf(
      plan.list,
      {
        filters: listFilters,
        first: [...split, ...at("arrived")],
        filtered: at("filtered"),
        last: [...at("transformed"), ...trust, ...at("trusted"), ...at("last")],
        comparison,
        tiers,
      },
      this.warnings,
      context,
    );
    const list = new Pipeline(stages, (chunk) => output.take(chunk));
    const bytesRead: number[] = [];
    const drops = runs.some((run) => run.drops !== undefined)
      ? (name: string): boolean => this.drops(name)
      : undefined;
    for (const source of plan.sources) {
      const filters = sourceFilters[source.index]!;
      const above = { ...listFilters, drops, cancelled: cancelled(source) };
      bytesRead.push((await this.compileSource(source, filters, above, list)) ?? 0);
    }
    if (reader.failures.length > 0) throw new CompilerError([...reader.found, ...reader.failures]);
    const lines = context.pool.chunks.reduce((sum, { length }) => sum + length, 0);
    options.onProgress?.({ kind: "compiling", lines });
    await list.end(() => this.checkpoint.pass());
    await this.checkpoint.yieldNow();
    output.end();
    this.head.end(output.count.rules);
    options.shared?.keepComparison(plan, comparison?.next);
    for (const { name, ms } of list.times()) options.onProgress?.({ kind: "step", name, ms });
    const labels = plan.sources.map(({ label }) => label);
    const results = runs.flatMap((run) => run.result?.(output.count.fates) ?? []);
    return {
      rules: output.rules,
      report: compileReport(output.count, output.bytes, {
        plan,
        bytesRead,
        states: reader.states,
        isWhole: reader.conditions.leftOut.length === 0,
        weakened: this.weakened,
        results,
      }),
      inputs: reader.inputs,
      leftOut: reader.conditions.leftOut,
      named: reader.conditions.named,
      web,
      files: reader.files,
      sources: plan.sources,
      builtAt: this.builtAt,
      timelessHead: this.head.timeless(output.count.rules),
      shape: joined(listShape(plan, tiers), results, "shape"),
      findings: joined(NO_FINDINGS, results, "findings"),
      ranks: results.find(({ ranks }) => ranks !== undefined)?.ranks,
      learned: joined({ blocked: [], freed: [] }, results, "learned"),
      close: () => this.close(),
      diagnostics: [
        ...reader.found,
        ...this.warnings.diagnostics(labels),
        ...results.flatMap(({ diagnostics = [] }) => diagnostics),
      ],
    };
  }

  /** Reads a source and sends its chunks through its own stages and then those of the list. */
  private async compileSource(
    source: PlannedSource,
    filters: Filters,
    above: Filters,
    list: Pipeline,
  ): Promise<number | undefined> {
    const { reader, context, options } = this;
    const { pool } = context;
    // The list already failed. Reading the rest only finds further errors.
    if (reader.failures.length > 0) return await reader.read(source, LINE_COUNT);
    const { name: title } = this.plan.config.sources[source.index]!;
    pushBanner(
      source,
      bannerLines(title, source.shown, stateNote(reader.states[source.index])),
      pool,
      list,
    );
    if (reader.isDropped(source)) return undefined;
    const runs: SourceRun[] = [];
    for (const run of this.runs.values()) {
      const own = await run.source?.(source);
      if (own !== undefined) runs.push(own);
    }
    const { stages: first, problem } = firstStages(
      source,
      {
        reader,
        runs,
        isCompat: options.compat === true,
        engineOf: () => this.engine,
        onWeakened: () => {
          this.weakened[source.index] = (this.weakened[source.index] ?? 0) + 1;
        },
      },
      context,
    );
    const stages = stagesOf(source.passes, { filters, above, first }, this.warnings, context);
    const own = new Pipeline(stages, (chunk) => list.push(chunk));
    const steps = [...source.passes.steps, ...this.plan.list.steps];
    const sink = new SourceSink(
      pool,
      source,
      {
        scanner: this.engine.scanner,
        watches: runs.filter(sees),
        preparing: [
          { prepare: this.isFull(source.index) ? prepareRegex : prepareTrust },
          { prepare: prepareNames },
          ...this.runs.values(),
          ...steps.map(({ transformation }) => transformation),
        ],
      },
      (chunk) => own.push(chunk),
    );
    const bytes = await readRows(source, sink, { reader, shared: options.shared, runs });
    if (bytes === undefined) return undefined;
    await own.end(() => this.checkpoint.pass());
    reader.failures.push(...(problem()?.diagnostics ?? []));
    for (const { name, ms } of own.times())
      options.onProgress?.({ kind: "step", name, ms, label: source.label });
    return bytes;
  }
}

/** Later results replace parts of earlier ones. */
function joined<T extends object>(
  base: T,
  results: readonly FeatureResult[],
  key: "shape" | "findings" | "learned",
): T {
  return Object.assign({}, base, ...results.map((result) => result[key])) as T;
}

/**
 * Reads every source, compiles the list and passes its bytes to `sink`. Each piece is valid until the next call. Rejects with
 * a `CompilerError` if a source fails; the sink's output is then incomplete.
 */
export async function compileList(
  plan: Plan,
  host: Host,
  sink: ByteSink,
  options: EngineOptions = {},
): Promise<CompiledList> {
  const compilation = new Compilation(plan, host, sink, options);
  try {
    await compilation.fetch();
    compilation.reader.conditions.refuseMissing(false);
    return await compilation.compile();
  } catch (error) {
    compilation.close();
    throw error;
  }
}

function takes(run: FeatureRun): run is FeatureRun & Required<Pick<FeatureRun, "take">> {
  return run.take !== undefined;
}

function sees(run: SourceRun): run is SourceRun & Required<Pick<SourceRun, "see">> {
  return run.see !== undefined;
}

/**
 * For each source, the names whose rules other sources cancel. Only a source with its own Compress needs them, before the
 * others are read: a rule that will be cancelled must not cover others.
 */
async function cancelledElsewhere(
  sources: readonly PlannedSource[],
  reader: SourceReader,
): Promise<(source: PlannedSource) => ReadonlySet<string>> {
  const cancelled = new Map<PlannedSource, ReadonlySet<string>>();
  const compressed = sources.filter(({ passes }) =>
    passes.steps.some(({ name }) => name === "Compress"),
  );
  const [first] = compressed;
  if (first !== undefined)
    for (const source of sources)
      if (compressed.length > 1 || source !== first)
        cancelled.set(source, await reader.cancelledBy(source));
  return (source) => {
    const others = [...cancelled].filter(([other]) => other !== source);
    return new Set(others.flatMap(([, names]) => [...names]));
  };
}

/** Now, or SOURCE_DATE_EPOCH for a reproducible build (https://reproducible-builds.org/specs/source-date-epoch). */
export function buildTime(host: Host): Date {
  const epoch = host.env["SOURCE_DATE_EPOCH"];
  if (epoch === undefined || epoch === "") return host.now();
  if (/^\d{1,12}$/.test(epoch)) return new Date(Number(epoch) * 1000);
  const message = `SOURCE_DATE_EPOCH must be a number of seconds since 1970, not ${printable(epoch, 40)}`;
  throw new CompilerError([errorOf("environment-invalid", message)]);
}

/** What the first stages of a source depend on. */
interface SourceJudges {
  readonly reader: SourceReader;
  readonly runs: readonly SourceRun[];
  readonly isCompat: boolean;
  readonly engineOf: () => Engine;
  /** Called for each exception that lost its `$important`. */
  readonly onWeakened: () => void;
}

/** The stages of a source before its transformations: what its lines mean, and whether it may say so. */
function firstStages(
  source: PlannedSource,
  { reader, runs, isCompat, engineOf, onWeakened }: SourceJudges,
  context: StageContext,
): { readonly stages: readonly NamedStage[]; readonly problem: () => CompilerError | undefined } {
  const { index, isInverted, mayBlock } = source;
  const stages: NamedStage[] = runs.flatMap(({ read = [] }) => read);
  const trust = reader.trustOf(source);
  const format = foreignFormats.get(source.type);
  if (format?.hasTargets === true)
    stages.push({ name: "sinkholes", stage: new Sinkholes(context) });
  if (!isCompat)
    for (const stage of trustStages(trust.level, trust.mayCancel, context, onWeakened))
      stages.push({ name: "trust", stage });
  if (!isCompat && trust.level === "full" && !isInverted)
    stages.push({ name: "addresses", stage: new OwnAddresses(context) });
  // Remote sources were judged before they were cached.
  const isJudged = reader.states[index]?.kind !== "local" || isCompat;
  const kind =
    isJudged || mayBlock === undefined ? undefined : new BlocklistKind(source, mayBlock, engineOf);
  const counter = kind?.counter(context.finder);
  // Names are in lower case here, and rules for protected names are still present.
  if (counter !== undefined) stages.push({ name: "kind", stage: counter.stage });
  stages.push(...runs.flatMap(({ trusted = [] }) => trusted));
  if (format?.nests === true) stages.push({ name: "nesting", stage: new Nesting(context) });
  return { stages, problem: () => counter?.problem() };
}

/** Properties of the list that its other formats need. */
export function listShape(plan: Plan, tiers?: readonly number[]): ListShape {
  return {
    isMinimal: isMinimal(plan) && tiers === undefined,
    hasSureCovers: compressesOnce(plan),
    protectedNames: [],
    ...(tiers && { tiers }),
  };
}

/** Compress ensures it, unless a later pass creates rules for names. */
function isMinimal({ list }: Plan): boolean {
  const names = new Set(list.steps.map(({ name }) => name));
  return names.has("Compress") && !names.has("InvertAllow") && !names.has("RemoveModifiers");
}

/** A single Compress drops a name once, for a parent that the transformations after it keep. */
function compressesOnce({ config, sources }: Plan): boolean {
  return (
    config.plugins === undefined &&
    !sources.some(({ passes }) => passes.steps.some(({ name }) => name === "Compress"))
  );
}

const LEVELS: readonly Trust[] = ["full", "standard", "block-only"];

/** How trusted the sources are, if an output must choose between them: local files first. */
function tiersOf(
  { config, sources }: Plan,
  trustOf: (index: number) => Trust,
  isLocal: (index: number) => boolean,
): readonly number[] | undefined {
  if (config.outputs?.some(({ fit }) => fit !== undefined) !== true) return undefined;
  const tiers = sources.map(({ index }) => {
    const level = LEVELS.indexOf(trustOf(index));
    return level === 0 && isLocal(index) ? OWN_TIER : level + 1;
  });
  return new Set(tiers).size > 1 ? tiers : undefined;
}

interface RowReading {
  readonly reader: SourceReader;
  readonly shared: SharedSources | undefined;
  readonly runs: readonly SourceRun[];
}

/**
 * Reads the lines of a source into its sink, with those that it keeps, or reuses the rows that another list of this run read. Returns the
 * bytes of its text, or undefined if it failed.
 */
async function readRows(
  source: PlannedSource,
  sink: SourceSink,
  { reader, shared, runs }: RowReading,
): Promise<number | undefined> {
  const known = shared?.find(source);
  try {
    if (known !== undefined) {
      await sink.again(known.origins, known.chunks);
      return reader.readAgain(source, known);
    }
    const rows = shared?.isWanted(source) === true ? sink.keepRows() : undefined;
    const notes = reader.notesOf(source);
    const bytes = await reader.read(source, sink);
    if (bytes === undefined) return undefined;
    await sink.end();
    for (const run of runs)
      if (run.end !== undefined) {
        await run.end(sink);
        await sink.end();
      }
    if (rows !== undefined) shared!.keep(source, { ...notes(bytes), ...rows });
    return bytes;
  } finally {
    for (const run of runs) run.close?.();
    shared?.used(source);
  }
}
