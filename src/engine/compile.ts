import type { Trust } from "../config/fields.ts";
import type { Config } from "../config/lists.ts";
import { CompilerError, type Diagnostic, errorOf, warningOf } from "../diagnostics/render.ts";
import { printable, someOf } from "../diagnostics/text.ts";
import { OWN_TIER } from "../formats/fit-rules.ts";
import { adblock } from "../formats/formats.ts";
import { bannerLines } from "../formats/header.ts";
import type { ListShape } from "../formats/list-model.ts";
import { foreignFormats } from "../formats/readers/registry.ts";
import { Checkpoint, type Host } from "../host/host.ts";
import { RowFinder, RowRecorder } from "../kernel/rows.ts";
import { RecordWriter } from "../record/build-record.ts";
import { type Chunk, Flag, Kind } from "../rules/chunk.ts";
import { Fate } from "../rules/fate.ts";
import { ChunkCache, ChunkPool } from "../rules/rule-table.ts";
import { LINE_COUNT } from "../sources/names-of-source.ts";
import { asciiLabels, writtenEntry } from "../syntax/written-names.ts";
import type { AllowList, AllowUse } from "../transformations/allow.ts";
import { Nesting } from "../transformations/compress.ts";
import { minSources, prepareMinSources } from "../transformations/min-sources.ts";
import type { Protection } from "../transformations/protect.ts";
import { Reserved } from "../transformations/reserved.ts";
import { type Stage, type StageContext, eachChunk } from "../transformations/stage.ts";
import { OwnAddresses, Sinkholes, SplitHosts } from "../transformations/to-block-rule.ts";
import {
  finalTrust,
  prepareNames,
  prepareRegex,
  prepareTrust,
  trustStages,
} from "../transformations/trust.ts";
import {
  type AskedNames,
  type CompileOptions,
  type MemoryPlan,
  type PublishedRules,
  expectText,
  memoryPlan,
  scratchNeed,
  scratchOf,
} from "./compile-options.ts";
import { limitedSources } from "./exception-limits.ts";
import type { Keeping } from "./keeping.ts";
import { NO_FINDINGS, WideRules, listFindings, protectionReport } from "./list-findings.ts";
import { type CompiledList, listJudges } from "./list-judges.ts";
import { type ByteSink, ListHeader, OutputStage } from "./output-stage.ts";
import { type Filters, type NamedStage, Pipeline, Warnings, stagesOf } from "./pipeline.ts";
import {
  type Plan,
  type PlannedSource,
  allowsPublicSuffix,
  entryFiles,
  judgesNames,
  serversOf,
  trustInList,
} from "./plan.ts";
import { Popularity } from "./popularity.ts";
import { protectedSet, waiverOf } from "./protected-names.ts";
import { type CompileReport, compileReport } from "./report.ts";
import { Engine, type SharedSources } from "./shared-sources.ts";
import { sourceFindings } from "./source-findings.ts";
import { BlocklistKind, SourceReader } from "./source-reader.ts";
import { SourceSink, pushBanner } from "./source-sink.ts";
import { stateNote } from "./source-state.ts";

interface FetchedFilters {
  readonly list: Filters & { readonly allow: AllowList };
  readonly sources: readonly Filters[];
  /** Names that `guards.protect` adds. */
  readonly protect: readonly string[];
}

/** One compile in two steps: `fetch` downloads all remote content, `compile` builds the list. */
export class Compilation {
  readonly plan: Plan;
  readonly options: CompileOptions;
  readonly reader: SourceReader;
  readonly host: Host;
  private readonly memory: MemoryPlan;
  readonly context: StageContext;
  private readonly warnings: Warnings;
  private readonly head: ListHeader;
  private readonly output: OutputStage;
  readonly engine: Engine;
  private readonly builtAt: Date;
  private protection: Protection | undefined;
  private readonly checkpoint: Checkpoint;
  /** Exceptions per source that lost their `$important`. */
  private readonly weakened: number[] = [];
  private filters: FetchedFilters | undefined;
  private popularity: Popularity | undefined;

