import { DOLLAR } from "../bytes/ascii.ts";
import { blankAt, blankBefore } from "../bytes/blank.ts";
import type { Chunk } from "../rules/chunk.ts";
import { Fate } from "../rules/fate.ts";
import { Flag, Kind } from "../rules/kind.ts";
import { rewriteText, textOf } from "../rules/row-text.ts";
import { formatAdblockRule, parseAdblockRule } from "../syntax/adblock-rule.ts";
import { classifyAgain } from "../syntax/classify.ts";
import type { Transformation } from "./transformation.ts";

/** Modifiers of browser filters that a DNS rule can do without: the name is what counts. */
const REMOVED = new Set(["third-party", "3p", "document", "doc", "all", "popup", "network"]);

export const removeModifiers: Transformation = {
  summary: "Removes modifiers that only browsers know",
  details:
    "Takes `third-party`, `3p`, `document`, `doc`, `all`, `popup` and `network` out of a rule, with or without a value; other modifiers keep their bytes. A rule of which nothing is left is dropped. Outer blanks go as well.",
  run(rules, outlook) {
    for (const chunk of rules.chunks) {
      for (let row = 0; row < chunk.length; row++) {
        if (chunk.fate[row] !== Fate.Live || !needsLook(chunk, row)) continue;
        const text = textOf(chunk, row);
        const rule = parseAdblockRule(text);
        if (rule === undefined) continue;
        const kept = rule.modifiers.filter(({ name }) => !REMOVED.has(name));
        const result = formatAdblockRule({ ...rule, modifiers: kept });
        if (kept.length < rule.modifiers.length) {
          outlook.note("modifiers-removed", chunk, row);
          chunk.flags[row]! |= Flag.Widened;
        }
        if (result === text) continue;
        if (result === "" && chunk.kind[row] !== Kind.Blank) {
          chunk.drop(row, Fate.NothingLeft);
          continue;
        }
        rewriteText(chunk, row, result);
        classifyAgain(chunk, row);
      }
    }
  },
};

/** Without a `$` and without outer blanks a line comes out as it went in. */
function needsLook(chunk: Chunk, row: number): boolean {
  const flags = chunk.flags[row]!;
  const kind = chunk.kind[row]!;
  if (kind === Kind.Comment || kind === Kind.Domain) return false;
  if ((flags & Flag.AsBlock) !== 0 && (flags & Flag.PlainHost) !== 0) return false;
  const bytes = chunk.bytesOf(row);
  const isBlock = (flags & Flag.AsBlock) !== 0;
  const start = isBlock ? chunk.hostStart[row]! : chunk.start[row]!;
  const end = isBlock ? chunk.hostEnd[row]! : chunk.end[row]!;
  if (start === end) return false;
  for (let at = end - 1; at >= start; at--) if (bytes[at] === DOLLAR) return true;
  return !isBlock && (blankAt(bytes, start, end) > 0 || blankBefore(bytes, start, end) > 0);
}
