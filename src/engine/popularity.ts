import { encodeUtf8 } from "../bytes/text.ts";
import { type CompilerError, type Diagnostic, warningOf } from "../diagnostics/render.ts";
import { countText, numberText, printable, someOf } from "../diagnostics/text.ts";
import { fateOfLine } from "../feeds/feed.ts";
import type { ListShape } from "../formats/list-model.ts";
import { namesOfRow, writtenName } from "../meaning/line.ts";
import { RankList, type RankedNames } from "../meaning/ranked-names.ts";
import { PatternRanks, nameScope } from "../meaning/rule-index.ts";
import { readRule } from "../meaning/rule.ts";
import { type Chunk, Flag, Kind, hostOf, textOf } from "../rules/chunk.ts";
import { Fate } from "../rules/fate.ts";
import { sourceError } from "../sources/limits.ts";
import type { SourceList } from "../sources/source-list.ts";
import { CANARY_SUFFIX } from "../syntax/host-name.ts";
import type { FileLines, LineRange, TextBlock } from "../syntax/list-scan.ts";
import type { NewlyBlocked } from "../transformations/exception-budget.ts";
import { ExpandPatterns, rankedStages } from "../transformations/ranked.ts";
import type { StageContext } from "../transformations/stage.ts";
import { mayBlockHint } from "./list-findings.ts";
import type { NamedStage } from "./pipeline.ts";
import type { Plan } from "./plan.ts";
import { waiverOf } from "./protected-names.ts";
import type { Engine } from "./shared-sources.ts";
import { ScanSink } from "./source-sink.ts";

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

/**
 * Finds the popular names from which the ranks of a list's rules follow: of each rule, the name itself and the most popular name that
 * it matches. They are few compared with all popular names, and are stored with the list, so that its formats can be written again.
 */
class PopularInList {
  private readonly ranks: RankedNames;
  private readonly marks: Uint8Array;
  private readonly patterns = new PatternRanks();
  private canary: string | undefined;

  constructor(ranks: RankedNames) {
    this.ranks = ranks;
    this.marks = new Uint8Array(ranks.length);
  }

  /** Sees the rules of the finished list, and names that they cover, which some formats need. */
  take(chunk: Chunk): void {
    for (let row = 0; row < chunk.length; row++) {
      const fate = chunk.fate[row]!;
      const flags = chunk.flags[row]!;
      if (fate !== Fate.Kept && fate !== Fate.Covered) continue;
      if (chunk.kind[row]! < Kind.Hosts || (flags & Flag.Allow) !== 0) continue;
      if ((flags & Flag.Ordinary) !== 0)
        this.ranks.markBytes(
          this.marks,
          chunk.bytesOf(row),
          chunk.hostStart[row]!,
          chunk.hostEnd[row]!,
        );
      else if (chunk.kind[row] === Kind.Rule) this.takeRule(textOf(chunk, row), chunk.idOf(row));
      else for (const name of namesOfRow(chunk, row)) this.ranks.mark(this.marks, name);
      if ((flags & Flag.Generated) !== 0 && hostOf(chunk, row).endsWith(CANARY_SUFFIX))
        this.canary = hostOf(chunk, row);
    }
  }

  private takeRule(text: string, row: number): void {
    const line = text.trim();
    const written = writtenName(line);
    const rule = written === undefined ? readRule(line) : undefined;
    const scope = rule && nameScope(rule.pattern);
    const name = written ?? scope?.name;
    if (name !== undefined) this.ranks.mark(this.marks, name);
    const isWhole = scope?.self === true && rule?.denied.length === 0;
    if (rule !== undefined && !isWhole) this.patterns.add(rule, row);
  }

  /**
   * The names, the most popular first. The canary is the first of all: an output without it proves nothing. `added` are rules
   * that only formats have.
   */
  names(added: readonly { readonly text: string }[]): string[] {
    const { ranks, marks } = this;
    for (const { text } of added) ranks.mark(marks, nameScope(text.split("$")[0]!)?.name ?? "");
    for (const index of this.patterns.resolve(ranks, Infinity).values()) marks[index] = 1;
    const names = this.canary === undefined ? [] : [this.canary];
    for (let index = 0; index < ranks.length; index++)
      if (marks[index] === 1) names.push(ranks.nameAt(index));
    return names;
  }
}

/** Reads a list of popular names, in its order. */
export class RankSink extends ScanSink {
  readonly list: RankList = new RankList();
  private place = 0;

  constructor(engine: Engine) {
    super(engine, true);
  }

  begin(): FileLines {
    return { origin: 0, nextLine: 1 };
  }

  /** Rows of a feed without a name keep their place, so that ranks are those of the list. */
  protected take(chunk: Chunk): void {
    const { bytes, start, end } = chunk;
    for (let row = 0; row < chunk.length; row++) {
      const fate = fateOfLine(bytes, start[row]!, end[row]!);
      const kind = chunk.kind[row]!;
      if (fate === Fate.Kept && (chunk.fate[row] !== Fate.Kept || kind <= Kind.Comment)) continue;
      // A header, or rows that `where` leaves out.
      if (fate === Fate.NoValue || fate === Fate.NotChosen) continue;
      this.place++;
      const flags = chunk.flags[row]!;
      if (fate !== Fate.Kept || kind !== Kind.Domain || (flags & Flag.PlainHost) === 0) continue;
      if ((flags & Flag.UpperHost) !== 0) {
        const name = encodeUtf8(hostOf(chunk, row).toLowerCase());
        this.list.add(name, 0, name.length, this.place);
      } else
        this.list.add(chunk.bytesOf(row), chunk.hostStart[row]!, chunk.hostEnd[row]!, this.place);
    }
    chunk.leave();
  }
}

/** Rejects with a `CompilerError` if a list has no names. It can still be read afterwards. */
export async function refuseNoRanks(
  list: SourceList,
  shown: string,
  engine: Engine,
): Promise<void> {
  const sink = new FirstNames(engine);
  await list.readAhead(sink);
  sink.end();
  if (sink.list.length === 0) throw noRanks(shown);
}

/** Reads until there is a name. */
class FirstNames extends RankSink {
  override read(file: FileLines, block: TextBlock, range: LineRange): void {
    if (this.list.length > 0) return;
    super.read(file, block, range);
    this.end();
  }
}

export function noRanks(shown: string): CompilerError {
  return sourceError(
    "bad-feed",
    `${printable(shown)} has no names, and so no ranks`,
    "its lines are neither names nor what its type describes",
  );
}
