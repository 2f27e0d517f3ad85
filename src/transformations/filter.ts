import type { Chunk } from "../rules/chunk.ts";
import { Fate } from "../rules/fate.ts";
import { Flag, Kind } from "../rules/kind.ts";
import { rewriteText, textOf } from "../rules/row-text.ts";
import { classifyAgain } from "../syntax/classify.ts";
import { filterNames } from "../syntax/hosts-names.ts";
import { type LineFilter, splitsLabel } from "./line-filter.ts";
import type { Outlook } from "./outlook.ts";
import { type Stage, eachChunk } from "./stage.ts";

/** Drops the lines that an exclusion matches. Banners are ours and stay. */
export function exclude(filter: LineFilter, outlook: Outlook): Stage {
  return eachChunk((chunk) => {
    for (let row = 0; row < chunk.length; row++) {
      if (!isOpenToFilters(chunk, row)) continue;
      if (filter.matchesText(chunk, row)) {
        noteSplitLabel(chunk, row, filter, outlook);
        chunk.drop(row, Fate.Excluded);
      } else if (filter.hasHosts) {
        excludeByHost(chunk, row, filter);
      }
    }
  });
}

/** Drops the lines that no inclusion matches. */
export function include(filter: LineFilter): Stage {
  return eachChunk((chunk) => {
    for (let row = 0; row < chunk.length; row++) {
      if (!isOpenToFilters(chunk, row) || filter.matchesText(chunk, row)) continue;
      chunk.drop(row, Fate.NotIncluded);
    }
  });
}

function isOpenToFilters(chunk: Chunk, row: number): boolean {
  return chunk.fate[row] === Fate.Live && (chunk.flags[row]! & Flag.Banner) === 0;
}

/** An entry that is written as a rule takes its name out of every syntax; of a hosts line only that name goes. */
function excludeByHost(chunk: Chunk, row: number, filter: LineFilter): void {
  const isSeveral = chunk.kind[row] === Kind.Hosts && (chunk.flags[row]! & Flag.SeveralNames) !== 0;
  if (!isSeveral) {
    if (filter.matchesHost(chunk, row)) chunk.drop(row, Fate.Excluded);
    return;
  }
  const line = textOf(chunk, row);
  const rest = filterNames(line, (name) => !filter.matchesName(name));
  if (rest === undefined) chunk.drop(row, Fate.Excluded);
  else if (rest !== line) {
    rewriteText(chunk, row, rest);
    classifyAgain(chunk, row);
  }
}

function noteSplitLabel(chunk: Chunk, row: number, filter: LineFilter, outlook: Outlook): void {
  const hit = filter.lastPlain;
  if (hit === undefined || (chunk.flags[row]! & Flag.AsBlock) !== 0) return;
  const { start, end } = chunk;
  if (splitsLabel(chunk.bytesOf(row), start[row]!, end[row]!, hit.text, hit.end))
    outlook.note("exclusion-splits-label", chunk, row, hit.text);
}
