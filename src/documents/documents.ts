import type { Exit } from "../diagnostics/codes.ts";
import type { Diagnostic } from "../diagnostics/render.ts";
import type {
  AccountLimits,
  AliveOfList,
  AnsweredName,
  AuditedList,
  ChangedName,
  CompileReport,
  Decision,
  Explanation,
  FileChange,
  Health,
  HeldList,
  HoldFacts,
  HookMessage,
  LineLocation,
  LineOfFate,
  LintedFile,
  ListBesideOthers,
  ListDifference,
  ListStats,
  LogEvent,
  Manifest,
  NotApplied,
  Problem,
  Proof,
  RuleInList,
  TrafficChange,
  TrafficStats,
  Verdict,
  WhyOfList,
  WrittenOutput,
} from "./facts.ts";

/**
 * Everything that leaves the program as JSON: what commands print with `--json`, what hooks receive, what a server answers, and what its
 * child processes tell it. `scripts/documents-schema.ts` makes `documents.schema.json` of these types, so they use plain forms only.
 *
 * One word for one thing: `list` is the name of a list, `label` that of a source and `source` its URL or path; a line is `kept` or
 * `dropped`; a guard has `violations`; an answer is good if `ok` is true. An answer about lists is `{ "lists": [ … ] }`, with one list, too.
 */
export interface Documents {
  readonly compile: BuildDocument;
  readonly apply: BuildDocument;
  readonly rollback: BuildDocument;
  readonly allow: DecideDocument;
  readonly block: DecideDocument;
  readonly plan: PlanDocument;
  readonly diff: DiffDocument;
  readonly log: LogDocument;
  readonly why: WhyDocument;
  /** A line of `why -`. */
  readonly "why -": WhyLine;
  readonly stats: StatsDocument;
  readonly "stats --fate": FatesDocument;
  /** A line of `stats --fate NAME`. */
  readonly "stats --fate NAME": FateLine;
  readonly "stats --html": PageDocument;
  readonly "stats --matrix": MatrixDocument;
  readonly hold: HoldDocument;
  /** `hold BUILD` publishes the build first. */
  readonly "hold BUILD": BuildDocument;
  readonly prove: ProveDocument;
  readonly alive: AliveDocument;
  readonly validate: ValidateDocument;
  readonly init: InitDocument;
  readonly audit: AuditDocument;
  readonly verify: VerifyDocument;
  readonly export: ExportDocument;
  readonly lint: LintDocument;
  readonly limits: LimitsDocument;
  readonly status: Health;
  /** A line on standard error. */
  readonly problem: Diagnostic | DebugLine;
  /** What a hook receives on standard input, or in a request. */
  readonly hook: HookMessage;
  readonly "/health": Health;
  readonly "/why": WhyAnswer | FailedRequest;
  readonly "/compile": StartedRun;
  /** Also `/rollback`. */
  readonly "/hold": QueuedAction | ActionAnswer;
}

/** A list that could not be asked about. */
export interface FailedList {
  readonly list: string;
  /** The exit code that the command would have for this list alone. */
  readonly exit: Exit;
  readonly diagnostics: readonly Diagnostic[];
}

/** What a build did. */
export interface BuildDocument {
  readonly lists: readonly BuiltList[];
  /** The files of several lists. */
  readonly combined?: readonly WrittenOutput[];
}

/** How the build of a list ended, with its figures if it was compiled. */
export interface BuiltList extends Partial<Omit<CompileReport, "name">> {
  readonly list: string;
  readonly status: "published" | "unchanged" | "held" | "refused" | "failed";
  /** The exit code of a command that builds only this list. */
  readonly exit: Exit;
  /** The list and its additional formats. */
  readonly outputs: readonly WrittenOutput[];
  /** Names of all published files: the list, its formats, the folder of patches, and the manifest. */
  readonly files: readonly string[];
  readonly seconds: number;
  /** Why guards refused the list. */
  readonly violations: readonly Diagnostic[];
  /** Why the list failed; otherwise its warnings. */
  readonly diagnostics: readonly Diagnostic[];
  /** Whether resolvers answer from the list, if they were asked. */
  readonly resolvers?: readonly Proof[];
}

