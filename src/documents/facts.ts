import type { FateName } from "../rules/fate.ts";

/** How a source was obtained. */
export type SourceStateName =
  | "local"
  | "unchanged"
  | "locked"
  | "fetched"
  | "offline"
  | "stale"
  | "held"
  | "dropped";

/** Why a format could not express a rule. */
export type LossReason =
  | "modifier"
  | "rewrite"
  | "regex"
  | "pattern"
  | "not-a-name"
  | "exact"
  | "below"
  | "excepted"
  | "nested"
  | "narrowed"
  | "expanded"
  | "per-domain"
  | "conflict"
  | "devices"
  | "widened";

/** What happened to a list. */
export type HistoryEvent =
  | "published"
  | "accepted"
  | "refused"
  | "rolled-back"
  | "held"
  | "hold-ended"
  | "began"
  | "ended";

/** What a resolver answers from: the published list, an earlier build of it, no list, something else; or it does not answer. */
export type ProofOutcome = "proved" | "stale" | "unfiltered" | "wrong" | "unreachable";

export type RunOutcome = "published" | "unchanged" | "refused" | "failed" | "stopped";

export type RunTrigger = "start" | "schedule" | "retry" | "signal" | "request";

export type HookEvent = "published" | "refused" | "degraded" | "recovered" | "failed";

/** A problem of the text of a file. */
export type TextFault =
  | "outer-blanks"
  | "carriage-return"
  | "byte-order-mark"
  | "no-final-line-feed";

/** A dropped line that would have done harm. */
export interface AlarmLine {
  readonly fate: FateName;
  /** The file or URL without secrets. */
  readonly file: string;
  readonly line: number;
  /** At most 200 characters of it. */
  readonly text: string;
}

/** The fates of a source's lines: `lines` is the sum of `kept` and everything in `dropped`. */
export interface SourceReport {
  /** The name of the source, or its URL without secrets. */
  readonly label: string;
  /** The URL or path without secrets. */
  readonly source: string;
  /** How it was obtained: `offline`, `stale` and `held` use its last good copy; without one that can be used, it is `dropped`. */
  readonly state: SourceStateName;
  /** When its server last confirmed this content; for a cached copy. */
  readonly goodAt?: string;
  /** Until when its copy is used, or was used, because it cannot be read. */
  readonly usedUntil?: string;
  /** When a held source is accepted, if it does not change again. */
  readonly heldUntil?: string;
  /** Why it is missing or rejected. */
  readonly problem?: { readonly code: string; readonly message: string };
  readonly bytes: number;
  readonly lines: number;
  /** Lines that are in the list. */
  readonly kept: number;
  /** Lines that are not in the list, by fate. */
  readonly dropped: Readonly<Partial<Record<FateName, number>>>;
  /** The first line of each fate that is an alarm. */
  readonly alarms?: readonly AlarmLine[];
  /** Exceptions that lost their `$important` because the source is not trusted enough. */
  readonly weakened?: number;
  /** Names that people need and that it tried to block; they stay reachable. */
  readonly household?: readonly string[];
  /** The licence in the words of its header. */
  readonly licence?: string;
  /** How many names that people need it blocks, by kind: some lists block social media or games on purpose. */
  readonly kinds?: Readonly<Record<string, number>>;
}

/** The counts of a compiled list. */
export interface CompileReport {
  readonly name: string;
  readonly sources: readonly SourceReport[];
  /** Lines of all sources. */
  readonly lines: number;
  /** Lines of all sources that are in the list. */
  readonly kept: number;
  /** Rules in the list; differs from `kept` if a line gave several. Comments, blank lines and banners do not count. */
  readonly rules: number;
  /** The size of the list. */
  readonly bytes: number;
  /** Whether a source is missing or replaced by its last good copy. */
  readonly degraded: boolean;
  /** Protected names that the list blocks. */
  readonly blocked?: readonly string[];
  /** Protected names that sources below full trust tried to block; they stay reachable. */
  readonly protected?: readonly string[];
  /** The effect of each allow-list entry. */
  readonly allow?: readonly {
    readonly entry: string;
    readonly removed: number;
    readonly exception?: string;
  }[];
  /** The decisions that hold in this list. */
  readonly decisions?: readonly DecisionUse[];
}

