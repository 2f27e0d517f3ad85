import { DOT } from "../bytes/text.ts";
import type { FeatureResult, FeatureRun, ListFeature } from "../engine/feature.ts";
import { allowsPublicSuffix } from "../engine/plan.ts";
import { findingLocation } from "../engine/report.ts";
import { nameScope } from "../meaning/rule-index.ts";
import { readRule } from "../meaning/rule.ts";
import { isForHost } from "../meaning/verdict.ts";
import { type Chunk, Flag, Kind, hostOf, textOf } from "../rules/chunk.ts";
import { suffixOf } from "../syntax/adblock-rule.ts";
import { withoutEnd } from "../syntax/name-pattern.ts";
import { Suffix, isListedSuffix } from "../syntax/public-suffix.ts";
import { isTooWide } from "../syntax/trust.ts";
import type { StageContext } from "../transformations/stage.ts";

/** Finds the rules of the finished list that block far more than a list should. */
export const wideRules: ListFeature = {
  name: "wide-rules",
  open: ({ plan, options, context }) =>
    options.compat === true || allowsPublicSuffix(plan) ? undefined : new WideRules(context),
};

/** A rule for a whole public suffix, or for nearly everything. */
interface WideRule {
  readonly text: string;
  readonly row: number;
  /** Undefined for a rule that blocks nearly everything. */
  readonly suffix: string | undefined;
}

class WideRules implements FeatureRun {
  private readonly found: WideRule[] = [];
  private readonly context: StageContext;

  constructor(context: StageContext) {
    this.context = context;
  }

  take(chunk: Chunk): void {
    for (const row of this.context.finder.special(chunk)) {
      if (chunk.kind[row]! < Kind.Hosts || (chunk.flags[row]! & Flag.Generated) !== 0) continue;
      const wide = widthOf(chunk, row);
      if (wide !== undefined)
        this.found.push({ text: textOf(chunk, row), row: chunk.idOf(row), ...wide });
    }
  }

  result(): FeatureResult {
    const wide = this.found.map((rule) => ({
      text: rule.text,
      suffix: rule.suffix,
      at: findingLocation(rule, this.context.pool),
    }));
    return { findings: { wide } };
  }
}

/** Undefined for nearly all rules. */
function widthOf(chunk: Chunk, row: number): { suffix: string | undefined } | undefined {
  // Building the set of suffixes is the slowest step here, and few lists need it.
  if (chunk.kind[row] !== Kind.Rule)
    return mayBeSuffixRow(chunk, row) ? suffixIn(hostOf(chunk, row)) : undefined;
  const isPattern = !isForHost(chunk, row);
  // Check the bytes of single-name rules first: some lists have a hundred thousand of them.
  if (!isPattern && !mayBeSuffixRow(chunk, row)) return undefined;
  const text = textOf(chunk, row).trim();
  if (isPattern && !isTooWide(text)) return undefined;
  const rule = readRule(text);
  // Exceptions and limited rules are intended. Rules that a resolver cannot read have no effect.
  if (rule === undefined || rule.isAllow || rule.isPartial || rule.denied.length > 0)
    return undefined;
  const name = nameScope(rule.pattern)?.name;
  if (name !== undefined) return suffixIn(name);
  return suffixIn(withoutEnd(rule.pattern, "|^*.").replace(/^[|*.]+/, "")) ?? { suffix: undefined };
}

function mayBeSuffixRow(chunk: Chunk, row: number): boolean {
  const endsInDot = chunk.bytesOf(row)[chunk.hostEnd[row]! - 1] === DOT;
  return endsInDot || suffixOf(chunk, row) === Suffix.Icann;
}

function suffixIn(name: string): { suffix: string } | undefined {
  const suffix = withoutEnd(name.toLowerCase(), ".");
  return isListedSuffix(suffix) ? { suffix } : undefined;
}