/** What the next publish would change. */
export interface PlanDocument {
  readonly lists: readonly PlannedDocument[];
  /** The files of several lists that would change. */
  readonly combined?: readonly FileChange[];
}

/** What the next publish of a list would change. */
export interface PlannedDocument extends ChangeDocument {
  readonly list: string;
  /** The file that would be written. */
  readonly file: string;
  readonly report: CompileReport;
  /** Why guards would refuse the list. */
  readonly violations: readonly Diagnostic[];
  /** If the list is held, nothing would be published. */
  readonly held?: HoldFacts;
  readonly traffic?: Omit<TrafficChange, "names"> & Partial<Pick<TrafficChange, "names">>;
  /** With `--markdown`. */
  readonly markdown?: string;
}

/** The change from one list to another, in text and in effect. */
export interface ChangeDocument extends Omit<ListDifference, "changes"> {
  readonly rulesBefore: number;
  readonly rulesNow: number;
  /** Whether only one of the lists has a canary, so that the new one must be published. */
  readonly changesCanary: boolean;
  /** The other files that change; the file of the list only if it has the same rules. */
  readonly files: readonly FileChange[];
  /** The number of added and removed rules per source. */
  readonly bySource: readonly SourceChange[];
  /** Names whose answer changed, without those that follow from the change of a parent. */
  readonly changes: readonly LocatedChange[];
}

/** How many rules of a source were added and removed. */
export interface SourceChange {
  readonly label: string;
  readonly added: number;
  readonly removed: number;
}

/** A name whose answer changed, its rank, and the line of its rule. */
export interface LocatedChange extends ChangedName {
  readonly rank?: number;
  readonly from?: LineLocation;
}

export interface DiffDocument {
  readonly lists: readonly (DiffOfList | FailedList)[];
}

/** The name of the list is empty if two files are compared. */
export interface DiffOfList extends ChangeDocument {
  readonly list: string;
}

export interface LogDocument {
  readonly lists: readonly (LogOfList | FailedList)[];
}

/** What happened to a list, newest first. */
export interface LogOfList {
  readonly list: string;
  readonly events: readonly LogEvent[];
  /** With `--markdown`, what each stored build changed. */
  readonly changes?: readonly DatedChange[];
  readonly markdown?: string;
}

export interface DatedChange extends ChangeDocument {
  readonly at: string;
}

export interface WhyDocument {
  readonly lists: readonly (NamesOfList | FailedList)[];
}

/** Why a list blocks names, or why not. */
export interface NamesOfList {
  readonly list: string;
  /** The file of the list. */
  readonly file: string;
  readonly names: readonly AnsweredName[];
}

export interface WhyLine {
  readonly list: string;
  readonly name: string;
  readonly verdict: Verdict;
  readonly rule?: RuleInList;
}

export interface StatsDocument {
  readonly lists: readonly (StatsOfList | FailedList)[];
}

export interface StatsOfList extends ListStats {
  readonly list: string;
  readonly traffic?: TrafficStats;
}

export interface FatesDocument {
  readonly lists: readonly FatesOfList[];
}

/** The number of lines by fate. */
export interface FatesOfList {
  readonly list: string;
  readonly fates: Readonly<Record<string, number>>;
}

export interface FateLine extends LineOfFate {
  readonly list: string;
}

/** All lists beside each other. */
export interface MatrixDocument {
  readonly lists: readonly ListBesideOthers[];
}

export interface PageDocument {
  readonly lists: readonly (PageOfList | FailedList)[];
}

export interface PageOfList {
  readonly list: string;
  /** The page that was written. */
  readonly file: string;
}

/** Decisions about names, and what they changed. */
export interface DecideDocument {
  /** Those that were made or removed; with `--list`, all that hold. */
  readonly decisions: readonly Decision[];
  /** Whether all lists are built with them. If not, the next build applies them. */
  readonly isApplied: boolean;
  /** Why not, if they are not. */
  readonly notApplied?: NotApplied;
  readonly lists: readonly {
    readonly list: string;
    readonly file: string;
    /** Rules that were added and removed. */
    readonly added: readonly string[];
    readonly removed: readonly string[];
    /** The answer of `why` about each name. */
    readonly names: readonly Explanation[];
  }[];
}

export interface HoldDocument {
  readonly lists: readonly HoldOfList[];
}