  constructor(plan: Plan, host: Host, sink: ByteSink, options: CompileOptions) {
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
  }

  close(): void {
    this.reader.close();
    this.head.close();
    this.memory.close();
  }

  async fetch(): Promise<void> {
    const { plan, reader } = this;
    const { config } = plan;
    const { guards = {} } = config;
    const { entries } = reader;
    const allow = await entries.allowList(
      config.allow ?? [],
      entryFiles(config.allow_sources, "allow"),
    );
    const list = { ...(await entries.filters(plan.list)), allow };
    const protect = await entries.names(entryFiles(guards.protect, "protect"));
    const sources = await Promise.all(plan.sources.map(({ passes }) => entries.filters(passes)));
    const lists = {
      ranks: await entries.ranks(plan.ranks),
      known: await entries.ranks(plan.expand),
    };
    this.popularity = new Popularity(lists, plan, this.context);
    await reader.fetch(plan.sources);
    this.filters = { list, sources, protect };
  }

  /** Digest of all remote content; undefined if a source failed or the digest cannot be computed. */
  get web(): string | undefined {
    const { failures, hasStoreFailed } = this.reader;
    return failures.length === 0 && !hasStoreFailed ? this.reader.webDigest() : undefined;
  }

  /** Whether `compile` compares exceptions with those of the published list. */
  get limitsExceptions(): boolean {
    return limitedSources(this.plan.sources, this.reader, this.options).length > 0;
  }

