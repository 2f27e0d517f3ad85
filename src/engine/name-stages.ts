import type { Config } from "../config/config.ts";
import { minSources } from "../transformations/min-sources.ts";
import { SplitHosts } from "../transformations/split-hosts.ts";
import type { StageContext } from "../transformations/stage-context.ts";
import type { NamedStage } from "./pipeline.ts";
import { judgesNames } from "./plan.ts";

/** The first stages of the list: those that judge each name of a hosts line by itself. */
export function nameStages(config: Config, context: StageContext): NamedStage[] {
  const split = judgesNames(config) ? [{ name: "names", stage: new SplitHosts(context) }] : [];
  const several = minSources(config.min_sources ?? 1, context);
  return [...split, ...several.map((stage) => ({ name: "min_sources", stage }))];
}
