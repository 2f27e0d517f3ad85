import { nameScope } from "../meaning/name-scope.ts";
import { PatternRanks } from "../meaning/pattern-ranks.ts";
import type { RankedNames } from "../meaning/ranked-names.ts";
import { readRule } from "../meaning/rule.ts";
import type { Chunk } from "../rules/chunk.ts";
import { Fate } from "../rules/fate.ts";
import { Flag, Kind } from "../rules/kind.ts";
import { hostOf, textOf } from "../rules/row-text.ts";
import { CANARY_SUFFIX } from "../syntax/canary-name.ts";
import { namesOfRow, writtenName } from "../meaning/line.ts";

/**
 * Finds the popular names from which the ranks of a list's rules follow: of each rule, the name itself and the most popular name that
 * it matches. They are few compared with all popular names, and are stored with the list, so that its formats can be written again.
 */
export class PopularInList {
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