  /** `published` describes the published list. Without it, no exception and no blocked name counts as new. */
  async compile(published: PublishedRules = {}): Promise<CompiledList> {
    const { plan, options, reader, context, output } = this;
    const { config } = plan;
    const { list: listFilters, sources: sourceFilters, protect } = this.filters!;
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
    const popularity = this.popularity!;
    const guarded = protectedSet(
      [...protect, ...serversOf(plan)],
      config.guards?.may_block ?? [],
      (name) => popularity.ranks?.rankOf(name) !== undefined,
    );
    const isJudged = options.compat !== true;
    const asked =
      published.asked && this.judgedNames(published.asked, guarded.names, listFilters.allow);
    const judges = await listJudges(guarded, popularity, { ...published, asked }, this);
    const { protection } = judges;
    this.protection = protection;
    const wide = isJudged && !allowsPublicSuffix(plan) ? new WideRules(context.finder) : undefined;
    // Only other formats need it.
    const late = options.names && new LateDrops();
    const findings = isJudged ? sourceFindings(plan, reader, context.pool) : undefined;
    output.watches = [wide, popularity.inList, late, findings].filter((one) => one !== undefined);
    output.record =
      options.record &&
      new RecordWriter(context.finder, new RowRecorder(this.engine.kernel), options.record);
    output.names = options.names;
    const trustOf = (index: number): Trust =>
      trustInList(plan, index, reader.trustOf(plan.sources[index]!).level);
    const tiers = tiersOf(plan, trustOf, (index) => reader.states[index]?.kind === "local");
    const last = [
      ...(late?.stages() ?? []),
      ...popularity.ranked(),
      ...(protection === undefined
        ? []
        : [
            { name: "trust", stage: finalTrust(trustOf, context) },
            ...judges.exceptions,
            { name: "protect", stage: protection.listStage() },
          ]),
      ...judges.last,
      ...popularity.last(),
    ];
    const first = nameStages(config, context);
    const comparison = options.shared?.comparisonOf(plan);
    const { filtered } = judges;
    const reserved =
      plan.list.hasCanary === true
        ? new Reserved(context, (index) => trustOf(index) === "full")
        : undefined;
    const parts = { filters: listFilters, first, filtered, last, comparison, reserved, tiers };
    const stages = stagesOf(plan.list, parts, this.warnings, context);
    const list = new Pipeline(stages, (chunk) => output.take(chunk));
    const bytesRead: number[] = [];
    for (const source of plan.sources) {
      const filters = sourceFilters[source.index]!;
      const above = { ...listFilters, cancelled: cancelled(source) };
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
    return {
      rules: output.rules,
      report: {
        ...compileReport(output.count, output.bytes, {
          plan,
          bytesRead,
          states: reader.states,
          isWhole: reader.conditions.leftOut.length === 0,
          weakened: this.weakened,
          uses: protection?.uses,
          allow: allowReport(listFilters.allow),
        }),
        ...protectionReport(protection),
      },
      inputs: reader.inputs,
      leftOut: reader.conditions.leftOut,
      web,
      files: reader.files,
      sources: plan.sources,
      builtAt: this.builtAt,
      timelessHead: this.head.timeless(output.count.rules),
      shape: {
        ...listShape(plan, protection?.reachable ?? [], late?.found === true, tiers),
        ...popularity.shape,
      },
      findings:
        protection === undefined
          ? NO_FINDINGS
          : listFindings(protection, wide?.found ?? [], guarded.lifelines, context.pool),
      ranks: popularity.ranks,
      learned: judges.learned(),
      close: () => this.close(),
      diagnostics: [
        ...reader.found,
        ...this.warnings.diagnostics(labels),
        ...(findings?.warnings(output.count.fates) ?? []),
        ...unusedEntries(listFilters.allow),
        ...judges.warnings(),
      ],
    };
  }

  /** Without the names that stay reachable in any case, and those that rules may block. */
  private judgedNames(asked: AskedNames, kept: readonly string[], allow: AllowList): AskedNames {
    const isKept = new Set(kept);
    const mayBlock = waiverOf(this.plan.config.guards?.may_block);
    const names = [...asked.names].filter(
      ([name]) => !isKept.has(name) && !allow.matchesName(name) && !mayBlock(name),
    );
    return { ...asked, names: new Map(names) };
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
    const trust = reader.trustOf(source);
    const keeping = reader.keepingOf(source);
    const { stages: first, problem } = firstStages(
      source,
      {
        reader,
        protection: this.protection,
        isCompat: options.compat === true,
        age: await keeping?.stage(context),
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
        see: keeping && ((chunk) => keeping.see(chunk)),
        preparing: [
          { prepare: trust.level === "full" ? prepareRegex : prepareTrust },
          { prepare: prepareNames },
          ...(judgesNames(this.plan.config) ? [{ prepare: prepareMinSources }] : []),
          ...steps.map(({ transformation }) => transformation),
        ],
      },
      (chunk) => own.push(chunk),
    );
    const bytes = await readRows(source, sink, { reader, shared: options.shared, keeping });
    if (bytes === undefined) return undefined;
    await own.end(() => this.checkpoint.pass());
    reader.failures.push(...(problem()?.diagnostics ?? []));
    for (const { name, ms } of own.times())
      options.onProgress?.({ kind: "step", name, ms, label: source.label });
    return bytes;
  }
}

function allowReport({ isEmpty, uses }: AllowList): Pick<CompileReport, "allow"> {
  if (isEmpty) return {};
  return {
    allow: uses.map(({ entry, removed, exception }) => {
      const text = writtenEntry(entry);
      return { entry: text, removed, ...(exception === undefined ? {} : { exception }) };
    }),
  };
}

function isUsed({ removed, exception }: AllowUse): boolean {
  return removed > 0 || exception !== undefined;
}

/** One note for all allow-list entries that matched no rule. */
function unusedEntries({ uses }: AllowList): Diagnostic[] {
  // A non-ASCII name has two entries: as written and in ASCII.
  const used = new Set(uses.filter(isUsed).map(({ entry }) => asciiLabels(entry.name)));
  const unused = uses.filter(({ entry }) => !used.has(asciiLabels(entry.name)));
  if (unused.length === 0) return [];
  const names = unused.map(({ entry }) => writtenEntry(entry));
  const message = `These entries of the allowlist match no rule: ${someOf(names)}`;
  return [warningOf("allow-unused", message, { subject: "allow", all: names })];
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
  readonly protection: Protection | undefined;
  readonly isCompat: boolean;
  /** Drops what is too old. */
  readonly age: Stage | undefined;
  readonly engineOf: () => Engine;
  /** Called for each exception that lost its `$important`. */
  readonly onWeakened: () => void;
}

/** The stages of a source before its transformations: what its lines mean, and whether it may say so. */
function firstStages(
  source: PlannedSource,
  { reader, protection, isCompat, age, engineOf, onWeakened }: SourceJudges,
  context: StageContext,
): { readonly stages: readonly NamedStage[]; readonly problem: () => CompilerError | undefined } {
  const { index, isInverted, mayBlock } = source;
  const stages: NamedStage[] = age === undefined ? [] : [{ name: "max_age", stage: age }];
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
  // The stage at the end of the list judges what does not become an exception.
  if (trust.level !== "full" && protection !== undefined && !isInverted)
    stages.push({ name: "protect", stage: protection.sourceStage(index) });
  if (format?.nests === true) stages.push({ name: "nesting", stage: new Nesting(context) });
  return { stages, problem: () => counter?.problem() };
}

/** The first stages of the list: those that judge each name of a hosts line by itself. */
function nameStages(config: Config, context: StageContext): NamedStage[] {
  const split = judgesNames(config) ? [{ name: "names", stage: new SplitHosts(context) }] : [];
  const several = minSources(config.min_sources ?? 1, context);
  return [...split, ...several.map((stage) => ({ name: "min_sources", stage }))];
}

/** Notices whether rules leave the list after Compress has dropped the names below them, whatever stage drops them. */
class LateDrops {
  private before = 0;
  private after = 0;

