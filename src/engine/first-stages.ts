import type { CompilerError } from "../diagnostics/diagnostic.ts";
import { foreignFormats } from "../formats/readers/registry.ts";
import { Nesting } from "../transformations/nesting.ts";
import { OwnAddresses } from "../transformations/own-addresses.ts";
import type { Protection } from "../transformations/protect.ts";
import { Sinkholes } from "../transformations/sinkholes.ts";
import type { Stage } from "../transformations/stage.ts";
import type { StageContext } from "../transformations/stage-context.ts";
import { trustStages } from "../transformations/trust.ts";
import { BlocklistKind } from "./blocklist-kind.ts";
import type { Engine } from "./engine.ts";
import type { NamedStage } from "./pipeline.ts";
import type { PlannedSource } from "./plan.ts";
import type { SourceReader } from "./source-reader.ts";

/** What the first stages of a source depend on. */
export interface SourceJudges {
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
export function firstStages(
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
