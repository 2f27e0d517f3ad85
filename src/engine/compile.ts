import type { Trust } from "../config/fields.ts";
import { CompilerError } from "../diagnostics/diagnostic.ts";
import { adblock } from "../formats/adblock.ts";
import { bannerLines } from "../formats/header.ts";
import { Checkpoint } from "../host/checkpoint.ts";
import type { Host } from "../host/host.ts";
import { RowFinder } from "../kernel/row-finder.ts";
import { RowRecorder } from "../kernel/row-recorder.ts";
import { RecordWriter } from "../record/record-writer.ts";
import { ChunkCache } from "../rules/chunk-cache.ts";
import { ChunkPool } from "../rules/rule-table.ts";
import { LINE_COUNT } from "../sources/line-count.ts";
import type { AllowList } from "../transformations/allow.ts";
import { prepareMinSources } from "../transformations/min-sources.ts";
import type { Protection } from "../transformations/protect.ts";
import { Reserved } from "../transformations/reserved.ts";
import type { StageContext } from "../transformations/stage-context.ts";
import { finalTrust, prepareNames, prepareRegex, prepareTrust } from "../transformations/trust.ts";
import { allowReport, unusedEntries } from "./allow-report.ts";
import { cancelledElsewhere } from "./cancelled-elsewhere.ts";
import type { AskedNames, CompileOptions, PublishedRules } from "./compile-options.ts";
import { buildTime } from "./build-time.ts";
import { limitedSources } from "./exception-limits.ts";
import { firstStages } from "./first-stages.ts";
import { Pipeline } from "./pipeline.ts";
import { nameStages } from "./name-stages.ts";
import { Popularity } from "./popularity.ts";
import { NO_FINDINGS, listFindings, protectionReport } from "./list-findings.ts";
import { LateDrops } from "./late-drops.ts";
import { listJudges } from "./list-judges.ts";
import { ListHeader } from "./list-header.ts";
import { listShape, tiersOf } from "./list-shape.ts";
import { protectedSet, waiverOf } from "./protected-names.ts";
import { type Filters, stagesOf } from "./stages-of.ts";
import { type MemoryPlan, expectText, memoryPlan, scratchNeed } from "./memory-plan.ts";
import { Warnings } from "./warnings.ts";
import { type ByteSink, OutputStage } from "./output-stage.ts";
import {
  type Plan,
  type PlannedSource,
  allowsPublicSuffix,
  entryFiles,
  judgesNames,
  serversOf,
  trustInList,
} from "./plan.ts";
import { sourceFindings } from "./source-findings.ts";
import { readRows } from "./read-rows.ts";
import { compileReport } from "./report.ts";
import type { CompiledList } from "./compiled-list.ts";
import { scratchOf } from "./scratch.ts";
import { SourceReader } from "./source-reader.ts";
import { SourceSink, pushBanner } from "./source-sink.ts";
import { stateNote } from "./state-text.ts";
import { WideRules } from "./wide-rules.ts";
import { Engine } from "./engine.ts";

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
