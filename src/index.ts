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
export { type ReleaseWish, listLog, verifyRelease } from "./builder/inspect-lists.ts";
export type { PublishedList } from "./builder/open-build.ts";
export type { SourceType } from "./config/fields.ts";
export type { Config, OutputConfig, SourceConfig, WrittenConfig } from "./config/lists.ts";
export {
  FORMAT_NAMES,
  type FormatName,
  OUTPUT_FORMATS,
  type OutputFormat,
} from "./config/outputs.ts";
export type { FeedName } from "./config/sources.ts";
export type { TransformationName } from "./config/transformation-name.ts";
export { type Exit, GUARD_NAMES, type GuardName } from "./diagnostics/codes.ts";
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
  HistoryEvent,
  HoldFacts,
  LineFate,
  LineLocation,
  LineOfFate,
  LintProblem,
  ListStats,
  LogEvent,
  LoggedQueries,
  NotApplied,
  Loss,
  LossReason,
  Manifest,
  Proof,
  ProofOutcome,
  RuleInList,
  Since,
  SourceReport,
  SourceStateName,
  SourceStats,
  SourceTraffic,
  TextFault,
  TrafficFile,
  TrafficStats,
  Verdict,
  WriteOutcome,
  WrittenOutput,
  ZoneUpdates,
} from "./documents/facts.ts";
export type { ProgressEvent } from "./engine/compile-options.ts";
export type { Plugin, PluginFormat, PluginTransformation } from "./engine/plugins.ts";
export { FATE_ENTRIES, type FateEntry } from "./explain/glossary.ts";
export { type ListChange, isSame as isSameList } from "./explain/list-change.ts";
export type { AnswerLines, FormatLines, ScopeLines } from "./formats/name-format.ts";
export type { Answer } from "./meaning/answer.ts";
export { type LintResult, lintList } from "./lint/lint-list.ts";
export type { OutputFile } from "./publish/list-file.ts";
export type { FateName } from "./rules/fate.ts";
export type { RowView } from "./rules/rule-table.ts";
export type { SourceState } from "./sources/acquire.ts";
export type { InputFile } from "./sources/source-list.ts";