export interface HoldOfList {
  readonly list: string;
  /** Null after `hold --end`. */
  readonly held: HoldFacts | null;
  /** With `--end`. */
  readonly wasHeld?: boolean;
}

export interface ProveDocument {
  /** Whether all resolvers answer from their lists. */
  readonly ok: boolean;
  readonly lists: readonly ProofsOfList[];
}

export interface ProofsOfList {
  readonly list: string;
  readonly resolvers: readonly Proof[];
}

/** What resolvers said about the names of lists. */
export interface AliveDocument {
  /** Whether the resolvers passed all tests. */
  readonly ok: boolean;
  /** Why one did not. */
  readonly refusal?: string;
  /** The file of observations. */
  readonly file: string;
  /** Names with observations. */
  readonly names: number;
  /** Names that were due. */
  readonly due: number;
  /** What was asked in this run. */
  readonly asked: { readonly names: number; readonly questions: number; readonly tests: number };
  readonly imported?: ImportedObservations;
  readonly lists: readonly AliveOfList[];
}

/** What a file of another tool says. */
export interface ImportedObservations {
  readonly file: string;
  readonly missing: number;
  readonly answered: number;
  /** Lines that say nothing about a name. */
  readonly ignored: number;
}

export interface ValidateDocument {
  readonly ok: true;
  readonly lists: readonly ValidList[];
}

export interface ValidList {
  readonly list: string;
  /** The number of its sources. */
  readonly sources: number;
}

export interface InitDocument {
  readonly lists: readonly NewList[];
}

/** A configuration that was written. */
export interface NewList {
  readonly list: string;
  readonly file: string;
  /** The number of its sources. */
  readonly sources: number;
  /** The number of the user's own rules, and their file. */
  readonly ownRules?: number;
  readonly ownRulesFile?: string;
  /** Sources that cannot be used. */
  readonly commentedOut: readonly UnusedSource[];
  readonly notes: readonly string[];
}

export interface UnusedSource {
  readonly label: string;
  readonly problem: string;
}

/** What the lists of another program do. */
export interface AuditDocument {
  readonly file: string;
  readonly software: string;
  readonly sources: readonly AuditedList[];
  /** Labels of sources that are switched off. */
  readonly off: readonly string[];
  /** The number of the user's own rules. */
  readonly ownRules: number;
  readonly notes: readonly string[];
  readonly lines: number;
  readonly redundant: number;
  readonly rules: number;
  readonly bytes: number;
  /** The smallest set of sources that yields every rule. */
  readonly needed: readonly string[];
  /** Names that the lists must not block. */
  readonly findings: readonly Diagnostic[];
  readonly traffic?: TrafficStats;
}

export interface VerifyDocument {
  readonly ok: boolean;
  /** Absent if it cannot be read. */
  readonly manifest?: Manifest;
  readonly diagnostics: readonly Diagnostic[];
}

export interface ExportDocument {
  readonly file: string;
  readonly rows: number;
  readonly bytes: number;
  /** Files of sources whose lines have no text, because they changed since the build, or are not cached. */
  readonly unseen: readonly string[];
}

export interface LintDocument {
  readonly files: readonly LintedFile[];
}

export interface LimitsDocument extends AccountLimits {
  /** Whether a list fits. */
  readonly check?: ListFit;
}

export interface ListFit {
  readonly file: string;
  readonly ok: boolean;
  /** Rules of the list. */
  readonly rules: number;
  readonly limit: number;
  readonly left: number;
}

/** With `--debug`. */
export interface DebugLine {
  readonly severity: "debug";
  readonly message: string;
}

export interface WhyAnswer {
  readonly name: string;
  readonly resolver?: string;
  readonly lists: readonly WhyOfList[];
}

export interface FailedRequest {
  readonly error: string;
}

export interface StartedRun {
  readonly state: "started" | "queued";
}

export interface QueuedAction {
  readonly action: string;
  readonly list: string;
  readonly state: "queued";
}

export interface ActionAnswer {
  readonly action: string;
  readonly list: string;
  /** Null if a signal ended the process. */
  readonly exit: number | null;
  readonly held: HeldList | null;
  readonly problems: readonly (Problem & { readonly severity: string })[];
}
