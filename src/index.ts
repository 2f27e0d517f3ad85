export {
  type BuildRequest,
  type MemoryFiles,
  type FileContent,
  type BuildResult,
  build,
  type DecideRequest,
  decide,
  type RollbackRequest,
  rollback,
  type HoldRequest,
  type HoldResult,
  hold,
  prove,
  type RebuildContext,
  context,
  type PlannedList,
  plan,
  type CompileOptions,
  type CompileResult,
  compile,
  type LoadedConfig,
  loadConfig,
  openBuild,
} from "./library/build.ts";
export type { BuildEvent, BuildOutcome, BuildStatus, ListOutcome } from "./builder/build.ts";
export type { OutputInMemory } from "./builder/compile-in-memory.ts";
export type { DecidedList, DecisionRequest, DecisionResult } from "./builder/decide.ts";
export type { PublishedList } from "./builder/open-build.ts";
export type { SourceType } from "./config/fields.ts";
export type { Config, OutputConfig, SourceConfig, WrittenConfig } from "./config/lists.ts";
export type { FormatName, OutputFormat } from "./config/outputs.ts";
export type { FeedName } from "./config/sources.ts";
export type { TransformationName } from "./config/transformation-name.ts";
export type { Exit, GuardName } from "./diagnostics/codes.ts";
export { CompilerError, type Diagnostic, type FileLocation } from "./diagnostics/render.ts";
export type { SourceChange } from "./documents/documents.ts";
export type {
  AlarmLine,
  Change,
  ChangedName,
  ClientTraffic,
  CompileReport,
  Decision,
  DecisionUse,
  Explanation,
  FileChange,
  HoldFacts,
  LineFate,
  LineLocation,
  LineOfFate,
  ListStats,
  LoggedQueries,
  Loss,
  LossReason,
  Proof,
  ProofOutcome,
  RuleInList,
  Since,
  SourceReport,
  SourceStateName,
  SourceStats,
  SourceTraffic,
  TrafficFile,
  TrafficStats,
  Verdict,
  WriteOutcome,
  WrittenOutput,
  ZoneUpdates,
} from "./documents/facts.ts";
export type { ProgressEvent } from "./engine/compile-options.ts";
export type { Plugin, PluginFormat, PluginTransformation } from "./engine/plugins.ts";
export type { ListChange } from "./explain/list-change.ts";
export type { AnswerLines, FormatLines, ScopeLines } from "./formats/name-format.ts";
export type { Answer } from "./meaning/answer.ts";
export type { OutputFile } from "./publish/list-file.ts";
export type { FateName } from "./rules/fate.ts";
export type { RowView } from "./rules/rule-table.ts";
export type { SourceState } from "./sources/acquire.ts";
export type { InputFile } from "./sources/source-list.ts";

// What the command and the server take besides, with a host of their own. Types of it are not part of the package.

