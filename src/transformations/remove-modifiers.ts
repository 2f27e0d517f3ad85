import { DOLLAR } from "../bytes/ascii.ts";
import { skipBlanks, skipBlanksBack } from "../bytes/blank.ts";
import type { Chunk } from "../rules/chunk.ts";
import { Fate } from "../rules/fate.ts";
import { Flag, Kind } from "../rules/kind.ts";
import { rewriteText, textOf } from "../rules/row-text.ts";
import { BROWSER_MODIFIERS, formatAdblockRule, parseAdblockRule } from "../syntax/adblock-rule.ts";
import { classifyAgain } from "../syntax/classify.ts";
import type { TransformationContext } from "./transformation-context.ts";
import { eachChunk } from "./stage.ts";
import type { Transformation } from "./transformation.ts";

export const removeModifiers: Transformation = {
  summary: "Removes modifiers that only browsers know",
  details:
    "Takes `third-party`, `3p`, `document`, `doc`, `all`, `popup` and `network` out of a rule, with or without a value; other modifiers keep their bytes. A rule of which nothing is left is dropped. Outer blanks go as well.",
  stages: (context) => [
    eachChunk((chunk) => {
      for (let row = 0; row < chunk.length; row++)
        if (chunk.fate[row] === Fate.Kept && needsLook(chunk, row)) strip(chunk, row, context);
    }),
  ],
};

function strip(chunk: Chunk, row: number, context: TransformationContext): void {
  const text = textOf(chunk, row);
  const rule = parseAdblockRule(text);
  if (rule === undefined) return;
  const kept = rule.modifiers.filter(({ name }) => !BROWSER_MODIFIERS.has(name));
  const result = formatAdblockRule({ ...rule, modifiers: kept });
  if (kept.length < rule.modifiers.length) {
    context.warn("modifiers-removed", chunk, row);
    chunk.flags[row]! |= Flag.Widened;
    chunk.isChanged = true;
  }
  if (result === text) return;
  if (result === "") {
    chunk.drop(row, Fate.NothingLeft);
    return;
  }
  rewriteText(chunk, row, result);
  classifyAgain(chunk, row);
}

/** Trims a row and returns whether it may have modifiers: a line without a `$` does not change. */
function needsLook(chunk: Chunk, row: number): boolean {
  const flags = chunk.flags[row]!;
  const isBlock = (flags & Flag.AsBlock) !== 0;
  if (isBlock && (flags & Flag.PlainHost) !== 0) return false;
  if (!isBlock) trimRow(chunk, row);
  if (chunk.kind[row] === Kind.Comment || chunk.kind[row] === Kind.Domain) return false;
  const bytes = chunk.bytesOf(row);
  const start = isBlock ? chunk.hostStart[row]! : chunk.start[row]!;
  const end = isBlock ? chunk.hostEnd[row]! : chunk.end[row]!;
  for (let at = end - 1; at >= start; at--) if (bytes[at] === DOLLAR) return true;
  return false;
}

function trimRow(chunk: Chunk, row: number): void {
  const bytes = chunk.bytesOf(row);
  const start = skipBlanks(bytes, chunk.start[row]!, chunk.end[row]!);
  const end = skipBlanksBack(bytes, start, chunk.end[row]!);
  if (start === chunk.start[row] && end === chunk.end[row]) return;
  chunk.start[row] = start;
  chunk.end[row] = end;
  classifyAgain(chunk, row);
}
