import { Fate } from "../rules/fate.ts";
import { type AllowEntry, writtenEntry } from "./allow-entry.ts";
import { sampleNames } from "./sample-names.ts";
import { isWholeSuffix } from "./pattern-breadth.ts";
import { TrustJudge } from "./trust.ts";

/** Checks remote entries of allow-lists and exclusions. The same limits apply to exceptions of such sources. */

/** Whether an entry would allow a whole public suffix, or everything on a shared host. */
export function isWideAllowEntry(entry: AllowEntry): boolean {
  const text = entry.below ? `||${entry.name}^` : `|${entry.name}^`;
  const judge = new TrustJudge({ onlyBlocks: false });
  return judge.judge(`@@${text}`) !== Fate.Kept || isWholeSuffix(writtenEntry(entry), true);
}

/** Rules that exclusions do not target. */
let lines: readonly string[] | undefined;

/** Whether an exclusion would remove the rules of a whole suffix, or of more than one name in a hundred. */
export function isWideExclusion(text: string, matches: (line: string) => boolean): boolean {
  const bare = text.replace(/[^\p{L}\p{N}._-]/gu, "").replace(/^\.+|\.+$/g, "");
  if (bare === "" || isWholeSuffix(bare, true)) return true;
  lines ??= sampleNames().map((name) => `||${name}^`);
  return lines.filter((line) => matches(line)).length > lines.length / 100;
}
