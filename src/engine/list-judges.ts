import type { Host } from "../host/host.ts";
import type { ExceptionBudget } from "../transformations/exception-budget.ts";
import { OverruledExceptions } from "../transformations/overruled-exceptions.ts";
import { OwnBlocks, isValidRow } from "../transformations/own-blocks.ts";
import type { Protection } from "../transformations/protect.ts";
import type { StageContext } from "../transformations/stage-context.ts";
import { blockedIn } from "./blocked-in.ts";
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
  const watched = isLimited ? popularity.wanted : [];
  const blocked =
    watched.length > 0 && published.path !== undefined
      ? await blockedIn(published.path, watched, host, engine)
      : undefined;
  const { validator } = plan.list;
  const own = new OwnBlocks(
    isLimited ? [...guarded.names, ...guarded.household.keys(), ...watched] : [],
    isFull,
    context,
    validator && ((chunk, row) => isValidRow(chunk, row, validator)),
  );
  if (blocked !== undefined)
    popularity.begin({
      before: blocked,
      lately: new Set(published.blockedLately),
      // A source that the user just added may block any popular name.
      isJudged: (index) =>
        !isFull(index) && published.sources?.has(plan.sources[index]!.shown) !== false,
      own,
    });
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
    exceptions: () => [
      ...(hasBoth ? [{ name: "exceptions", stage: new OverruledExceptions(who, context) }] : []),
      ...(budget === undefined ? [] : [{ name: "exceptions", stage: budget }]),
    ],
    filtered: () => [
      ...(isLimited && !inverts(plan.list) ? [{ name: "protect", stage: own.stage() }] : []),
      ...popularity.filtered(),
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
