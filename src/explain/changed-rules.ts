import { decodeUtf8 } from "../bytes/utf8.ts";
import { equalBytes } from "../bytes/search.ts";
import { LF } from "../bytes/ascii.ts";

export interface ChangedRules {
  readonly added: readonly string[];
  readonly removed: readonly string[];
}

/** Bytes that are compared at a time where both lists are the same. */
const STEP = 65_536;

/** Rules that came and went. Most of two editions is the same at both ends; only what is between is looked at line by line. */
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

/** The first byte of the first line that differs. Comments differ in their dates, and are no rules. */
function sameStart(a: Uint8Array, b: Uint8Array): number {
  const [from, alsoFrom] = [headOf(a), headOf(b)];
  if (from !== alsoFrom) return 0;
  const most = Math.min(a.length, b.length);
  let at = from;
  while (at + STEP <= most && equalBytes(a.subarray(at, at + STEP), b.subarray(at, at + STEP)))
    at += STEP;
  while (at < most && a[at] === b[at]) at++;
  const line = a.lastIndexOf(LF, Math.max(0, at - 1)) + 1;
  return Math.max(line, 0);
}

/** Where the comments end that a list begins with. */
function headOf(list: Uint8Array): number {
  let at = 0;
  while (list[at] === 33) {
    const end = list.indexOf(LF, at);
    if (end === -1) return list.length;
    at = end + 1;
  }
  return at;
}

/** Bytes at the end that are the same, from the start of a line on. */
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
  return new Set(lines.filter((line) => line !== "" && !line.startsWith("!")));
}