/** What the user decided about a name: it wins over every source. */
export interface Decision {
  readonly verdict: "allow" | "block";
  readonly name: string;
  /** Whether it is about the name alone, without the names below it. */
  readonly exact: boolean;
  /** When it was made. */
  readonly since?: string;
  /** The last day or the time on which it holds. */
  readonly until?: string;
  /** The list that it is for; absent if it is for all. */
  readonly list?: string;
  readonly reference?: string;
  readonly reason?: string;
  readonly file: string;
  readonly line: number;
}

/** Why decisions are not in all lists: a signal, the text of a source that is not stored, or a list that is held, refused or in the hands of another run. */
export type NotApplied = "interrupted" | "text-lost" | "not-built";

/** A decision, and what it did in a list. */
export interface DecisionUse extends Decision {
  /** Rules for the name that it took out of the list. */
  readonly removed: number;
  /** Its rule in the list; absent if none is needed. */
  readonly rule?: string;
}

/** How much of query logs is blocked. */
export interface LoggedQueries {
  /** All queries. */
  readonly all: number;
  /** Those that the list blocks. */
  readonly list: number;
  /** Those that the file blocks. */
  readonly file: number;
}

/** Rules that a format could not express, or not exactly. */
export interface Loss {
  readonly reason: LossReason;
  readonly count: number;
  /** A few of them. */
  readonly examples: readonly string[];
}

/** The difference to the zone that was published before, or why the whole zone is better. */
export type ZoneUpdates =
  | { readonly file: string; readonly records: number; readonly messages: number }
  | { readonly whole: "first" | "settings" | "large" };

/** `unchanged` if only the date would differ: resolvers then need not reload the list. */
export type WriteOutcome = "written" | "unchanged";

/** The result of one output. */
export interface FormatOutputReport {
  readonly file: string;
  readonly format: string;
  readonly outcome: WriteOutcome;
  readonly names: number;
  readonly bytes: number;
  /** The number of files it is split into. */
  readonly parts: number;
  readonly allowFile?: string;
  /** The names of all its files. */
  readonly files: readonly string[];
  readonly losses: readonly Loss[];
  /** Queries of the logs of `expand`, if the file has single names only. */
  readonly queries?: LoggedQueries;
  /** The script of the difference to the zone before, if the zone has changed. */
  readonly updates?: ZoneUpdates;
  /** The number of names that exceeded the size limit, by source. */
  readonly leftOut?: readonly { readonly label: string; readonly names: number }[];
}

export interface WrittenFile extends Partial<FormatOutputReport> {
  readonly file: string;
}

/** A hold in a document; null where the state is damaged. */
export interface HoldFacts {
  /** When the list was held, by whom, and when its build was made. */
  readonly since: string | null;
  readonly by: string | null;
  readonly build: string | null;
}

/** An output of a list, and whether it was replaced. */
export interface WrittenOutput extends WrittenFile {
  readonly outcome: WriteOutcome;
}

/** The effect of a list on a name. */
export type Verdict = "blocked" | "allowed" | "rewritten" | "neither";

/** The location of a line. */
export interface LineLocation {
  readonly source: string;
  readonly file: string;
  readonly line: number;
  /** The path of a local file. */
  readonly path?: string;
}

/** A line of a source and its fate. */
export interface LineFate extends LineLocation {
  readonly text: string;
  /** `kept`, or the fate that removed it. */
  readonly fate: string;
  /** The fate in words. */
  readonly meaning: string;
  /** The line that made it redundant. */
  readonly by?: LineLocation;
  /** When the source first had it, if the source keeps rules. */
  readonly firstSeen?: string;
}

/** A rule of the list, and the line of a source that it comes from. */
export interface RuleInList extends LineLocation {
  readonly text: string;
}

/** Why a name is blocked, or why not. */
export interface Explanation {
  readonly name: string;
  readonly verdict: Verdict;
  /** The deciding rule, and its location. */
  readonly rule?: RuleInList;
  /** The decision of the user that decides about the name. */
  readonly decision?: DecisionUse;
  /** Whether it is an exception for a popular name that the list would newly block. */
  readonly isNewlyBlocked?: boolean;
  /** How long the rule has been in the list. */
  readonly since?: Since;
  /** Rules that apply only to some clients or query types. */
  readonly partial: readonly RuleInList[];
  /** The lines of all sources that are about the name. */
  readonly lines: readonly LineFate[];
  /** Files that could not be searched. */
  readonly unseen: readonly string[];
  /** The entry for `allow` that unblocks the name, and its effect. */
  readonly unblock?: { readonly allow: string; readonly effect: string };
}

