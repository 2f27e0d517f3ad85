import type { Chunk } from "../rules/chunk.ts";
import { Fate } from "../rules/fate.ts";
import { Flag } from "../rules/kind.ts";
import { rewriteText, textOf } from "../rules/row-text.ts";
import { classifyAgain } from "../syntax/classify.ts";
import { filterNames } from "../syntax/hosts-names.ts";
import { namesOfLine } from "../meaning/line.ts";
import { type LineFilter, splitsLabel } from "./line-filter.ts";
import type { TransformationContext } from "./transformation-context.ts";
import { type Stage, eachChunk } from "./stage.ts";
import type { StageContext } from "./stage-context.ts";

/** Drops the lines that an exclusion matches. Generated banners stay. */
export function exclude(filter: LineFilter, context: TransformationContext): Stage {
  const { finder } = context;
  const { names } = filter;
  return eachChunk((chunk) => {
    if (filter.hasTexts)
      for (let row = 0; row < chunk.length; row++) {
        if (!isOpenToFilters(chunk, row) || !filter.matchesText(chunk, row)) continue;
        noteSplitLabel(chunk, row, filter, context);
        chunk.drop(row, Fate.Excluded);
      }
    for (const row of names.rowsOf(chunk, finder))
      if (isOpenToFilters(chunk, row))
        keepNames(chunk, row, Fate.Excluded, (name) => !names.hasName(name));
  });
}

/** Drops the lines that no inclusion matches. */
export function include(filter: LineFilter, { finder }: StageContext): Stage {
  const { names } = filter;
  return eachChunk((chunk) => {
    const named = new Set(names.rowsOf(chunk, finder));
    for (let row = 0; row < chunk.length; row++) {
      if (!isOpenToFilters(chunk, row)) continue;
      if (filter.hasTexts && filter.matchesText(chunk, row)) continue;
      if (!named.has(row)) chunk.drop(row, Fate.NotIncluded);
      else if (namesOfLine(textOf(chunk, row)).length > 1)
        keepNames(chunk, row, Fate.NotIncluded, (name) => names.hasName(name));
    }
  });
}

function isOpenToFilters(chunk: Chunk, row: number): boolean {
  return chunk.fate[row] === Fate.Kept && (chunk.flags[row]! & Flag.Banner) === 0;
}

/** Removes names from a hosts line with several names. Drops any other line. */
function keepNames(
  chunk: Chunk,
  row: number,
  fate: Fate,
  mayStay: (name: string) => boolean,
): void {
  const line = textOf(chunk, row);
  const isSeveral = namesOfLine(line).length > 1;
  const rest = isSeveral ? filterNames(line, mayStay) : undefined;
  if (rest === undefined) chunk.drop(row, fate);
  else if (rest !== line) {
    rewriteText(chunk, row, rest);
    classifyAgain(chunk, row);
  }
}

function noteSplitLabel(
  chunk: Chunk,
  row: number,
  filter: LineFilter,
  context: TransformationContext,
): void {
  const hit = filter.lastPlain;
  if (hit === undefined || (chunk.flags[row]! & Flag.AsBlock) !== 0) return;
  const { start, end } = chunk;
  if (splitsLabel(chunk.bytesOf(row), start[row]!, end[row]!, hit.text, hit.end))
    context.warn("exclusion-splits-label", chunk, row, hit.text);
}
