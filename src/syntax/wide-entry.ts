import { Fate } from "../rules/fate.ts";
import { type AllowEntry, writtenEntry } from "./allow-entry.ts";
import { sampleHits } from "./sample-names.ts";
import { isRegexText } from "./regex-rule.ts";
import { regexTexts } from "./regex-texts.ts";
import { isWholeSuffix } from "./pattern-breadth.ts";
import { TrustJudge } from "./trust.ts";

/** Checks remote entries of allow-lists and exclusions. The same limits apply to exceptions of such sources. */

/** Whether an entry would allow a whole public suffix, or everything on a shared host. */
export function isWideAllowEntry(entry: AllowEntry): boolean {
  const text = entry.below ? `||${entry.name}^` : `|${entry.name}^`;
  const judge = new TrustJudge({ onlyBlocks: false });
  return judge.judge(`@@${text}`) !== Fate.Kept || isWholeSuffix(writtenEntry(entry), true);
}

/** Whether an exclusion would remove the rules of a whole suffix, or of as many names as no pattern may block. */
export function isWideExclusion(text: string, matches: (line: string) => boolean): boolean {
  const bare = text.replace(/[^\p{L}\p{N}._-]/gu, "").replace(/^\.+|\.+$/g, "");
  if (bare === "" || isWholeSuffix(bare, true)) return true;
  return sampleHits((name) => matches(`||${name}^`), textsIn(text)) === undefined;
}

/** Texts of name characters that every matching line contains; they must be in its name. */
function textsIn(text: string): string[] {
  const texts = isRegexText(text) ? regexTexts(text.slice(1, -1)) : [text];
  return texts.flatMap((one) => one.toLowerCase().match(/[a-z0-9._-]+/g) ?? []);
}
