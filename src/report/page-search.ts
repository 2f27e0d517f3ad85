import { bufferOf } from "../bytes/text.ts";
import type { ListRules } from "../explain/list-rules.ts";
import { eachLiveLine } from "../explain/why.ts";
import { readLine, soleName, subtreeName } from "../meaning/line.ts";
import type { PlacedRule } from "../meaning/rule-index.ts";
import { decide } from "../meaning/verdict.ts";
import type { BuildRecord } from "../record/build-record.ts";
import { type PatternParts, matchesPattern, patternParts } from "../syntax/name-pattern.ts";
import { isRegexText, needsRe2 } from "../syntax/regex-rule.ts";

/**
 * The search of the report, in the page (`startSearch`, from which scripts/page-script.ts makes report/page-script.ts) and for the page
 * (`searchIndex`).
 */

/** Sorted hashes of the names of one source, which block either the names alone or their subtrees. */
interface NameGroup {
  readonly source: number;
  readonly isSubtree: boolean;
  readonly count: number;
  /** Rice parameter: the number of low bits of a difference that are stored directly. */
  readonly low: number;
  /** The encoded differences, in base64. */
  readonly data: string;
}

/** A special rule: more than a name. */
interface PatternRule {
  readonly text: string;
  readonly source: number;
  readonly line: number;
  /** The name that it matches, with its subtree; otherwise it has a pattern or an expression. */
  readonly host?: string;
  readonly pattern?: PatternParts;
  readonly test?: string;
  readonly denied?: readonly string[];
  readonly isAllow?: true;
  readonly isImportant?: true;
  /** It applies only to some clients or query types. */
  readonly isPartial?: true;
  readonly rewrite?: string;
}

export interface SearchIndex {
  /** Number of bits of a hash. */
  readonly bits: number;
  readonly sources: readonly string[];
  readonly groups: readonly NameGroup[];
  readonly rules: readonly PatternRule[];
}

interface PageAnswer {
  readonly verdict: "blocked" | "allowed" | "rewritten" | "neither";
  readonly rule?: string;
  readonly source?: number;
  readonly line?: number;
  readonly partial: readonly string[];
}

/** The hash of a name in lower case, with 33 to 52 bits. */
export function pageHash(name: string, bits: number): number {
  let high = 0x811c9dc5;
  let low = 0x9e3779b9;
  for (let at = 0; at < name.length; at++) {
    const code = name.charCodeAt(at);
    high = Math.imul(high ^ code, 0x01000193);
    low = Math.imul(low ^ code, 0x85ebca6b);
    low ^= low >>> 13;
  }
  high = Math.imul(high ^ (high >>> 15), 0x2c1b3c6d);
  high ^= high >>> 12;
  low = Math.imul(low ^ (low >>> 16), 0x297a2d39);
  low ^= low >>> 15;
  return (high >>> 0) * 2 ** (bits - 32) + ((low >>> 0) >>> (64 - bits));
}

/** Decodes the hashes of a group: Golomb–Rice coded differences, with the quotient in unary before the low bits. */
export function hashesOf(group: NameGroup): Float64Array {
  const text = atob(group.data);
  const hashes = new Float64Array(group.count);
  let at = 0;
  const bit = (): number => (text.charCodeAt(at >> 3) >> (7 - (at++ & 7))) & 1;
  let last = 0;
  for (let index = 0; index < group.count; index++) {
    let value = 0;
    while (bit() === 1) value++;
    for (let more = group.low; more > 0; more--) value = value * 2 + bit();
    last += value;
    hashes[index] = last;
  }
  return hashes;
}

function hasHash(hashes: Float64Array, hash: number): boolean {
  let low = 0;
  let high = hashes.length - 1;
  while (low <= high) {
    const middle = (low + high) >> 1;
    if (hashes[middle] === hash) return true;
    if (hashes[middle]! < hash) low = middle + 1;
    else high = middle - 1;
  }
  return false;
}

function isBelow(name: string, parent: string): boolean {
  return name === parent || name.endsWith(`.${parent}`);
}

/** The answer of the list for a name in lower case; `hashes` are the decoded groups. */
export function pageAnswer(
  name: string,
  index: SearchIndex,
  hashes: readonly Float64Array[],
): PageAnswer {
  const matching = index.rules.filter(
    (rule) =>
      (rule.host !== undefined
        ? isBelow(name, rule.host)
        : rule.pattern !== undefined
          ? matchesPattern(name, rule.pattern)
          : new RegExp(rule.test!, "i").test(name)) &&
      !(rule.denied ?? []).some((parent) => isBelow(name, parent)),
  );
  const partial = matching.filter((rule) => rule.isPartial).map((rule) => rule.text);
  const { verdict, by } = decide(matching);
  if (by !== undefined)
    return { verdict, rule: by.text, source: by.source, line: by.line, partial };
  for (let parent = name; ;) {
    const hash = pageHash(parent, index.bits);
    for (const [at, group] of index.groups.entries()) {
      if (!group.isSubtree && parent !== name) continue;
      if (!hasHash(hashes[at]!, hash)) continue;
      const rule = group.isSubtree ? `||${parent}^` : parent;
      return { verdict: "blocked", rule, source: group.source, partial };
    }
    const dot = parent.indexOf(".");
    if (dot === -1) return { verdict: "neither", partial };
    parent = parent.slice(dot + 1);
  }
}

/** Runs in the page, which contains all data that the search needs. */
export function startSearch(): void {
  const index = JSON.parse(document.querySelector("#index")!.textContent) as SearchIndex;
  const field = document.querySelector("#name")!;
  const answer = document.querySelector("#answer")!;
  let hashes: Float64Array[] | undefined;
  const words = {
    blocked: "blocked",
    allowed: "allowed",
    rewritten: "rewritten",
    neither: "not in the list",
  };
  const show = (): void => {
    const name = hostOf(field.value);
    if (name === "") return void (answer.textContent = "");
    hashes ??= index.groups.map((group) => hashesOf(group));
    const { verdict, rule, source, line, partial } = pageAnswer(name, index, hashes);
    const from =
      source === undefined ? "" : `, from ${index.sources[source] ?? ""}${line ? `:${line}` : ""}`;
    const others =
      partial.length === 0 ? "" : `; for some clients or query types: ${partial.join(", ")}`;
    answer.textContent = `${name}: ${words[verdict]}${rule === undefined ? "" : ` by ${rule}${from}`}${others}`;
    answer.className = verdict;
  };
  document.querySelector("#search")!.addEventListener("submit", (event) => {
    event.preventDefault();
    show();
  });
  field.addEventListener("input", show);
  show();
}

/** The host name in the input, which may be a URL. */
function hostOf(input: string): string {
  const text = input.trim().toLowerCase();
  try {
    return new URL(text.includes("://") ? text : `http://${text}`).hostname.replace(/\.$/, "");
  } catch {
    return text;
  }
}

/** The part of the browser's API that is used above; the compiler options have no DOM types. */
interface EventSource {
  addEventListener(kind: string, listener: (event: { preventDefault(): void }) => void): void;
}
declare const document: {
  querySelector(
    selector: string,
  ): ({ textContent: string; className: string; value: string } & EventSource) | null;
};

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

interface ScopedNames {
  readonly subtree: string[];
  readonly exact: string[];
}

/** Names in the order of the sources, each with its first source. Rules without a line belong to the configuration. */
function namesBySource(
  list: Uint8Array,
  record: BuildRecord,
  rules: ListRules,
): Map<number, ScopedNames> {
  const buffer = bufferOf(list);
  const bySource = new Map<number, ScopedNames>();
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