/** @internal Does what follows a publish. */
export { type AfterContext, afterPublish, withQuestion } from "./after/registry.ts";
/** @internal Prepares, saves and applies plans. */
export {
  type DryRun,
  applyPlan,
  digestsBefore,
  planChanges,
  savePlan,
} from "./builder/apply-plan.ts";
/** @internal Analyses the lists of other software. */
export { auditConfig } from "./builder/audit-config.ts";
/** @internal One build. */
export { type BuildContext, build as runBuild, statusOf } from "./builder/build.ts";
/** @internal Reads lists, logs, releases, ranks and observations. */
export {
  exportDataset,
  inspectLists,
  keptChange,
  listLog,
  livenessFinder,
  neededNames,
  openRanks,
  openVerdicts,
  rankFinder,
  unfinishedBeside,
  unfinishedPublish,
  verdictsOf,
  verifyRelease,
} from "./builder/inspect-lists.ts";
/** @internal What a build is asked for. */
export type { BuildOptions } from "./builder/plan/build-options.ts";
/** @internal Which files a build would write. */
export { listFiles, planLists } from "./builder/plan/list-plan.ts";
/** @internal Opens a configuration. */
export {
  type Project,
  isFolderName,
  openProject,
  presetOf,
  withOutputTarget,
} from "./builder/plan/project.ts";
/** @internal Compares files of several lists. */
export { combinedChanges } from "./builder/publish/combined-outputs.ts";
/** @internal Publishes kept builds, holds lists and watches files. */
export {
  type KeptBuildChoice,
  WatchedBuild,
  endHold,
  holdPublished,
  rollback as publishKept,
} from "./builder/rollback.ts";
/** @internal What the lists of a run share. */
export { BuildSession } from "./builder/session.ts";
/** @internal Problems that last. */
export { type ListedCondition, lastingConditions } from "./builder/state/conditions.ts";
/** @internal Kept builds and their records. */
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
} from "./builder/state/kept-builds.ts";
/** @internal What is known of a published list. */
export {
  type FoundHold,
  OUTCOMES as PROOF_OUTCOMES,
  holdFacts,
  holdText,
} from "./builder/state/list-state.ts";
/** @internal The names of formats. */
export { FORMAT_NAMES, OUTPUT_FORMATS } from "./config/outputs.ts";
/** @internal Checks a file without building. */
export { checkSyntax } from "./config/validate.ts";
/** @internal The limits of an account. */
export { countRules, fetchAccountLimits, loadApiKey } from "./dns-api/account-limits.ts";
/** @internal Fates, counts and what they mean. */
export {
  COUNTS,
  FATE_ENTRIES,
  type FateEntry,
  LABELS,
  byRank,
  definitionOf,
  fateCounts,
  fateLines,
  fatesOfRules,
  statsOf,
} from "./explain/glossary.ts";
/** @internal The difference between two lists. */
export {
  type ChangedRules,
  changedRules,
  changedText,
  hasChange,
  isSame as isSameList,
  namesWith,
  rankOfChange,
} from "./explain/list-change.ts";
/** @internal Query logs, and names as people type them. */
export {
  asciiName,
  askedName,
  timesAsked,
  trafficChange,
  trafficLogs,
  trafficStats,
} from "./explain/traffic.ts";
/** @internal Writes a configuration. */
export {
  USER_RULES,
  USER_RULES_NAME,
  configText,
  isUsed as isUsedList,
  problemOf as problemOfList,
} from "./import/config-text.ts";
/** @internal The lists of other software. */
export {
  type ImportedConfig,
  type ImportedList,
  OWN_SOFTWARE,
  configOfLists,
  filesOf as filesOfSetup,
  nameOf as nameOfSource,
  withFiles,
  withoutRepeats,
} from "./import/hostlist-compiler.ts";
/** @internal Reads the settings of other software. */
export { KNOWN_LISTS, readImportedConfig } from "./import/read-imported-config.ts";
/** @internal Decisions that a list lacks. */
export { waitingDecisions } from "./builder/decide.ts";
export { decisionFor } from "./config/decisions.ts";
/** @internal Decides and asks, with a host. */
export { aliveIn, decideIn } from "./library/build.ts";
/** @internal What a server must know. */
export { servedConfig } from "./library/serving.ts";
/** @internal Checks a list file. */
export { lintList } from "./lint/lint-list.ts";
/** @internal Says whether a name exists. */
export { livenessText } from "./liveness/verdict.ts";
/** @internal Popular names. */
export type { RankedNames } from "./meaning/ranked-names.ts";
/** @internal Where patches are. */
export { PATCH_FOLDER } from "./publish/patches.ts";
/** @internal The record of a build. */
export type { BuildRecord, RecordHeader } from "./record/build-record.ts";
/** @internal Where records are. */
export { recordFolder } from "./record/record-file.ts";
/** @internal Makes the page of a build. */
export { buildReport } from "./report/build-report.ts";
/** @internal Follows aliases. */
export { withAliases } from "./resolvers/dns-client.ts";
/** @internal Asks resolvers. */
export { lacksProof, proofDiagnostics, proveResolvers } from "./resolvers/prove.ts";
/** @internal The ranks of fates. */
export { RANKS } from "./rules/fate.ts";
/** @internal Whether a source was read completely. */
export { isDegraded } from "./sources/acquire.ts";
/** @internal What is a URL. */
export { isAddress, isFetchable } from "./sources/limits.ts";