/** How long a rule has been in the list. */
export interface Since {
  /** The time of the first build in an unbroken series with the rule. */
  readonly at: string;
  /** Whether no older build is kept: the rule may be older. */
  readonly isOldest: boolean;
}

/** A line of a source with one of the requested fates. */
export interface LineOfFate extends LineLocation {
  readonly fate: string;
  /** Undefined if the file has changed, or no copy of it is cached. */
  readonly text?: string;
}

/** What a source contributes to a list. */
export interface SourceStats {
  readonly label: string;
  readonly lines: number;
  /** Lines that are in the list. */
  readonly kept: number;
  /** Lines that are not in the list, by fate. */
  readonly dropped: Readonly<Record<string, number>>;
  /** Dropped lines that the list does not need. */
  readonly redundant: number;
  /** Rules of the list that one of its lines gives. */
  readonly rules: number;
  /** Rules that would leave the list if this source went away. */
  readonly onlyHere: number;
  /** How it was obtained. */
  readonly state: string;
}

/** What the sources of a list contribute and share. */
export interface ListStats {
  readonly name: string;
  readonly rules: number;
  readonly lines: number;
  readonly sources: readonly SourceStats[];
  /** The number of sources that a rule needs, if it is more than one. */
  readonly minSources?: number;
  /** The number of rules that each pair of sources shares. */
  readonly overlap: readonly (readonly number[])[];
  /** The smallest set of sources with every rule, and whether it is proven to be the smallest. */
  readonly cover: { readonly sources: readonly string[]; readonly isSmallest: boolean };
}

/** How the answer for a name changed. */
export type Change = "blocked" | "freed";

/** A name whose answer changed. */
export interface ChangedName {
  /** For a wildcard, the pattern itself. */
  readonly name: string;
  /** The change for the name itself. */
  readonly self: Change | undefined;
  /** The change for names below it that neither list contains. */
  readonly below: Change | undefined;
  /** The deciding rule: of the new list for a blocked name, of the old list for a freed one. */
  readonly rule: string | undefined;
}

/** What a new list changes for its users. */
export interface ListDifference {
  /** Rules that only the new list has. */
  readonly added: readonly string[];
  /** Rules that only the old list has. */
  readonly removed: readonly string[];
  /** Names whose answer changed, without those that follow from the change of a parent. */
  readonly changes: readonly ChangedName[];
  /** The number of newly blocked names. */
  readonly blocked: number;
  /** The number of names that are no longer blocked. */
  readonly freed: number;
  /** Added and removed patterns that can only be compared on the known names, not exactly. */
  readonly patterns: readonly string[];
}

/** A published file that changes with a list, or although its rules are the same. */
export interface FileChange {
  readonly file: string;
  /** Whether it is the list, which then has the same rules and other comments. */
  readonly isList?: true;
  /** The format of an output. */
  readonly format?: string;
  /** Names that come and go in an output that has every name by itself, such as a hosts file. */
  readonly added?: number;
  readonly removed?: number;
}

/** A query log that was read. */
export interface TrafficFile {
  readonly file: string;
  readonly format: string;
  readonly queries: number;
}

/** What a source did for the queries of a log. */
export interface SourceTraffic {
  readonly label: string;
  /** Queries for names that the list blocks, and that a line of this source blocks. */
  readonly blocked: number;
  /** Those that the list would not block without it. */
  readonly alone: number;
}

/** What a list does for the queries of a log. */
export interface TrafficStats {
  readonly files: readonly TrafficFile[];
  readonly queries: number;
  readonly blocked: number;
  readonly sources: readonly SourceTraffic[];
  /** Source files that could not be searched. The counts of their sources may be too low. */
  readonly unseen: readonly string[];
  /** The queries of each client, if they were counted; those with the most blocked ones first. */
  readonly clients?: readonly ClientTraffic[];
}

