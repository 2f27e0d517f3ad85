import { type Diagnostic, warningOf } from "../diagnostics/diagnostic.ts";
import { countText, numberText } from "../diagnostics/number-text.ts";
import { printable } from "../diagnostics/printable.ts";
import { someOf } from "../diagnostics/some-of.ts";
import type { ListShape } from "../formats/list-model.ts";
import type { RankedNames } from "../meaning/ranked-names.ts";
import { ExpandPatterns } from "../transformations/expand-patterns.ts";
import type { NewlyBlocked } from "../transformations/newly-blocked.ts";
import { rankedStages } from "../transformations/ranked.ts";
import type { StageContext } from "../transformations/stage-context.ts";
import type { NamedStage } from "./pipeline.ts";
import { mayBlockHint } from "./list-findings.ts";
import type { Plan } from "./plan.ts";
import { PopularInList } from "./popular-in-list.ts";
import { waiverOf } from "./protected-names.ts";

/** Names of lists in the configuration. */
interface NameLists {
  readonly ranks: RankedNames | undefined;
  /** Names that patterns are expanded with. */
  readonly known: RankedNames | undefined;
}

/** Names beyond the limit are remembered, too: they may become popular tomorrow. */
const MARGIN = 2;

/** What the popularity of names decides in a compile. */
export class Popularity {
  readonly ranks: RankedNames | undefined;
  /** Popular names that must not be newly blocked. */
  readonly watched: readonly string[];
  /** The names to look for in the published list. */
  readonly wanted: readonly string[];
  private readonly plan: Plan;
  private readonly context: StageContext;
  private readonly expand: ExpandPatterns | undefined;
  /** The popular names that rules of the list match, if an output needs them. */
  readonly inList: PopularInList | undefined;

  constructor({ ranks, known }: NameLists, plan: Plan, context: StageContext) {
    const { outputs, guards = {} } = plan.config;
    this.plan = plan;
    this.context = context;
    this.ranks = ranks;
    this.expand = known && new ExpandPatterns(known, context);
    const isLimited = outputs?.some(({ fit }) => fit !== undefined) === true;
    this.inList = isLimited && ranks ? new PopularInList(ranks) : undefined;
    const top = guards.newly_blocks ?? 0;
    const mayBlock = waiverOf(guards.may_block);
    this.watched = ranks?.top(top).filter((name) => !mayBlock(name)) ?? [];
    this.wanted = ranks?.top(top * MARGIN).filter((name) => !mayBlock(name)) ?? [];
  }

  /** Stages for the finished rules, before protected names are checked. */
  ranked(): NamedStage[] {
    const top = this.plan.config.fit?.top;
    if (top === undefined || this.ranks === undefined) return [];
    return rankedStages(this.ranks, top, this.context).map((stage) => ({ name: "fit", stage }));
  }

  /** The last stages of the list. */
  last(): NamedStage[] {
    return this.expand === undefined ? [] : [{ name: "expand", stage: this.expand }];
  }

  /** For other formats. */
  get shape(): Pick<ListShape, "expanded" | "popular"> {
    const { expand, inList } = this;
    const expanded = expand && { rules: expand.rules, patterns: [...expand.patterns] };
    return {
      ...(expanded && { expanded }),
      ...(inList && { popular: inList.names(expanded?.rules ?? []) }),
    };
  }
}

/** One warning per source whose rules for popular names were dropped. */
export function popularWarnings(
  { blocked }: NewlyBlocked,
  ranks: RankedNames,
  labels: readonly string[],
): Diagnostic[] {
  return Array.from(
    Map.groupBy(blocked, ({ source }) => source),
    ([source, all]) => {
      const names = all.map(({ name }) => name);
      const shown = names.map((name) => `${name} (rank ${numberText(ranks.rankOf(name)!)})`);
      const subject = printable(labels[source] ?? "");
      const message = `${subject} would newly block ${countText(names.length, "popular name")}; ${names.length === 1 ? "it stays" : "they stay"} reachable: ${someOf(shown)}`;
      const hint = mayBlockHint("If that is intended", names);
      return warningOf("popular-kept", message, { hint, subject, all: names });
    },
  );
}
