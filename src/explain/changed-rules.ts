import { decodeUtf8 } from "../bytes/utf8.ts";
import { equalBytes } from "../bytes/search.ts";
import { isCanaryRule } from "../syntax/canary-name.ts";
import { BANG, LF } from "../bytes/ascii.ts";

export interface ChangedRules {
  readonly added: readonly string[];
  readonly removed: readonly string[];
}

/** Bytes that are compared at a time. */
const STEP = 65_536;

/** The added and removed rules. Most of two versions is equal at both ends; only the rest is compared line by line. */
export function changedRules(old: Uint8Array, fresh: Uint8Array): ChangedRules {
  const start = sameStart(old, fresh);
  const end = sameEnd(old, fresh, start);
  const before = linesOf(old, start, old.length - end);
  const now = linesOf(fresh, start, fresh.length - end);
  return {
    added: [...now].filter((line) => !before.has(line)),
    removed: [...before].filter((line) => !now.has(line)),
  };
}

/** The start of the first line that differs after the header, whose dates always differ. */
function sameStart(a: Uint8Array, b: Uint8Array): number {
  let at = headerEnd(a);
  if (at !== headerEnd(b)) return 0;
  const most = Math.min(a.length, b.length);
  while (at + STEP <= most && equalBytes(a.subarray(at, at + STEP), b.subarray(at, at + STEP)))
    at += STEP;
  while (at < most && a[at] === b[at]) at++;
  const line = a.lastIndexOf(LF, Math.max(0, at - 1)) + 1;
  return Math.max(line, 0);
}

/** The end of the comments at the start of a list. */
function headerEnd(list: Uint8Array): number {
  let at = 0;
  while (list[at] === BANG) {
    const end = list.indexOf(LF, at);
    if (end === -1) return list.length;
    at = end + 1;
  }
  return at;
}

/** The number of equal bytes at the end, from the start of a line on. */
function sameEnd(a: Uint8Array, b: Uint8Array, start: number): number {
  const most = Math.min(a.length, b.length) - start;
  let count = 0;
  const step = (size: number): boolean =>
    count + size <= most &&
    equalBytes(
      a.subarray(a.length - count - size, a.length - count),
      b.subarray(b.length - count - size, b.length - count),
    );
  while (step(STEP)) count += STEP;
  while (step(1)) count++;
  const line = a.indexOf(LF, a.length - count);
  return line === -1 || count === 0 ? 0 : a.length - line - 1;
}

function linesOf(list: Uint8Array, start: number, end: number): Set<string> {
  const lines = decodeUtf8(list, start, Math.max(start, end)).split("\n");
  return new Set(
    lines.filter((line) => line !== "" && !line.startsWith("!") && !isCanaryRule(line)),
  );
}