/** Queries of a client. */
export interface ClientTraffic {
  /** Its address; empty if the log has none. */
  readonly client: string;
  readonly queries: number;
  /** Queries that the list blocks; in a comparison of two lists, those that only the new one blocks. */
  readonly blocked: number;
  /** In a comparison of two lists, queries that only the old one blocks. */
  readonly freed?: number;
}

/** A name in a log whose answer changes. */
export interface ChangedTraffic {
  readonly name: string;
  readonly queries: number;
  readonly change: Change;
}

/** What a new list changes for the queries of a log. */
export interface TrafficChange {
  readonly files: readonly TrafficFile[];
  readonly queries: number;
  /** Queries that only the new list blocks. */
  readonly blocked: number;
  /** Queries that only the old list blocks. */
  readonly freed: number;
  /** The names of these queries, most queries first; those of the first changes if there are very many. */
  readonly names: readonly ChangedTraffic[];
  /** The clients with such queries, if they were counted; most of them first. */
  readonly clients?: readonly ClientTraffic[];
}

/** The rank of a name, or of its registrable domain if only that has one. */
export interface NameRank {
  readonly rank: number;
  /** The registrable domain, if it is not the name itself. */
  readonly of?: string;
}

/** An event of a list, as `log` shows it. A build that wrote the same list again is `unchanged`. */
export interface LogEvent extends Omit<HistoryEntry, "build" | "event" | "by"> {
  /** How to select the build of this event, if it is stored: `@0` is the published one. */
  readonly build?: string;
  readonly event: HistoryEvent | "unchanged";
  readonly by?: string;
  /** How many rules more than in the stored build before. */
  readonly change?: number;
  /** Of a stored build: whether it can be published again. */
  readonly isComplete?: boolean;
}

/** One event of a list. */
export interface HistoryEntry {
  readonly at: string;
  readonly event: HistoryEvent;
  /** The number of the build that was kept next, which orders events and builds: a clock may be wrong. */
  readonly build: number;
  /** Who asked. */
  readonly by: string;
  readonly rules?: number;
  /** The sources of the list, with the SHA-256 of what was read; without it if a file changed since, or is large. */
  readonly from?: readonly { readonly source: string; readonly sha256?: string }[];
  /** SHA-256 of the published list. */
  readonly to?: string;
  /** When the build was made that was published again or held. */
  readonly of?: string;
  /** The guards that refused the list, or that were overruled. */
  readonly guards?: readonly string[];
  /** The condition that began or ended, or the decisions that the list was built for, for a person. */
  readonly what?: string;
}

/** Whether a resolver answers from the published list. */
export interface Proof {
  readonly resolver: string;
  readonly list: string;
  readonly outcome: ProofOutcome;
  /** Why, for a person. */
  readonly detail: string;
  /** The published build; null for a list without a canary. */
  readonly build: string | null;
  readonly at: string;
  readonly latencyMs: number | null;
  /** Whether it answers for names that it does not block; null if nothing shows it. */
  readonly upstream: boolean | null;
  /** The longest time without an answer while it loaded the list, in milliseconds; null if it was not watched. */
  readonly unansweredMs: number | null;
}

/**
 * What is known about a resolver of the configuration. All but its names is null if it was never asked. If another list was
 * published since it was proved, `outcome` is null, too.
 */
export interface ResolverState {
  readonly resolver: string;
  readonly list: string;
  /** Null if it was never asked about the published list. */
  readonly outcome: ProofOutcome | null;
  /** Why, for a person. */
  readonly detail: string | null;
  /** The build that it was asked about, or must be asked about; null for a list without a canary. */
  readonly build: string | null;
  /** When it was asked last. */
  readonly at: string | null;
  /** Since when the outcome is the same. */
  readonly since: string | null;
  readonly latencyMs: number | null;
  /** Whether it answers for names that it does not block; null if nothing shows it. */
  readonly upstream: boolean | null;
  /** The longest time without an answer while it last loaded a list; null if it was not measured. */
  readonly unansweredMs: number | null;
  /** The last proof that succeeded. */
  readonly lastProved: { readonly at: string; readonly build: string | null } | null;
}

/** A problem in one line of a list. */
export interface LintProblem {
  /** The name of a fate or of a text problem. */
  readonly rule: FateName | TextFault;
  readonly severity: "error" | "warning";
  /** From 1. */
  readonly line: number;
  readonly column: number;
  readonly message: string;
  /** Whether `--fix` fixes it without changing the meaning of the list. */
  readonly isFixable: boolean;
}

