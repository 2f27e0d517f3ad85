import type { Verdict } from "../documents/facts.ts";
import { HashTable, HashedName, hashText } from "../bytes/hash.ts";
import { countLineFeeds } from "../bytes/text.ts";
import { readFully } from "../host/files.ts";
import type { OpenFile } from "../host/host.ts";
import { mayHaveAny } from "../kernel/names.ts";
import { readLine, soleName } from "../meaning/line.ts";
import { type PlacedRule, RuleIndex } from "../meaning/rule-index.ts";
import { readRule } from "../meaning/rule.ts";
import { decide } from "../meaning/verdict.ts";
import type { BuildRecord, Frame } from "../record/build-record.ts";
import { Fate } from "../rules/fate.ts";
import { parseAdblockRule } from "../syntax/adblock-rule.ts";
import { withParents } from "../syntax/public-suffix.ts";
import { isRegexText, loadRegex, needsRe2, regexTexts } from "../syntax/regex-rule.ts";
import { linesWithAny } from "./source-lines.ts";

/** The answer of the list for a name. */
interface NameAnswer {
  readonly verdict: Verdict;
  /** The deciding rule. */
  readonly by?: ListRule;
  /** Matching rules that apply only to some clients or query types. */
  readonly partial: readonly ListRule[];
}

const NO_RULES: readonly PlacedRule[] = [];
const NO_NAMES: readonly string[] = [];
const NOT_BLOCKED = { rules: NO_RULES, byName: false };
const NEITHER: NameAnswer = { verdict: "neither", partial: NO_RULES };

/** The rules of a published list: plain names, and special rules. */
export class ListRules {
  private readonly names: PlainNames;
  private readonly index = new RuleIndex<PlacedRule>();
  private readonly exact = new Map<string, ListRule[]>();
  /** Hashes of the names in `exact`. */
  private readonly exactHashes = new HashTable();
  private readonly hashed = new HashedName();

  private constructor(special: readonly ListRule[], names: PlainNames) {
    this.names = names;
    for (const { text, row } of special) this.enter(text, row);
  }

  /** Loads what the rules of a build need, for `loaded`. */
  static async load({ frames }: BuildRecord): Promise<void> {
    const needsEngine = frames.some(({ special }) =>
      special.some(({ text }) => mayNeedRe2(text, undefined)),
    );
    if (needsEngine) await loadRegex();
  }

  /** All rules of a build, after `load`. */
  static loaded({ frames }: BuildRecord, names: PlainNames): ListRules {
    const special = frames.flatMap((frame) =>
      frame.special.map(({ text, row }) => ({ text: text.trim(), row })),
    );
    return new ListRules(special, names);
  }

  /** `asked`, the names of all queries, excludes rules for other names. */
  static async of(
    record: BuildRecord,
    names: PlainNames,
    asked?: readonly string[],
  ): Promise<ListRules> {
    const special: ListRule[] = [];
    for (const frame of record.frames) for (const rule of frame.special) special.push(rule);
    return await ListRules.from(special, names, asked);
  }

  /** The same for special rules from any file. */
  static async from(
    rules: readonly ListRule[],
    names: PlainNames,
    asked?: readonly string[],
  ): Promise<ListRules> {
    const hosts = asked === undefined ? undefined : new Set(asked.flatMap(withParents));
    const special: ListRule[] = [];
    let needsEngine = false;
    for (const { row, text: raw } of rules) {
      const text = raw.trim();
      if (hosts !== undefined && isForOther(text, hosts)) continue;
      needsEngine ||= mayNeedRe2(text, asked);
      special.push({ text, row });
    }
    if (needsEngine) await loadRegex();
    return new ListRules(special, names);
  }

  private enter(text: string, row: number): void {
    const line = readLine(text);
    if (line.kind === "nothing" || (line.kind === "rule" && this.index.cancel(text))) return;
    if (line.kind === "names") {
      for (const name of line.names) {
        const known = this.exact.get(name);
        if (known === undefined) this.exact.set(name, [{ text, row }]);
        else known.push({ text, row });
        this.exactHashes.set(hashText(name), 1);
      }
      return;
    }
    const rule = readRule(text);
    if (rule !== undefined) this.index.add({ ...rule, row });
  }

