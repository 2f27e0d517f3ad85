import { AllowExceptions, type AllowList, allowing } from "../transformations/allow.ts";
import { CanaryStage } from "../transformations/canary-stage.ts";
import type { Reserved } from "../transformations/reserved.ts";
import { exclude, include } from "../transformations/filter.ts";
import type { LineFilter } from "../transformations/line-filter.ts";
import type { TransformationContext } from "../transformations/transformation-context.ts";
import type { StageContext } from "../transformations/stage-context.ts";
import type { ComparisonSlot } from "../kernel/name-comparison.ts";
import type { NamedStage } from "./pipeline.ts";
import type { Warnings } from "./warnings.ts";
import type { StageSettings } from "./plan.ts";

/** Exclusions and inclusions of one level, including those from files. */
export interface Filters {
  readonly exclusions: LineFilter;
  readonly inclusions: LineFilter;
  /** Names that must stay reachable; only for the list. */
  readonly allow?: AllowList;
  /** Names whose rules other sources cancel; only for the list. */
  readonly cancelled?: ReadonlySet<string>;
}

/** The parts of a level besides its transformations. */
export interface LevelParts {
  readonly filters: Filters;
  /** The filters of the level above, which run later. */
  readonly above?: Filters;
  readonly first?: readonly NamedStage[];
  /** Stages between filters and transformations. */
  readonly filtered?: readonly NamedStage[];
  /** Stages that check the finished rules or add some. */
  readonly last?: readonly NamedStage[];
  readonly comparison?: ComparisonSlot | undefined;
  /** How trusted each source is, if Compress must not prefer rules of less trusted ones. */
  readonly tiers?: readonly number[] | undefined;
  /** The names of canaries, if the list has one. */
  readonly reserved?: Reserved | undefined;
}

/** The stages of one level, in fixed order: first stages, filters, stages for what is left, transformations, last stages. */
export function stagesOf(
  passes: StageSettings,
  { filters, above, first = [], filtered = [], last = [], comparison, reserved, tiers }: LevelParts,
  warnings: Warnings,
  stageContext: StageContext,
): NamedStage[] {
  const context: TransformationContext = {
    ...stageContext,
    ...(passes.validator === undefined ? {} : { validator: passes.validator }),
    compresses: passes.steps.some(({ name }) => name === "Compress"),
    leavesUnderscores: passes.compat,
    removesModifiers: passes.steps.some(({ name }) => name === "RemoveModifiers"),
    ...(above === undefined || isEmpty(above)
      ? {}
      : { willBeFiltered: (text) => isFiltered(text, above) }),
    ...(comparison === undefined ? {} : { comparison }),
    ...(tiers === undefined ? {} : { tiers }),
    ...(above?.cancelled === undefined ? {} : { cancelledLater: above.cancelled }),
    warn: (code, chunk, row, detail) => warnings.add(code, chunk, row, detail),
  };
  const { allow } = filters;
  const stages: NamedStage[] = [
    // Before Compress: a rule that goes must not take others with it.
    ...(reserved === undefined ? [] : [{ name: "canary", stage: reserved.stage() }]),
    ...first,
  ];
  if (allow?.isEmpty === false) stages.push({ name: "allow", stage: allowing(allow, context) });
  if (!filters.exclusions.isEmpty)
    stages.push({ name: "exclusions", stage: exclude(filters.exclusions, context) });
  if (!filters.inclusions.isEmpty)
    stages.push({ name: "inclusions", stage: include(filters.inclusions, context) });
  stages.push(...filtered);
  const ends: NamedStage[] =
    allow?.isEmpty === false
      ? [{ name: "allow", stage: new AllowExceptions(allow, context) }, ...last]
      : [...last];
  if (reserved !== undefined)
    ends.push({ name: "canary", stage: new CanaryStage(context, reserved) });
  for (const { name, transformation } of passes.steps) {
    // The final newline stays at the end.
    if (name === "InsertFinalNewLine") stages.push(...ends.splice(0));
    for (const stage of transformation.stages(context)) stages.push({ name, stage });
  }
  stages.push(...ends);
  return stages;
}

function isEmpty({ exclusions, inclusions, allow }: Filters): boolean {
  return exclusions.isEmpty && inclusions.isEmpty && allow?.isEmpty !== false;
}

function isFiltered(text: string, { exclusions, inclusions, allow }: Filters): boolean {
  const name = text.slice(2, -1);
  if (allow?.isEmpty === false && allow.matchesName(name)) return true;
  if (exclusions.matchesLine(text)) return true;
  return !inclusions.isEmpty && !inclusions.matchesLine(text);
}