/** The files of a release with their digests, so that clients can verify a download from any mirror. */
export interface Manifest {
  readonly manifest: 1;
  readonly name: string;
  /** Unix time in seconds, or one more than the last release if the clock went back: it always increases. */
  readonly version: number;
  readonly built: string;
  readonly expires: string;
  readonly files: readonly {
    /** Relative to the folder of the manifest. */
    readonly file: string;
    readonly bytes: number;
    readonly sha256: string;
  }[];
}

/** One quota of an account. */
export interface AccountLimit {
  readonly name: string;
  readonly used: number;
  readonly limit: number;
}

export interface AccountLimits {
  readonly limits: readonly AccountLimit[];
  /** All other fields of the response, unchanged. */
  readonly other: Readonly<Record<string, unknown>>;
}

/** A published file. */
export interface HookFile {
  /** Absolute. */
  readonly path: string;
  readonly bytes: number;
  readonly sha256: string;
}

/** What a hook receives: as JSON on standard input or in the body of a request, and as environment variables. */
export interface HookMessage {
  readonly tool: string;
  readonly event: HookEvent;
  readonly list: string;
  /** The resolver that the hook belongs to, and its address. */
  readonly resolver?: string;
  readonly address?: string;
  /** When the run ended. */
  readonly at: string;
  /** The list file; absent if the list goes to standard output. */
  readonly output?: string;
  /** All published files; a manifest is the last. */
  readonly files: readonly HookFile[];
  /** The start of the SHA-256 of the list file. */
  readonly build?: string;
  readonly rules?: number;
  /** Rules that were added and removed since the build before, if both are known. */
  readonly added?: number;
  readonly removed?: number;
  /** Sources that were skipped or replaced by their last good copy. */
  readonly degraded: readonly string[];
  /** Resolvers that do not answer from the list. */
  readonly unproved: readonly { readonly resolver: string; readonly outcome: ProofOutcome }[];
  /** What this run found that earlier runs did not report: problems that began or ended. */
  readonly news: readonly { readonly code: string; readonly message: string }[];
  /** Why the list was not published. */
  readonly problems: readonly { readonly code: string; readonly message: string }[];
}

/** A problem that a run reported. */
export interface Problem {
  readonly code: string;
  readonly message: string;
  readonly hint?: string;
  readonly cause?: string;
  /** File or URL, and line. */
  readonly at?: string;
}

/** One run in the history. */
export interface Run {
  readonly at: string;
  readonly trigger: RunTrigger;
  readonly seconds: number;
  /** Exit code of the process; null if a signal ended it. */
  readonly exit: number | null;
  readonly outcome: RunOutcome;
  readonly degraded?: boolean;
  readonly rules?: number;
  readonly bytes?: number;
  /** The first error. */
  readonly problem?: Problem;
  /** The next errors, as many as fit on a page. */
  readonly further?: readonly Problem[];
}

/** A list that stays at an earlier build until the hold ends. */
export interface HeldList {
  readonly list: string;
  /** When it was held, by whom, and when its build was made; null if the state is damaged. */
  readonly since: string | null;
  readonly by: string | null;
  readonly build: string | null;
  /** The number of its rules. */
  readonly rules?: number;
}

export interface Health {
  /**
   * `degraded` and `refused` count as healthy, because the list is recent enough. `degraded` means that a source is a cached copy
   * or missing, or that a resolver does not answer from the list; `refused` means that a guard refused the next list.
   */
  readonly status: "healthy" | "degraded" | "refused" | "starting" | "unhealthy";
  readonly isHealthy: boolean;
  /** The reason for the status, in one sentence. */
  readonly reason: string;
  readonly lastSuccess: string | null;
  readonly ageSeconds: number | null;
  readonly limitSeconds: number;
  readonly running: boolean;
  readonly next: string | null;
  readonly lastRun: Pick<Run, "at" | "trigger" | "outcome" | "seconds" | "degraded"> | null;
  /** The lists of the last successful build. */
  readonly lists: readonly {
    readonly list: string;
    readonly rules: number;
    readonly publishedAt: string | null;
  }[];
  /** Lists that stay at an earlier build until the hold ends. They count as healthy. */
  readonly held: readonly HeldList[];
  /** Whether resolvers answer from the lists. The server delivers the list anyway, so they do not decide `isHealthy`. */
  readonly resolvers: readonly ResolverState[];
  readonly lastProblem: Problem | null;
  /** All problems of the last run, with locations and hints. */
  readonly problems: readonly Problem[];
  /** What lasts and needs attention: reported once, when it began. */
  readonly conditions: readonly {
    readonly list: string;
    readonly code: string;
    readonly message: string;
    readonly cause?: string;
    readonly hint?: string;
    readonly since: string;
    /** When it ends by itself, if that is known. */
    readonly until?: string;
  }[];
  readonly sources: readonly {
    readonly label: string;
    readonly state: string;
    /** Why it is not fresh, since when, and until when its copy is used, if that is known. */
    readonly reason?: string;
    readonly since?: string;
    readonly until?: string;
    readonly goodAt: string | null;
    readonly lines: number;
    readonly kept: number;
  }[];
}