  /** The answer for a name in lower case. */
  answer(name: string): NameAnswer {
    const matching = this.index.matching(name);
    // The common case.
    if (matching.length === 0) {
      const rule = this.nameRuleFor(name);
      return rule === undefined ? NEITHER : { verdict: "blocked", by: rule, partial: NO_RULES };
    }
    const partial = matching.filter(({ isPartial }) => isPartial);
    const { verdict, by } = decide(matching);
    if (by !== undefined) return { verdict, by, partial };
    const rule = this.nameRuleFor(name);
    return rule === undefined
      ? { verdict: "neither", partial }
      : { verdict: "blocked", by: rule, partial };
  }

  /**
   * Whether the answer is that the name is blocked, without a string or an object; undefined if that takes `answer`. Most names:
   * 600,000 in a second instead of 190,000.
   */
  isBlocked(name: string): boolean | undefined {
    const { names, index, hashed } = this;
    if (names.mayFind === undefined || index.cancelsSome || !hashed.read(name)) return undefined;
    if (index.mayMatchHashed(name, hashed)) return undefined;
    if (names.mayFind(hashed)) return true;
    return this.exactHashes.get(hashed.hashes[hashed.ends - 1]!) !== 0 && this.exact.has(name);
  }

  private nameRuleFor(name: string): ListRule | undefined {
    for (const parent of this.namedAbove(name)) {
      const { subtree, exact } = this.names.find(parent);
      if (subtree !== undefined && !this.isCancelled(subtree.text)) return subtree;
      if (parent === name && exact !== undefined) return exact;
    }
    return this.exact.get(name)?.[0];
  }

  /**
   * Every rule that would block the name if the list had no other block rule, and whether rules that are only a name count. No
   * rules for a name that the list does not block.
   */
  blocking(name: string): { readonly rules: readonly ListRule[]; readonly byName: boolean } {
    const matching = this.index.matching(name);
    // The common case.
    if (matching.length === 0) {
      const rules = this.nameRules(name);
      return rules.length === 0 ? NOT_BLOCKED : { rules, byName: true };
    }
    const whole = matching.filter(({ isPartial }) => !isPartial);
    const exceptions = whole.filter(({ isAllow }) => isAllow);
    const { verdict } = decide(whole);
    if (verdict === "allowed" || verdict === "rewritten") return NOT_BLOCKED;
    const rules: ListRule[] = whole.filter(
      (rule) => !rule.isAllow && decide([...exceptions, rule]).verdict === "blocked",
    );
    // Plain names block what no exception decides.
    const byName = decide(exceptions).by === undefined;
    if (byName) rules.push(...this.nameRules(name));
    return { rules, byName };
  }

  private nameRules(name: string): readonly ListRule[] {
    let rules: ListRule[] | undefined;
    for (const parent of this.namedAbove(name)) {
      const { subtree, exact } = this.names.find(parent);
      if (subtree !== undefined && !this.isCancelled(subtree.text)) (rules ??= []).push(subtree);
      if (parent === name && exact !== undefined) (rules ??= []).push(exact);
    }
    const special = this.exact.get(name);
    if (special === undefined) return rules ?? NO_RULES;
    return rules === undefined ? special : rules.concat(special);
  }

  /** The name and the names above it; none if no plain rule has one of them, as for most names. */
  private namedAbove(name: string): readonly string[] {
    const { names, hashed } = this;
    const isNone = names.mayFind !== undefined && hashed.read(name) && !names.mayFind(hashed);
    return isNone ? NO_NAMES : withParents(name);
  }

  /** Whether a `$badfilter` rule cancels a rule. */
  isCancelled(text: string): boolean {
    return this.index.isCancelled(text);
  }

  /** The special rules that are not cancelled. */
  special(): PlacedRule[] {
    return this.index.all();
  }
}

/**
 * Whether a rule has the form `||host^`, with or without `@@` and modifiers, and its host is not among `hosts`. A regular expression
 * would take ten times as long, and a list has thousands of such rules.
 */
