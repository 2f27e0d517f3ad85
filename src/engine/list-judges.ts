import type { Host } from "../host/host.ts";
import type { ExceptionBudget } from "../transformations/exception-budget.ts";
import { OverruledExceptions } from "../transformations/overruled-exceptions.ts";
import { OwnBlocks, isValidRow } from "../transformations/own-blocks.ts";
import type { Protection } from "../transformations/protect.ts";
import type { StageContext } from "../transformations/stage-context.ts";
import { blockedIn, rulesIn } from "./blocked-in.ts";
import type { CompileOptions, PublishedRules } from "./compile-options.ts";
import type { Learned } from "./compiled-list.ts";
import type { Engine } from "./engine.ts";
import { exceptionBudget, limitedSources } from "./exception-limits.ts";
import type { NamedStage } from "./pipeline.ts";
import { type Plan, inverts } from "./plan.ts";
import type { Popularity } from "./popularity.ts";
import type { ProtectedSet } from "./protected-names.ts";
import { protectionOf } from "./protection-of.ts";
import type { SourceReader } from "./source-reader.ts";
import { TrafficJudge } from "./traffic-judge.ts";

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
  readonly budget: ExceptionBudget | undefined;
  readonly traffic: TrafficJudge | undefined;
  /** Stages that judge the exceptions of the finished list. */
  exceptions(): NamedStage[];
  /** Stages between the filters and the transformations of the list. */
  filtered(): NamedStage[];
  learned(): Learned;
}

/** `published` describes the published list. Without it, no exception and no blocked name counts as new. */
export async function listJudges(
  guarded: ProtectedSet,
  popularity: Popularity,
  published: PublishedRules,
  { plan, options, reader, context, host, engine }: Means,
): Promise<ListJudges> {
  const isJudged = options.compat !== true;
  const isFull = (index: number): boolean => reader.trustOf(plan.sources[index]!).level === "full";
  const isLimited = isJudged && plan.sources.some(({ index }) => !isFull(index));
  const { asked } = published;
  const watched = isLimited ? [...popularity.wanted, ...(asked?.names.keys() ?? [])] : [];
  const before =
    watched.length > 0 && published.path !== undefined
      ? await rulesIn(published.path, watched, host, engine)
      : undefined;
  const blocked = before && blockedIn(before);
  const { validator } = plan.list;
  const own = new OwnBlocks(
    isLimited ? [...guarded.names, ...guarded.household.keys(), ...watched] : [],
    isFull,
    context,
    validator && ((chunk, row) => isValidRow(chunk, row, validator)),
  );
  // A source that the user just added may block any popular name, and any name of a log.
  const isKnown = (index: number): boolean =>
    !isFull(index) && published.sources?.has(plan.sources[index]!.shown) !== false;
  const lately = new Set(published.blockedLately);
  if (blocked !== undefined) popularity.begin({ before: blocked, lately, isJudged: isKnown, own });
  const reachable = Array.from(asked?.names ?? []).filter(
    ([name]) => blocked?.get(name)?.isForAll !== true,
  );
  const traffic =
    before === undefined || asked === undefined
      ? undefined
      : new TrafficJudge(
          asked,
          {
            names: new Map(reachable),
            before: (name) => before.matching(name),
            isJudged: isKnown,
            own,
          },
          plan,
          context,
        );
  const limited = limitedSources(plan.sources, reader, options);
  // The user asked for the exceptions of a source with InvertAllow.
  const isWeak = (index: number): boolean => !isFull(index) && !plan.sources[index]!.isInverted;
  const who = { isOwn: isFull, isJudged: isWeak };
  const hasBoth = isLimited && plan.sources.some(({ index }) => isFull(index));
  const budget = exceptionBudget(limited, published.exceptions, context);
  return {
    protection: isJudged
      ? protectionOf(guarded, published, plan, { isFull, own, context })
      : undefined,
    budget,
    traffic,
    exceptions: () => [
      ...(hasBoth ? [{ name: "exceptions", stage: new OverruledExceptions(who, context) }] : []),
      ...(budget === undefined ? [] : [{ name: "exceptions", stage: budget }]),
    ],
    filtered: () => [
      ...(isLimited && !inverts(plan.list) ? [{ name: "protect", stage: own.stage() }] : []),
      ...popularity.filtered(),
      ...(traffic?.stages() ?? []),
    ],
    learned: () => ({
      blocked: popularity.wanted.filter((name) => blocked?.get(name)?.isForAll === true),
      freed: (budget?.within ?? []).map(({ source, names }) => ({
        source: plan.sources[source]!.shown,
        names,
      })),
    }),
  };
}
