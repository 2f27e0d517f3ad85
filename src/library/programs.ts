/**
 * What the terminal and the server take besides the package: parts that have their options and their host as arguments. Nothing here is
 * promised to users of the package.
 */

// Does what follows a publish.
export { type AfterContext, afterPublish, withQuestion } from "../after/registry.ts";
// Prepares, saves and applies plans.
export {
  type DryRun,
  applyPlan,
  digestsBefore,
  planChanges,
  savePlan,
} from "../builder/apply-plan.ts";
// Analyses the lists of other software.
export { auditConfig } from "../builder/audit-config.ts";
// One build.
export { type BuildContext, build as runBuild, statusOf } from "../builder/build.ts";
// Reads lists, logs, releases, ranks and observations.
export {
  exportDataset,
  inspectLists,
  keptChange,
  livenessFinder,
  neededNames,
  openRanks,
  openVerdicts,
  rankFinder,
  unfinishedBeside,
  unfinishedPublish,
  verdictsOf,
} from "../builder/inspect-lists.ts";
// What a build is asked for.
export type { BuildOptions } from "../builder/plan/build-options.ts";
// Which files a build would write.
export { listFiles, planLists } from "../builder/plan/list-plan.ts";
// Opens a configuration.
export {
  type Project,
  isFolderName,
  openProject,
  presetOf,
  withOutputTarget,
} from "../builder/plan/project.ts";
// Compares files of several lists.
export { combinedChanges } from "../builder/publish/combined-outputs.ts";
// Publishes kept builds, holds lists and watches files.
export {
  type KeptBuildChoice,
  WatchedBuild,
  endHold,
  holdPublished,
  rollback as publishKept,
} from "../builder/rollback.ts";
// What the lists of a run share.
export { BuildSession } from "../builder/session.ts";
// Problems that last.
export { type ListedCondition, lastingConditions } from "../builder/state/conditions.ts";
// Kept builds and their records.
export {
  BUILD,
  type KeptState,
  besideOthers,
  buildNamed,
  keptStates,
  lastBuild,
  lastList,
  listNames,
  openLastBuild,
} from "../builder/state/kept-builds.ts";
// What is known of a published list.
export {
  type FoundHold,
  OUTCOMES as PROOF_OUTCOMES,
  holdFacts,
  holdText,
} from "../builder/state/list-state.ts";
// Checks a file without building.
export { checkSyntax } from "../config/validate.ts";
// The limits of an account.
export { countRules, fetchAccountLimits, loadApiKey } from "../dns-api/account-limits.ts";
// Fates, counts and what they mean.
export {
  COUNTS,
  LABELS,
  byRank,
  definitionOf,
  fateCounts,
  fateLines,
  fatesOfRules,
  statsOf,
} from "../explain/glossary.ts";
// The difference between two lists.
export {
  type ChangedRules,
  changedRules,
  changedText,
  hasChange,
  namesWith,
  rankOfChange,
} from "../explain/list-change.ts";
// Query logs, and names as people type them.
export {
  asciiName,
  askedName,
  timesAsked,
  trafficChange,
  trafficLogs,
  trafficStats,
} from "../explain/traffic.ts";
// Writes a configuration.
export {
  USER_RULES,
  USER_RULES_NAME,
  configText,
  countOwnRules,
  isUsed as isUsedList,
  problemOf as problemOfList,
} from "../import/config-text.ts";
// The lists of other software.
export {
  type ImportedConfig,
  type ImportedList,
  OWN_SOFTWARE,
  configOfLists,
  filesOf as filesOfSetup,
  nameOf as nameOfSource,
  withFiles,
  withoutRepeats,
} from "../import/hostlist-compiler.ts";
// Reads the settings of other software.
export { KNOWN_LISTS, readImportedConfig } from "../import/read-imported-config.ts";
// Decides and asks, with a host.
export { aliveIn, decideIn } from "./build.ts";
// Decisions that a list lacks.
export { waitingDecisions } from "../builder/decide.ts";
export { decisionFor } from "../config/decisions.ts";
// What a server must know.
export { servedConfig } from "./serving.ts";
// Says whether a name exists.
export { livenessText } from "../liveness/verdict.ts";
// Popular names.
export type { RankedNames } from "../meaning/ranked-names.ts";
// Where patches are.
export { PATCH_FOLDER } from "../publish/patches.ts";
// The record of a build.
export type { BuildRecord, RecordHeader } from "../record/build-record.ts";
// Where records are.
export { recordFolder } from "../record/record-file.ts";
// Makes the page of a build.
export { buildReport } from "../report/build-report.ts";
// Follows aliases.
export { withAliases } from "../resolvers/dns-client.ts";
// Asks resolvers.
export { lacksProof, proofDiagnostics, proveResolvers } from "../resolvers/prove.ts";
// The ranks of fates.
export { RANKS } from "../rules/fate.ts";
// Whether a source was read completely.
export { isDegraded } from "../sources/acquire.ts";
// What is a URL.
export { isAddress, isFetchable } from "../sources/limits.ts";