  /** Come after the transformations. */
  stages(): NamedStage[] {
    const stage = eachChunk((chunk) => {
      this.before += blocksIn(chunk);
    });
    return [{ name: "covers", stage }];
  }

  /** Takes the chunks that are written. */
  take(chunk: Chunk): void {
    this.after += blocksIn(chunk);
  }

  get found(): boolean {
    return this.after < this.before;
  }
}

/** How many live rules of sources block something. */
function blocksIn({ fate, kind, flags, length }: Chunk): number {
  let count = 0;
  for (let row = 0; row < length; row++)
    if (fate[row] === Fate.Kept && kind[row]! >= Kind.Hosts)
      if ((flags[row]! & (Flag.Allow | Flag.Generated)) === 0) count++;
  return count;
}

/** Properties of the list that its other formats need. */
export function listShape(
  plan: Plan,
  protectedNames: readonly string[],
  hasLateDrops = false,
  tiers?: readonly number[],
): ListShape {
  return {
    isMinimal: isMinimal(plan) && tiers === undefined,
    hasSureCovers: !hasLateDrops && compressesOnce(plan),
    protectedNames,
    ...(tiers && { tiers }),
    ...(plan.list.hasCanary === true && { hasCanary: true }),
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
  readonly keeping: Keeping | undefined;
}

/**
 * Reads the lines of a source into its sink, with those that it keeps, or reuses the rows that another list of this run read. Returns the
 * bytes of its text, or undefined if it failed.
 */
async function readRows(
  source: PlannedSource,
  sink: SourceSink,
  { reader, shared, keeping }: RowReading,
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
    if (keeping !== undefined) {
      await sink.end();
      reader.noteKept(source, await keeping.end(sink, reader.states[source.index]!));
    }
    await sink.end();
    if (rows !== undefined) shared!.keep(source, { ...notes(bytes), ...rows });
    return bytes;
  } finally {
    keeping?.close();
    shared?.used(source);
  }
}