function isForOther(text: string, hosts: ReadonlySet<string>): boolean {
  const start = text.startsWith("||") ? 2 : text.startsWith("@@||") ? 4 : 0;
  const end = text.indexOf("^", start);
  if (start === 0 || end === -1) return false;
  if (end + 1 < text.length && text[end + 1] !== "$") return false;
  if (hosts.has(text.slice(start, end).toLowerCase())) return false;
  // A non-ASCII name matches by its ASCII form.
  return !/\*|badfilter|[^\u0000-\u007f]/.test(text);
}

/** Whether a rule is an expression that needs RE2 and may match one of the names. */
function mayNeedRe2(text: string, asked: readonly string[] | undefined): boolean {
  const pattern = text.includes("/") ? (parseAdblockRule(text)?.pattern ?? "") : "";
  if (!isRegexText(pattern)) return false;
  const source = pattern.slice(1, -1);
  if (!needsRe2(source)) return false;
  const texts = regexTexts(source);
  return asked === undefined || asked.some((name) => texts.every((part) => name.includes(part)));
}

/** A rule of the list. */
export interface ListRule {
  readonly text: string;
  readonly row: number;
}

/** The plain rules for a name: one that includes the names below it, and one that does not. */
export interface PlainRules {
  readonly subtree?: ListRule | undefined;
  readonly exact?: ListRule | undefined;
}

/** Finds the rules that contain only a name. */
export interface PlainNames {
  find(name: string): PlainRules;
  /** Whether the name or a name above it has a rule, which may be cancelled. */
  mayFind?(name: HashedName): boolean;
}

/** The bytes of the list with the live rows of a frame, from the line feed before the first row on. */
export type ListPart = (frame: number) => Uint8Array | undefined;

/** The parts of a list that is in memory. */
export function partsOf(list: Uint8Array, record: BuildRecord): ListPart {
  return (frame) => list.subarray(...frameRange(record, frame));
}

/** Reads only the parts of a list that may contain a rule for one of some names. Rejects with a `HostError`. */
export async function readParts(
  file: OpenFile,
  record: BuildRecord,
  names: readonly string[],
): Promise<ListPart> {
  const parts = new Map<number, Uint8Array>();
  for (const frame of framesWith(record, names)) {
    const [start, end] = frameRange(record, frame);
    parts.set(frame, await readFully(file, new Uint8Array(end - start), start));
  }
  return (frame) => parts.get(frame);
}

function frameRange({ frames, header }: BuildRecord, frame: number): [number, number] {
  return [frames[frame]!.offset, frames[frame + 1]?.offset ?? header.bytes];
}

function framesWith(record: BuildRecord, names: readonly string[]): number[] {
  const hashes = names.map((name) => record.hashOf(name));
  return [...record.frames.keys()].filter((frame) =>
    mayHaveAny(record.frames[frame]!.blocks.filters, hashes),
  );
}

/** For a few names: searches the parts of the list that may contain them. */
export class SearchedNames implements PlainNames {
  private readonly record: BuildRecord;
  private readonly part: ListPart;
  private readonly found = new Map<string, PlainRules>();

  constructor(record: BuildRecord, part: ListPart) {
    this.record = record;
    this.part = part;
  }

  find(name: string): PlainRules {
    let rules = this.found.get(name);
    if (rules === undefined) this.found.set(name, (rules = this.search(name)));
    return rules;
  }

  private search(name: string): PlainRules {
    const rules: { subtree?: ListRule; exact?: ListRule } = {};
    // A single label occurs everywhere; as a rule it has only this form.
    const needle = name.includes(".") ? name : `||${name}^`;
    for (const frame of framesWith(this.record, [name])) {
      const bytes = this.part(frame);
      if (bytes === undefined) continue;
      for (const { text, start } of linesWithAny(bytes, [needle], true)) {
        const found = soleName(text);
        if (found?.name !== name) continue;
        rules[found.isSubtree ? "subtree" : "exact"] ??= {
          text,
          row: rowAt(this.record.frames[frame]!, bytes, start),
        };
      }
    }
    return rules;
  }
}

/** The live row whose text begins at a position in the part of a frame. */
function rowAt({ base, length, fates }: Frame, part: Uint8Array, start: number): number {
  let lines = countLineFeeds(part, 0, start);
  for (let row = 0; row < length; row++)
    if (fates[row] === Fate.Kept && --lines === 0) return base + row;
  return -1;
}
