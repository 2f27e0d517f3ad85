import { type Diagnostic, warningOf } from "../diagnostics/diagnostic.ts";
import { countText, numberText } from "../diagnostics/number-text.ts";
import { printable } from "../diagnostics/printable.ts";
import { MOST_NAMED, allNames, someOf } from "../diagnostics/some-of.ts";
import type { ListShape } from "../formats/list-model.ts";
import type { RankedNames } from "../meaning/ranked-names.ts";
import { withParents } from "../syntax/parents.ts";
import { ExpandPatterns } from "../transformations/expand-patterns.ts";
import { NewlyBlocked, type NewlyTerms } from "../transformations/newly-blocked.ts";
import { isValidRow } from "../transformations/own-blocks.ts";
import { rankedStages } from "../transformations/ranked.ts";
import type { StageContext } from "../transformations/stage-context.ts";
import type { NamedStage } from "./pipeline.ts";
import { type Plan, inverts } from "./plan.ts";
import { PopularInList } from "./popular-in-list.ts";
import { waivedNames } from "./protected-names.ts";

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
  private readonly watched: readonly string[];
  /** The names to look for in the published list. */
  readonly wanted: readonly string[];
  private readonly plan: Plan;
  private readonly context: StageContext;
  private newly: NewlyBlocked | undefined;
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
    const mayBlock = new Set(waivedNames(guards.may_block ?? []));
    const isWatched = (name: string): boolean =>
      !withParents(name).some((parent) => mayBlock.has(parent));
    this.watched = ranks?.top(top).filter(isWatched) ?? [];
    this.wanted = ranks?.top(top * MARGIN).filter(isWatched) ?? [];
  }

  /** `terms` say what is not new, if a list was published. */
  begin({
    before,
    lately,
    ...terms
  }: Omit<NewlyTerms, "names"> & { lately: ReadonlySet<string> }): void {
    const names = this.watched.filter(
      (name) => before.get(name)?.isForAll !== true && !lately.has(name),
    );
    if (names.length > 0) this.newly = new NewlyBlocked({ names, before, ...terms }, this.context);
  }

  /** Stages after the filters of the list, and before its transformations. */
  filtered(): NamedStage[] {
    const { list } = this.plan;
    const { validator } = list;
    if (this.newly === undefined || inverts(list)) return [];
    const stage = this.newly.dropRules(
      validator && ((chunk, row) => isValidRow(chunk, row, validator)),
    );
    return [{ name: "newly-blocks", stage }];
  }

  /** Stages for the finished rules, before protected names are checked. */
  ranked(): NamedStage[] {
    const top = this.plan.config.fit?.top;
    if (top === undefined || this.ranks === undefined) return [];
    return rankedStages(this.ranks, top, this.context).map((stage) => ({
      name: "fit",
      stage,
    }));
  }

  /** The last stages of the list. */
  last(): NamedStage[] {
    const expand = this.expand === undefined ? [] : [{ name: "expand", stage: this.expand }];
    if (this.newly === undefined) return expand;
    return [{ name: "newly-blocks", stage: this.newly.addExceptions() }, ...expand];
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

  /** One warning per source whose rules were dropped. */
  warnings(labels: readonly string[]): Diagnostic[] {
    const bySource = new Map<number, string[]>();
    for (const { name, source } of this.newly?.blocked ?? [])
      bySource.set(source, [...(bySource.get(source) ?? []), name]);
    return Array.from(bySource, ([source, names]) => {
      const shown = names.map((name) => `${name} (rank ${numberText(this.ranks!.rankOf(name)!)})`);
      const message = `${printable(labels[source] ?? "")} would newly block ${countText(names.length, "popular name")}; ${names.length === 1 ? "it stays" : "they stay"} reachable: ${someOf(shown)}`;
      const hint =
        names.length > MOST_NAMED
          ? "If that is intended, add the names that --verbose shows to guards.may_block"
          : `If that is intended: guards: { may_block: [${someOf(names)}] }`;
      const subject = printable(labels[source] ?? "");
      return warningOf("popular-kept", message, { hint, subject, ...allNames(names) });
    });
  }
}
