import { DOT } from "../bytes/ascii.ts";
import type { RowFinder } from "../kernel/row-finder.ts";
import { nameScope } from "../meaning/name-scope.ts";
import { isForHost } from "../meaning/name-matcher.ts";
import { readRule } from "../meaning/rule.ts";
import type { Chunk } from "../rules/chunk.ts";
import { Flag, Kind } from "../rules/kind.ts";
import { hostOf, textOf } from "../rules/row-text.ts";
import { suffixOf } from "../syntax/judge-row.ts";
import { Suffix, isListedSuffix } from "../syntax/public-suffix.ts";
import { isTooWide } from "../syntax/trust.ts";
import { withoutEnd } from "../syntax/without-end.ts";

/** A rule for a whole public suffix, or for nearly everything. */
export interface WideRule {
  readonly text: string;
  readonly row: number;
  /** Undefined for a rule that blocks nearly everything. */
  readonly suffix: string | undefined;
}

/** Finds the rules of the finished list that block far more than a list should. */
export class WideRules {
  readonly found: WideRule[] = [];
  private readonly finder: RowFinder;

  constructor(finder: RowFinder) {
    this.finder = finder;
  }

  take(chunk: Chunk): void {
    for (const row of this.finder.special(chunk)) {
      if (chunk.kind[row]! < Kind.Hosts || (chunk.flags[row]! & Flag.Generated) !== 0) continue;
      const wide = widthOf(chunk, row);
      if (wide !== undefined)
        this.found.push({ text: textOf(chunk, row), row: chunk.idOf(row), ...wide });
    }
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
