import { decodeUtf8 } from "../bytes/text.ts";
import { type FeatureRun, type ListFeature, stageNamed } from "../engine/feature.ts";
import { writtenName } from "../meaning/line.ts";
import type { RankedNames } from "../meaning/ranked-names.ts";
import { type PlacedRule, RuleIndex, nameScope } from "../meaning/rule-index.ts";
import { type Rule, readRule } from "../meaning/rule.ts";
import { strongest } from "../meaning/verdict.ts";
import { type Chunk, Flag, Kind, textOf } from "../rules/chunk.ts";
import { patternParts } from "../syntax/name-pattern.ts";
import { isRegexText } from "../syntax/regex-rule.ts";
import type { Pass, Stage, StageContext } from "../transformations/stage.ts";

/** Finds the known names that the patterns of a list match, for formats without patterns. */
export const expand: ListFeature<ExpandRun> = {
  name: "expand",
  open({ plan, reader, context }) {
    if (plan.expand.length === 0) return undefined;
    let patterns: ExpandPatterns | undefined;
    return {
      get rules() {
        return patterns?.rules ?? [];
      },
      async fetch() {
        const known = await reader.entries.ranks(plan.expand);
        patterns = known && new ExpandPatterns(known, context);
      },
      stages: () => ({ trusted: stageNamed("expand", patterns) }),
      result() {
        if (patterns === undefined) return {};
        const expanded = { rules: patterns.rules, patterns: [...patterns.patterns] };
        return { shape: { expanded } };
      },
    };
  },
};

interface ExpandRun extends FeatureRun {
  /** The rules for known names. */
  readonly rules: ExpandPatterns["rules"];
}

class ExpandPatterns implements Stage {
  /** Rules for known names that patterns match. The list means the same with and without them. */
  readonly rules: { readonly text: string; readonly source: number }[] = [];
  /** The patterns that match known names. */
  readonly patterns: Set<string> = new Set();
  private readonly names: RankedNames;
  private readonly context: StageContext;
  private readonly index = new RuleIndex<PlacedRule>();
  private readonly sources = new Map<number, number>();

  constructor(names: RankedNames, context: StageContext) {
    this.names = names;
    this.context = context;
  }

  push(chunk: Chunk, pass: Pass): void {
    const { finder, pool } = this.context;
    for (const row of finder.special(chunk)) {
      if (chunk.kind[row] !== Kind.Rule || (chunk.flags[row]! & Flag.Allow) !== 0) continue;
      const text = textOf(chunk, row).trim();
      if (this.index.cancel(text) || writtenName(text) !== undefined) continue;
      const rule = readRule(text);
      if (rule === undefined || !isPattern(rule)) continue;
      const id = chunk.idOf(row);
      this.index.add({ ...rule, row: id });
      this.sources.set(id, pool.sourceOf(chunk));
    }
    pass(chunk);
  }

  end(): void {
    if (this.sources.size === 0) return;
    this.names.each(Infinity, (bytes, start, end) => {
      if (!this.index.mayMatchBytes(bytes, start, end)) return true;
      const name = decodeUtf8(bytes, start, end);
      const matching = this.index.matching(name);
      const by = strongest(matching);
      if (by === undefined) return true;
      const alike = matching.filter(({ isImportant }) => isImportant === by.isImportant);
      const scope = alike.some(blocksBelow) ? "||" : "|";
      const text = `${scope}${name}^${by.isImportant ? "$important" : ""}`;
      this.rules.push({ text, source: this.sources.get(by.row)! });
      for (const one of matching) this.patterns.add(one.text);
      return true;
    });
  }
}

/** Whether other formats cannot express the rule because it is not for one name. */
function isPattern({ pattern, isPartial, rewrite, denied }: Rule): boolean {
  if (isPartial || rewrite !== undefined || denied.length > 0) return false;
  return nameScope(pattern) === undefined;
}

/** Whether a pattern that matches a name matches all names below it, too: nothing ties it to the start of the name. */
function blocksBelow({ pattern }: Rule): boolean {
  return !isRegexText(pattern) && patternParts(pattern)?.startsAtName === false;
}
