import type { Diagnostic } from "../diagnostics/diagnostic.ts";
import type { Host } from "../host/host.ts";
import { BrokenTraffic } from "../transformations/broken-traffic.ts";
import { NewlyBlocked } from "../transformations/newly-blocked.ts";
import { OverruledExceptions } from "../transformations/overruled-exceptions.ts";
import { OwnBlocks, validRows } from "../transformations/own-blocks.ts";
import { Protection } from "../transformations/protect.ts";
import type { StageContext } from "../transformations/stage-context.ts";
import { blockedIn, rulesIn } from "./blocked-in.ts";
import type { CompileOptions, PublishedRules } from "./compile-options.ts";
import type { Learned } from "./compiled-list.ts";
import type { Engine } from "./engine.ts";
import { budgetWarnings, exceptionBudget, limitedSources } from "./exception-limits.ts";
import { isAcceptedKind } from "./household-names.ts";
import { protectionWarnings, unknownEntries } from "./list-findings.ts";
import type { NamedStage } from "./pipeline.ts";
import { type Plan, inverts } from "./plan.ts";
import { type Popularity, popularWarnings } from "./popularity.ts";
import type { ProtectedSet } from "./protected-names.ts";
import type { SourceReader } from "./source-reader.ts";
import { trafficWarnings } from "./traffic-warnings.ts";

interface Means {
  readonly plan: Plan;
  readonly options: CompileOptions;
  readonly reader: SourceReader;
  readonly context: StageContext;
  readonly host: Host;
  readonly engine: Engine;
}

/** What judges the rules of a list by the published one and by who says them. */
export interface ListJudges {
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
