import { CR, LF } from "../bytes/ascii.ts";
import { indexOfBytes } from "../bytes/search.ts";
import { decodeUtf8, encodeUtf8 } from "../bytes/utf8.ts";
import { subtreeName } from "./line.ts";
import { cancelledKey } from "./rule.ts";

const BADFILTER = encodeUtf8("badfilter");
/** The longest line that can cancel a rule for a name. */
const LONGEST = 512;

/** The names of the rules `||name^` that the `$badfilter` rules of a text cancel. Most texts have none: one search is enough. */
export function cancelledNames(text: Uint8Array): string[] {
  const names: string[] = [];
  for (let at = indexOfBytes(text, BADFILTER); at !== -1;) {
    const line = lineAround(text, at);
    const name = subtreeName((line && cancelledKey(line)?.toLowerCase()) ?? "");
    if (name !== undefined) names.push(name);
    at = indexOfBytes(text, BADFILTER, at + BADFILTER.length);
  }
  return names;
}

function lineAround(text: Uint8Array, at: number): string | undefined {
  let start = at;
  let end = at;
  while (start > 0 && !isLineEnd(text[start - 1]!) && at - start <= LONGEST) start--;
  while (end < text.length && !isLineEnd(text[end]!) && end - at <= LONGEST) end++;
  return end - start > LONGEST ? undefined : decodeUtf8(text, start, end).trim();
}

function isLineEnd(byte: number): boolean {
  return byte === LF || byte === CR;
}
