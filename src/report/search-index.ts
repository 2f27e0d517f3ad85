import { bufferOf } from "../bytes/search.ts";
import type { ListRules } from "../explain/list-rules.ts";
import { eachLiveLine } from "../explain/live-lines.ts";
import { readLine, soleName, subtreeName } from "../meaning/line.ts";
import type { PlacedRule } from "../meaning/rule-index.ts";
import type { BuildRecord } from "../record/build-record.ts";
import { patternParts } from "../syntax/name-pattern.ts";
import { isRegexText, needsRe2 } from "../syntax/regex-rule.ts";
import { type NameGroup, type PatternRule, type SearchIndex, pageHash } from "./page-search.ts";

/** Size limit of the names in bytes; the rest of five million is for everything else in the page. */
const MOST_BYTES = 4_300_000;
const BITS_PER_BASE64 = 6;
const MOST_BITS = 48;
const FEWEST_BITS = 33;

/** The data with which the page answers for a list without the list itself. */
export function searchIndex(list: Uint8Array, record: BuildRecord, rules: ListRules): SearchIndex {
  const names = namesBySource(list, record, rules);
  const bits = bitsFor(
    [...names.values()].flatMap(({ subtree, exact }) => [subtree.length, exact.length]),
  );
  const groups = [...names].flatMap(([source, { subtree, exact }]) => [
    ...(subtree.length === 0 ? [] : [groupOf(subtree, source, true, bits)]),
    ...(exact.length === 0 ? [] : [groupOf(exact, source, false, bits)]),
  ]);
  return {
    bits,
    sources: [...record.header.sources.map(({ label }) => label), "the configuration"],
    groups,
    rules: rules.special().flatMap((rule) => patternOf(rule, record) ?? []),
  };
}

interface Names {
  readonly subtree: string[];
  readonly exact: string[];
}

/** Names in the order of the sources, each with its first source. Rules without a line belong to the configuration. */
function namesBySource(
  list: Uint8Array,
  record: BuildRecord,
  rules: ListRules,
): Map<number, Names> {
  const buffer = bufferOf(list);
  const bySource = new Map<number, Names>();
  for (const frame of record.frames) {
    const source = sourceOf(frame.base, record);
    const names = bySource.get(source) ?? { subtree: [], exact: [] };
    bySource.set(source, names);
    eachLiveLine(buffer, frame, (_row, start, end) => {
      const text = buffer.toString("utf8", start, end).trim();
      if (rules.isCancelled(text)) return;
      const found = soleName(text);
      if (found !== undefined) {
        (found.isSubtree ? names.subtree : names.exact).push(found.name);
        return;
      }
      const line = readLine(text);
      if (line.kind === "names") names.exact.push(...line.names);
    });
  }
  return bySource;
}

function sourceOf(row: number, record: BuildRecord): number {
  return record.lineOf(row) === 0 && record.fileOf(row).isOwn === true
    ? record.header.sources.length
    : record.fileOf(row).source;
}

/** The largest hash that fits into the size limit: more bits mean fewer false positives. */
function bitsFor(groups: readonly number[]): number {
  const count = groups.reduce((sum, size) => sum + size, 0);
  if (count === 0) return MOST_BITS;
  // A Rice code of uniformly distributed numbers needs their bits minus log2 of their count, plus about 1.6.
  const saved = groups.reduce((sum, size) => sum + size * Math.log2(Math.max(1, size)), 0) / count;
  const bits = Math.floor((MOST_BYTES * BITS_PER_BASE64) / count + saved - 1.6);
  return Math.min(MOST_BITS, Math.max(FEWEST_BITS, bits));
}

function groupOf(
  names: readonly string[],
  source: number,
  isSubtree: boolean,
  bits: number,
): NameGroup {
  const hashes = Float64Array.from(new Set(names.map((name) => pageHash(name, bits)))).toSorted();
  const low = Math.max(0, Math.floor(Math.log2(2 ** bits / hashes.length)));
  const out = new BitWriter();
  let last = 0;
  for (const hash of hashes) {
    const difference = hash - last;
    last = hash;
    const unit = 2 ** low;
    for (let ones = Math.floor(difference / unit); ones > 0; ones--) out.bit(1);
    out.bit(0);
    for (let place = low - 1; place >= 0; place--) out.bit(Math.floor(difference / 2 ** place) % 2);
  }
  return { source, isSubtree, count: hashes.length, low, data: out.base64() };
}

class BitWriter {
  private bytes = new Uint8Array(1024);
  private length = 0;

  bit(value: number): void {
    const at = this.length >> 3;
    if (at === this.bytes.length) {
      const more = new Uint8Array(at * 2);
      more.set(this.bytes);
      this.bytes = more;
    }
    this.bytes[at]! |= value << (7 - (this.length & 7));
    this.length++;
  }

  base64(): string {
    return bufferOf(this.bytes.subarray(0, Math.ceil(this.length / 8))).toString("base64");
  }
}

function patternOf(rule: PlacedRule, record: BuildRecord): PatternRule | undefined {
  const { text, row, pattern, denied, isAllow, isImportant, isPartial, rewrite } = rule;
  const matcher = matcherOf(pattern);
  if (matcher === undefined) return undefined;
  return {
    text,
    source: sourceOf(row, record),
    line: record.lineOf(row),
    ...matcher,
    ...(denied.length > 0 && { denied }),
    ...(isAllow && { isAllow }),
    ...(isImportant && { isImportant }),
    ...(isPartial && { isPartial }),
    ...(rewrite !== undefined && { rewrite }),
  };
}

function matcherOf(pattern: string): Pick<PatternRule, "host" | "pattern" | "test"> | undefined {
  const host = subtreeName(pattern);
  if (host !== undefined) return { host };
  if (!isRegexText(pattern)) {
    const parts = patternParts(pattern);
    return parts && { pattern: parts };
  }
  // Browsers do not have RE2, and their engine may take exponential time for complex expressions.
  const test = pattern.slice(1, -1);
  return needsRe2(test) ? undefined : { test };
}
