import { GUARD_CODES } from "../diagnostics/codes.ts";
import { type Diagnostic, warningOf } from "../diagnostics/render.ts";
import { countText, numberText, printable } from "../diagnostics/text.ts";
import type { ListShape } from "../formats/list-model.ts";
import type { Host } from "../host/host.ts";
import type { RankedNames } from "../meaning/ranked-names.ts";
import type { RuleTable } from "../rules/rule-table.ts";
import type { StoredFile } from "../sources/copies.ts";
import type { InputFile } from "../sources/source-list.ts";
import {
  BrokenTraffic,
  NewlyBlocked,
  OverruledExceptions,
  OwnBlocks,
  validRows,
} from "../transformations/exception-budget.ts";
import { Protection } from "../transformations/protect.ts";
import type { StageContext } from "../transformations/stage.ts";
import type {
  AskedNames,
  CompileOptions,
  FreedNamesOf,
  PublishedRules,
} from "./compile-options.ts";
import {
  blockedIn,
  budgetWarnings,
  exceptionBudget,
  limitedSources,
  rulesIn,
} from "./exception-limits.ts";
import { type ListFindings, protectionWarnings, unknownEntries } from "./list-findings.ts";
import type { NamedStage } from "./pipeline.ts";
import { type Plan, type PlannedSource, inverts } from "./plan.ts";
import { type Popularity, popularWarnings } from "./popularity.ts";
import { type ProtectedSet, isAcceptedKind } from "./protected-names.ts";
import type { CompileReport } from "./report.ts";
import type { Engine } from "./shared-sources.ts";
import type { SourceReader } from "./source-reader.ts";

interface Means {
  readonly plan: Plan;
  readonly options: CompileOptions;
  readonly reader: SourceReader;
  readonly context: StageContext;
  readonly host: Host;
  readonly engine: Engine;
}

/** What judges the rules of a list by the published one and by who says them. */
interface ListJudges {
  readonly protection: Protection | undefined;
  /** Stages between the filters and the transformations of the list. */
  readonly filtered: readonly NamedStage[];
  /** Stages that judge the exceptions of the finished list. */
  readonly exceptions: readonly NamedStage[];
  /** Stages that keep names reachable, at the end of the list. */
  readonly last: readonly NamedStage[];
  /** The warnings of a finished compile. */
  warnings(): Diagnostic[];
  learned(): Learned;
}

/** `published` describes the published list. Without it, no exception and no blocked name counts as new. */
export async function listJudges(
  guarded: ProtectedSet,
  popularity: Popularity,
  published: PublishedRules,
  { plan, options, reader, context, host, engine }: Means,
): Promise<ListJudges> {
  const { sources } = plan;
  const { asked, path } = published;
  const isJudged = options.compat !== true;
  const isFull = (index: number): boolean => reader.trustOf(sources[index]!).level === "full";
  const isLimited = isJudged && sources.some(({ index }) => !isFull(index));
  const watched = isLimited ? [...popularity.wanted, ...(asked?.names.keys() ?? [])] : [];
  const before =
    watched.length > 0 && path !== undefined
      ? await rulesIn(path, watched, host, engine)
      : undefined;
  const blocked = before && blockedIn(before);
  const isReachable = (name: string): boolean => blocked?.get(name)?.isForAll !== true;
  const counts = validRows(plan.list.validator);
  const needed = [...guarded.names, ...guarded.household.keys(), ...watched];
  const own = new OwnBlocks(isLimited ? needed : [], isFull, context, counts);
  // A source that the user just added may block any popular name, and any name of a log.
  const isKnown = (index: number): boolean =>
    !isFull(index) && published.sources?.has(sources[index]!.shown) !== false;
  const terms = { isJudged: isKnown, own };
  const lately = new Set(published.blockedLately);
  const names = popularity.watched.filter((name) => isReachable(name) && !lately.has(name));
  const newly =
    blocked === undefined || names.length === 0
      ? undefined
      : new NewlyBlocked({ ...terms, names, before: blocked }, context);
  const traffic =
    before === undefined || asked === undefined
      ? undefined
      : new BrokenTraffic(
          {
            ...terms,
            names: new Map([...asked.names].filter(([name]) => isReachable(name))),
            before: (name) => before.matching(name),
            isTooMany: (queries) => asked.excess(queries) !== undefined,
          },
          context,
        );
  // A source may block names of some kinds if it is new to the published list, or already does so in it.
  const accepts = (index: number, kind: string): boolean => {
    const kinds = published.sources?.get(sources[index]!.shown);
    return isAcceptedKind(kind) && (kinds === undefined || kinds[kind] !== undefined);
  };
  const protection = isJudged
    ? new Protection(guarded.names, { kinds: guarded.household, accepts }, context, {
        isTrusted: isFull,
        own,
      })
    : undefined;
  const budget = exceptionBudget(limitedSources(sources, reader, options), published, context);
  // The user asked for the exceptions of a source with InvertAllow.
  const isWeak = (index: number): boolean => !isFull(index) && !sources[index]!.isInverted;
  const overruled =
    isLimited && sources.some(({ index }) => isFull(index))
      ? new OverruledExceptions({ isOwn: isFull, isJudged: isWeak }, context)
      : undefined;
  const labels = sources.map(({ label }) => label);
  return {
    protection,
    filtered: inverts(plan.list)
      ? []
      : [
          ...stageNamed("protect", isLimited ? own.stage() : undefined),
          ...stageNamed("newly-blocks", newly?.dropRules(counts)),
          ...stageNamed("breaks-traffic", traffic?.stage(counts)),
        ],
    exceptions: [...stageNamed("exceptions", overruled), ...stageNamed("exceptions", budget)],
    last: stageNamed("newly-blocks", newly?.addExceptions()),
    warnings: () => [
      ...(protection ? protectionWarnings(protection, labels, context.pool) : []),
      ...(budget ? budgetWarnings(budget, labels, context.pool) : []),
      ...unknownEntries(guarded),
      ...(newly ? popularWarnings(newly, popularity.ranks!, labels) : []),
      ...(traffic && asked ? trafficWarnings(traffic, asked, labels) : []),
    ],
    learned: () => ({
      blocked: popularity.wanted.filter((name) => !isReachable(name)),
      freed: (budget?.within ?? []).map((one) => ({
        source: sources[one.source]!.shown,
        names: one.names,
      })),
    }),
  };
}