export interface AnsweredName extends Explanation {
  /** Whether it exists, if that was observed. */
  readonly alive?: NameLiveness;
  readonly rank?: NameRank;
  /** How often the name is in the query logs. */
  readonly asked?: number;
}

/** The answer of one list: for the name, and for every name that it is an alias of; or why it cannot answer. */
export interface WhyOfList {
  readonly list: string;
  readonly names?: readonly AnsweredName[];
  readonly problem?: { readonly code: string; readonly message: string };
}

/** A file and its problems. */
export interface LintedFile {
  readonly file: string;
  readonly problems: readonly LintProblem[];
  readonly isFixed: boolean;
}

/** The audit of one list. */
export interface AuditedList {
  readonly label: string;
  readonly source: string;
  readonly lines: number;
  /** Rules of the compiled list that one of its lines gives. */
  readonly rules: number;
  /** Rules that would leave the compiled list if this list went away. */
  readonly onlyHere: number;
  readonly state: "good" | "adds-nothing" | "repeated" | "stale" | "dead" | "no-list";
  /** The name of an earlier list with the same URL. */
  readonly sameAs?: string;
  readonly problem?: string;
}

/** A list of a configuration beside the others. */
export interface ListBesideOthers {
  readonly list: string;
  readonly rules: number;
  /** Rules that no other list has. */
  readonly onlyHere: number;
  /** Rules that others have, too, and that it had first, as far as kept builds show it. */
  readonly first: number;
  /** Rules that were added and removed from build to build, over all kept builds. */
  readonly added: number;
  readonly removed: number;
  readonly builds: number;
  /** When the oldest kept build was made. */
  readonly since?: string;
  /** How many of its rules each other list has. */
  readonly shared: readonly { readonly list: string; readonly rules: number }[];
}

/**
 * Whether a name exists. `missing`: it may be dead, but not for long enough. `held`: for long enough, but too many others ceased to exist
 * at the same time. `parked`: its name servers are those of parked names. `unknown`: it was not asked about lately.
 */
export type NameState = "unknown" | "answers" | "parked" | "missing" | "held" | "dead";

/** What is known about the existence of a name. */
export interface NameLiveness {
  /** The name that was asked about: the registrable domain, or the name of a rule for it alone. */
  readonly name: string;
  readonly state: NameState;
  /** The first day on which it did not exist since its last answer. */
  readonly since?: string;
  /** The last day that counts. */
  readonly last?: string;
  /** On how many of the days that still matter it did not exist. */
  readonly times?: number;
}

/** How many rules of a list have names of each state, and which are dead. */
export interface AliveStats {
  readonly states: Readonly<Record<NameState, number>>;
  readonly sources: readonly SourceAlive[];
  /** Some dead names, the newest first. */
  readonly dead: readonly NameLiveness[];
  /** Source files that could not be searched. */
  readonly unseen: readonly string[];
}

/** How many lines of a source have such names, whether they are in the list or not. */
export interface SourceAlive {
  readonly label: string;
  readonly lines: number;
  readonly dead: number;
  readonly missing: number;
  readonly held: number;
  readonly parked: number;
}

/** The rules of a published list for one name, by the state of the name. */
export interface AliveOfList {
  readonly list: string;
  readonly rules: number;
  readonly states: Readonly<Record<NameState, number>>;
}
