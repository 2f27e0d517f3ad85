import type { CompileReport, SourceReport } from "../documents/facts.ts";
import type { Diagnostic } from "../diagnostics/render.ts";
import type { ListShape } from "../formats/list-model.ts";
import type { Host } from "../host/host.ts";
import type { RankedNames } from "../meaning/ranked-names.ts";
import type { Chunk } from "../rules/chunk.ts";
import type { LineSink } from "../sources/source-list.ts";
import type { StageContext } from "../transformations/stage.ts";
import type { EngineOptions, PublishedRules } from "./compile-options.ts";
import type { NamedStage } from "./pipeline.ts";
import type { Plan, PlannedSource } from "./plan.ts";
import type { Learned, ListFindings } from "./report.ts";
import type { Engine } from "./shared-sources.ts";
import type { SourceReader } from "./source-reader.ts";

/**
 * What a list can do besides reading, filtering, trusting and transforming. Each feature is one file in `features/` and one line in its
 * registry. The engine knows none of them by name. It calls them, in the order of the registry, at these moments of a compile:
 *
 * 1. `splitsNames`: the list is planned.
 * 2. `open`: the compile begins. A feature that the list does not use returns nothing, and costs nothing from here on.
 * 3. `fetch`: the feature reads its own files, before the sources are fetched.
 * 4. `start`: everything is fetched and the published list is known, and no line is read yet.
 * 5. `stages`: its stages take their places in the pipeline of the list.
 * 6. `source`: a source is about to be read; the feature may see its rows, judge them, or add some.
 * 7. `take`: a chunk is written.
 * 8. `result`: the list is written; the feature reports what it did.
 *
 * Only moments before the first line of the list or of a source may wait for something. From then on, a feature is synchronous and pure.
 */
export interface ListFeature<Run extends FeatureRun = FeatureRun> {
  readonly name: string;
  /** Whether each name of a hosts line needs a row of its own. */
  splitsNames?(config: Plan["config"]): boolean;
  open(list: ListWork): Run | undefined;
}

/** The compile of one list, as features see it. */
export interface ListWork {
  readonly plan: Plan;
  readonly options: EngineOptions;
  readonly reader: SourceReader;
  readonly context: StageContext;
  readonly host: Host;
  readonly engine: Engine;
  /** The run of another feature; undefined if the list does not use it. */
  runOf<Run extends FeatureRun>(feature: ListFeature<Run>): Run | undefined;
  /** Whether a source, given by its index, is fully trusted. Known when everything is fetched. */
  readonly isFull: (index: number) => boolean;
  /** Whether a feature will drop all rules for a name. */
  drops(name: string): boolean;
}

/**
 * The places in the pipeline of a list where features may put stages, in this order:
 * - `arrived`: rows of all sources, with one name in a row if a feature splits names; then the filters of the list;
 * - `filtered`: what the filters left; then the transformations;
 * - `transformed`: the finished rules; then rules are dropped that their sources may not have;
 * - `trusted`: the rules that stay unless a feature drops them, or adds exceptions to them;
 * - `last`: the list as it is written.
 */
export type Place = "arrived" | "filtered" | "transformed" | "trusted" | "last";

export type ListStages = Readonly<Partial<Record<Place, readonly NamedStage[]>>>;

/** A feature in the compile of one list. */
export interface FeatureRun {
  fetch?(): Promise<void>;
  start?(published: PublishedRules): Promise<void> | void;
  stages?(): ListStages;
  source?(source: PlannedSource): Promise<SourceRun | undefined> | SourceRun | undefined;
  /** Loads a library that only some rows need. */
  prepare?(chunk: Chunk): Promise<void> | undefined;
  /** Whether it drops all rules for a name. */
  drops?(name: string): boolean;
  take?(chunk: Chunk): void;
  result?(counts: readonly Float64Array[]): FeatureResult;
}

/** A feature while one source is read. */
export interface SourceRun {
  /** Stages for the rows as they were read. */
  readonly read?: readonly NamedStage[];
  /** Stages for the rows that the source may have, before its filters. */
  readonly trusted?: readonly NamedStage[];
  /** Sees the rows before any stage changes them. */
  see?(chunk: Chunk): void;
  /** Adds lines after those of the source. */
  end?(sink: LineSink): Promise<void>;
  close?(): void;
}

/** What a feature adds to the results of a compile. */
export interface FeatureResult {
  readonly report?: Partial<CompileReport>;
  /** By the index of the source. */
  readonly sources?: ReadonlyMap<number, Partial<SourceReport>>;
  readonly findings?: Partial<ListFindings>;
  readonly learned?: Partial<Learned>;
  /** For other formats. */
  readonly shape?: Partial<ListShape>;
  readonly ranks?: RankedNames | undefined;
  readonly diagnostics?: readonly Diagnostic[];
}

/** A stage with its name, or nothing. */
export function stageNamed(name: string, stage: NamedStage["stage"] | undefined): NamedStage[] {
  return stage === undefined ? [] : [{ name, stage }];
}
