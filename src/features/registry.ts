import type { ListFeature } from "../engine/feature.ts";
import { allow } from "./allow.ts";
import { canary } from "./canary.ts";
import { dead } from "./dead.ts";
import { decisions } from "./decisions.ts";
import { exceptions } from "./exceptions.ts";
import { expand } from "./expand.ts";
import { lateDrops } from "./late-drops.ts";
import { licences } from "./licences.ts";
import { minSources } from "./min-sources.ts";
import { newlyBlocked } from "./newly-blocked.ts";
import { popularity } from "./popularity.ts";
import { protect } from "./protect.ts";
import { remember } from "./remember.ts";
import { sourceFindings } from "./source-findings.ts";
import { wideRules } from "./wide-rules.ts";

/** All features. Their stages are in this order within a place of the pipeline, and so are their warnings. */
export const listFeatures: readonly ListFeature[] = [
  remember,
  dead,
  // Before the canary, which is made of all other rules.
  decisions,
  canary,
  minSources,
  sourceFindings,
  wideRules,
  allow,
  lateDrops,
  popularity,
  exceptions,
  protect,
  newlyBlocked,
  expand,
  licences,
];