function stageNamed(name: string, stage: NamedStage["stage"] | undefined): NamedStage[] {
  return stage === undefined ? [] : [{ name, stage }];
}

/** What a compile found out that later ones compare with. */
export interface Learned {
  /** Popular names that the replaced list blocks. */
  readonly blocked: readonly string[];
  readonly freed: readonly FreedNamesOf[];
}

/** What is known of a list once it is compiled. */
export interface CompiledList {
  /** Every row that was read, with its fate. */
  readonly rules: RuleTable;
  readonly report: CompileReport;
  /** The labels of sources and files of names that it is made without. */
  readonly leftOut: readonly string[];
  readonly diagnostics: readonly Diagnostic[];
  /** Names that the rules should not block, for the guards. */
  readonly findings: ListFindings;
  /** The local files that were read. */
  readonly inputs: readonly InputFile[];
  /** Digest of all remote content; undefined if it cannot be computed. */
  readonly web: string | undefined;
  /** The files of each remote source, by `storeKeyOf` the source as written in the configuration. */
  readonly files: ReadonlyMap<string, readonly StoredFile[]>;
  /** The sources, in report order. */
  readonly sources: readonly Pick<
    PlannedSource,
    "source" | "shown" | "feed" | "member" | "keyFiles"
  >[];
  /** The time in the list's header. */
  readonly builtAt: Date;
  /** The list's header without the parts that depend on the clock. */
  readonly timelessHead: string;
  /** Properties of the list that other formats need. */
  readonly shape: ListShape;
  /** Popular names, if the configuration has any. */
  readonly ranks: RankedNames | undefined;
  /** For the guards of later lists. */
  readonly learned: Learned;
  /** Deletes temporary files. Rows that did not fit into memory are unavailable afterwards. */
  close(): void;
}

/** One for each source. The names stay in the log. */
function trafficWarnings(
  { found }: BrokenTraffic,
  asked: AskedNames,
  labels: readonly string[],
): Diagnostic[] {
  return Array.from(found, ([source, { names, queries }]) => {
    const subject = printable(labels[source] ?? "");
    const message = `${subject} would newly block ${numberText(queries)} of ${countText(asked.queries, "query", "queries")} in the log, for ${countText(names, "name")}; its lines that do so were dropped`;
    const cause = asked.excess(queries);
    const { hint } = GUARD_CODES["breaks-traffic"];
    return warningOf("breaks-traffic", message, { ...(cause && { cause }), hint, subject });
  });
}
