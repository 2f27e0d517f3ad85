import { type Diagnostic, warningOf } from "../diagnostics/diagnostic.ts";
import { countText, numberText } from "../diagnostics/number-text.ts";
import { printable, withoutCredentials } from "../diagnostics/printable.ts";
import { allNames, someOf } from "../diagnostics/some-of.ts";
import type { ListShape } from "../formats/list-model.ts";
import type { RankedNames } from "../meaning/ranked-names.ts";
import type { ChunkPool } from "../rules/rule-table.ts";
import type { AllowList } from "../transformations/allow.ts";
import { ExpandPatterns } from "../transformations/expand-patterns.ts";
import { type BlockedBefore, NewlyBlocked } from "../transformations/newly-blocked.ts";
import { rankedStages } from "../transformations/ranked.ts";
import type { ValidatorOptions } from "../syntax/validate-rule.ts";
import type { StageContext } from "../transformations/stage-context.ts";
import type { Host } from "../host/host.ts";
import type { CompileOptions } from "./compile-options.ts";
import { type PopularFindings, findingLocation } from "./list-findings.ts";
import { locateOnce } from "./locate.ts";
import type { NamedStage } from "./pipeline.ts";
import { type Plan, inverts } from "./plan.ts";
import { PopularInList } from "./popular-in-list.ts";

/** Names of lists in the configuration. */
interface NameLists {
  readonly ranks: RankedNames | undefined;
  /** Names that patterns are expanded with. */
  readonly known: RankedNames | undefined;
}

/** What the popularity of names decides in a compile. */
export class Popularity {
  readonly ranks: RankedNames | undefined;
  /** Popular names that must not be newly blocked. */
  private readonly watched: readonly string[];
  private readonly config: Plan["config"];
  private readonly context: StageContext;
  private readonly validator: ValidatorOptions | undefined;
  /** Whether the list turns rules into exceptions after these stages. */
  private readonly inverts: boolean;
  /** What the published list blocks of them; undefined without one. */
  private before: ReadonlyMap<string, BlockedBefore> | undefined;
  private newly: NewlyBlocked | undefined;
  private acknowledged: PopularFindings["acknowledged"];
  private readonly expand: ExpandPatterns | undefined;
  /** The popular names that rules of the list match, if an output needs them. */
  readonly inList: PopularInList | undefined;

  constructor(
    { ranks, known }: NameLists,
    acknowledged: AllowList,
    { config, list }: Plan,
    context: StageContext,
  ) {
    this.validator = list.validator;
    this.inverts = inverts(list);
    this.ranks = ranks;
    this.expand = known && new ExpandPatterns(known, context);
    const isLimited = config.outputs?.some(({ fit }) => fit !== undefined) === true;
    this.inList = isLimited && ranks ? new PopularInList(ranks) : undefined;
    this.config = config;
    this.context = context;
    const top = config.guards?.newly_blocks?.top ?? 0;
    this.watched = ranks?.top(top).filter((name) => !acknowledged.matchesName(name)) ?? [];
  }

  /** The names to look for in the published list. */
  wanted({ accept = [], compat }: CompileOptions): readonly string[] {
    return compat === true || accept.includes("newly-blocks") ? [] : this.watched;
  }

  /** `before` is what the published list blocks, if there is one. */
  async begin(
    before: ReadonlyMap<string, BlockedBefore> | undefined,
    options: CompileOptions,
    host: Host,
  ): Promise<void> {
    const watched = this.wanted(options);
    if (watched.length === 0) return;
    this.before = before;
    const names = watched.filter((name) => this.before?.get(name)?.isForAll !== true);
    this.newly =
      names.length === 0
        ? undefined
        : new NewlyBlocked(names, this.before ?? new Map(), this.context, this.validator);
    this.acknowledged = await this.acknowledgedIn(options, host);
  }

  private async acknowledgedIn(
    options: CompileOptions,
    host: Host,
  ): Promise<PopularFindings["acknowledged"]> {
    const source = this.config.guards?.newly_blocks?.acknowledged;
    if (source === undefined) return undefined;
    const found = await locateOnce(source, host, options, { diagnostics: [], inputs: [] });
    return found.kind === "file"
      ? { shown: host.path.relative(host.cwd, found.path), isFile: true }
      : { shown: withoutCredentials(source), isFile: false };
  }

  /** Nothing is dropped from the first list: what it blocks is what later ones are compared with. */
  private get drops(): boolean {
    return this.before !== undefined && this.config.guards?.newly_blocks?.action === "drop";
  }

  /** Stages after the filters of the list, and before its transformations. */
  filtered(): NamedStage[] {
    return this.newly !== undefined && this.drops && !this.inverts
      ? [{ name: "newly-blocks", stage: this.newly.dropRules() }]
      : [];
  }

  /** Stages for the finished rules, before protected names are checked. */
  ranked(): NamedStage[] {
    const top = this.config.fit?.top;
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
    const stage = this.drops ? this.newly.addExceptions() : this.newly.watch();
    return [{ name: "newly-blocks", stage }, ...expand];
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

  /** For the guard. */
  findings(pool: ChunkPool): { readonly popular?: PopularFindings } {
    const { newly_blocks: settings } = this.config.guards ?? {};
    if (this.newly === undefined || settings === undefined || this.drops) return {};
    const names = this.newly.blocked.map(({ name, rule }) => ({
      name,
      rank: this.ranks!.rankOf(name)!,
      text: rule.text,
      at: findingLocation(rule, pool),
    }));
    const { top } = settings;
    const { acknowledged } = this;
    return { popular: { names, top, acknowledged, isFirst: this.before === undefined } };
  }

  /** One warning per source whose rules were dropped. */
  warnings(labels: readonly string[]): Diagnostic[] {
    if (this.newly === undefined || !this.drops) return [];
    const bySource = new Map<number, string[]>();
    for (const { name, source } of this.newly.blocked)
      bySource.set(source, [...(bySource.get(source) ?? []), name]);
    return Array.from(bySource, ([source, names]) => {
      const shown = names.map((name) => `${name} (rank ${numberText(this.ranks!.rankOf(name)!)})`);
      const message = `${printable(labels[source] ?? "")} would newly block ${countText(names.length, "popular name")}; ${names.length === 1 ? "it stays" : "they stay"} reachable: ${someOf(shown)}`;
      return warningOf("popular-kept", message, allNames(names));
    });
  }
}
