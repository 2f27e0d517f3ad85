import { AhoCorasick, EXACT } from "../bytes/aho-corasick.ts";
import {
  HASH_SEED,
  HashTable,
  type HashedName,
  hashEnd,
  hashLabel,
  hashName,
  hashStep,
  hashText,
} from "../bytes/hash.ts";
import { DOT, decodeUtf8, encodeUtf8 } from "../bytes/text.ts";
import { type Chunk, Flag, Kind, hostOf, textOf } from "../rules/chunk.ts";
import { Fate, hasCause } from "../rules/fate.ts";
import { patternParts, patternTexts } from "../syntax/name-pattern.ts";
import { withParents } from "../syntax/public-suffix.ts";
import { isRegexText, regexTexts } from "../syntax/regex-rule.ts";
import { namesOfLine, subtreeName } from "./line.ts";
import type { RankedNames } from "./ranked-names.ts";
import { type Rule, cancelledKey, readRule } from "./rule.ts";

/** A rule and its position in the list. */
export interface PlacedRule extends Rule {
  readonly row: number;
}

const NO_RULES: readonly never[] = [];

/** Indexes the rules of a list that are more than a name by the names that they match. Applies `$badfilter` rules. */
export class RuleIndex<R extends PlacedRule> {
  private readonly byHost = new Map<string, R[]>();
  private readonly patterns: R[] = [];
  private readonly byText = new LiteralIndex<R>();
  /** Hashes of the names in `byHost`. */
  private readonly hosts = new HashTable();
  private readonly cancelled = new Set<string>();
  /** Finds a text of each rule, which every matching name contains. */
  private finder: AhoCorasick | "any" | undefined;

  add(rule: R): void {
    this.finder = undefined;
    const host = subtreeName(rule.pattern);
    if (host === undefined) {
      this.patterns.push(rule);
      this.byText.add(textsOf(rule.pattern), rule);
      return;
    }
    const known = this.byHost.get(host);
    if (known !== undefined) {
      known.push(rule);
      return;
    }
    this.byHost.set(host, [rule]);
    this.hosts.set(hashText(host), 1);
  }

  get isEmpty(): boolean {
    return this.byHost.size + this.patterns.length === 0;
  }

  /** Takes a `$badfilter` rule; false for any other line. */
  cancel(text: string): boolean {
    const key = cancelledKey(text);
    if (key !== undefined) this.cancelled.add(key);
    return key !== undefined;
  }

  get cancelsSome(): boolean {
    return this.cancelled.size > 0;
  }

  isCancelled(key: string): boolean {
    return this.cancelled.size > 0 && this.cancelled.has(key);
  }

  /** False if no rule matches the name; most names need no more. */
  mayMatch(name: string): boolean {
    return this.byHost.size > 0 || this.byText.candidates(name).length > 0;
  }

  /** The same, exactly for patterns, and by hash for names: without a string or an object. `hashed` has read the name. */
  mayMatchHashed(name: string, hashed: HashedName): boolean {
    const { ends, hashes } = hashed;
    if (this.byHost.size > 0)
      for (let end = 0; end < ends; end++) if (this.hosts.get(hashes[end]!) !== 0) return true;
    return this.byText.some(hashed, name, matchesName);
  }

  /** The same for bytes, in one pass and without a string. The first call after `add` reads all rules. */
  mayMatchBytes(bytes: Uint8Array, start: number, end: number): boolean {
    if (this.finder === undefined) {
      const literals = new Set(this.all().map(({ pattern }) => literalOf(pattern)));
      this.finder = literals.has("") ? "any" : new AhoCorasick(Array.from(literals, encodeUtf8));
    }
    return this.finder === "any" || this.finder.search(bytes, start, end, EXACT) !== -1;
  }

  /** The rules that match a name: first those for the name and its parents, then the others in list order. */
  matching(name: string): readonly R[] {
    let rules: R[] | undefined;
    if (this.byHost.size > 0)
      for (const parent of withParents(name))
        for (const rule of this.byHost.get(parent) ?? NO_RULES)
          if (rule.matches(name)) (rules ??= []).push(rule);
    let patterns: R[] | undefined;
    for (const rule of this.byText.candidates(name))
      if (rule.matches(name)) (patterns ??= []).push(rule);
    if (patterns !== undefined) {
      patterns.sort((a, b) => a.row - b.row);
      rules = rules === undefined ? patterns : rules.concat(patterns);
    }
    if (rules === undefined) return NO_RULES;
    return this.cancelled.size === 0 ? rules : rules.filter(({ key }) => !this.isCancelled(key));
  }

  /** All active rules. */
  all(): R[] {
    return [...[...this.byHost.values()].flat(), ...this.patterns].filter(
      ({ key }) => !this.isCancelled(key),
    );
  }
}

function matchesName(rule: Rule, name: string): boolean {
  return rule.matches(name);
}

/** The longest of `textsOf`; "" without one. */
export function literalOf(pattern: string): string {
  return textsOf(pattern).reduce((best, text) => (text.length > best.length ? text : best), "");
}

/** Texts that every name which the pattern matches must contain. */
export function textsOf(pattern: string): readonly string[] {
  return isRegexText(pattern) ? regexTexts(pattern.slice(1, -1)) : patternTexts(pattern);
}

/** Lengths of the indexed n-grams. Texts that are long enough use three or five. */
const LENGTHS = [1, 2, 3, 5] as const;
const ENOUGH = 3;
/** A pattern may have thousands; a few are enough to find it. */
const MOST_TEXTS = 16;

/** Bits of a character in an n-gram. Five characters fit into a small integer. */
const BITS = 6;
/** The characters of names as numbers from 1 on, so that n-grams of different lengths differ. All others share the last number. */
const NAME_CHARACTERS = "abcdefghijklmnopqrstuvwxyz0123456789.-_";
const OTHER = NAME_CHARACTERS.length + 1;
const DIGITS = Uint8Array.from({ length: 256 }, (_, code) => {
  const index = NAME_CHARACTERS.indexOf(String.fromCharCode(code));
  return index === -1 ? OTHER : index + 1;
});
const [ONE, TWO, THREE, FIVE] = [1, 2, 3, 5].map((length) => 2 ** (BITS * length) - 1) as [
  number,
  number,
  number,
  number,
];

/** Some characters of a text as one number. */
function gramAt(text: string, at: number, length: number): number {
  let gram = 0;
  for (let next = at; next < at + length; next++)
    gram = (gram << BITS) | DIGITS[Math.min(text.charCodeAt(next), 0x80)]!;
  return gram;
}

/** N-grams that very many names contain. An item is indexed under one of them only if it has no other. */
const COMMON = new Set(
  ["www.", ".com", ".net", ".org"].flatMap((text) =>
    LENGTHS.flatMap((length) =>
      Array.from({ length: Math.max(0, text.length - length + 1) }, (_, at) =>
        gramAt(text, at, length),
      ),
    ),
  ),
);
const COST_OF_COMMON = 1000;

/** For the bytes of a name. */
const scratch = new Uint8Array(1024);

/** Where an n-gram of five characters is in its filter. The filters are bits: 32 kB each, which stay in the fastest cache. */
const FILTER_BITS = BITS * 3;
function slotOf(gram: number): number {
  return hashStep(0, gram) >>> (32 - FILTER_BITS);
}

/** Items with the same n-gram. */
interface GramItems<T> {
  readonly things: T[];
  /** The last search that found them: a name may contain the n-gram twice. */
  search: number;
}

/**
 * Finds items by texts that a name must contain. It indexes n-grams of these texts, so one pass over the name replaces a test
 * of each item. A name has about eighty n-grams, a list a hundred patterns and more. Filters of bits tell that almost no n-gram of a
 * name is indexed: hashing each n-gram instead took a third of `isBlocked`.
 */
export class LiteralIndex<T> {
  private readonly byGram = new Map<number, GramItems<T>>();
  /** Which n-grams of up to three characters, and which hashes of five characters, are indexed. */
  private readonly short = new Int32Array(2 ** (FILTER_BITS - 5));
  private readonly long = new Int32Array(2 ** (FILTER_BITS - 5));
  /** Whether n-grams of one and two characters are indexed. */
  private hasOne = false;
  private hasTwo = false;
  /** Items without texts. */
  private readonly always: T[] = [];
  /** What the last search found, in the first places. */
  private readonly found: T[] = [];
  private searches = 0;

  /** Indexes an item under the n-gram of its texts with the fewest items so far. */
  add(all: readonly string[], thing: T): void {
    const texts = all.slice(0, MOST_TEXTS);
    const longest = Math.max(0, ...texts.map(({ length }) => length));
    let best = -1;
    let bestLength = 0;
    let fewest = Infinity;
    for (const length of LENGTHS) {
      // Short n-grams occur in too many names.
      if (length < Math.min(ENOUGH, longest)) continue;
      for (const text of texts)
        for (let at = 0; at + length <= text.length; at++) {
          const gram = gramAt(text, at, length);
          const items = this.byGram.get(gram)?.things.length ?? 0;
          const count = items + (COMMON.has(gram) ? COST_OF_COMMON : 0);
          if (count > fewest || (count === fewest && length <= bestLength)) continue;
          best = gram;
          bestLength = length;
          fewest = count;
        }
    }
    if (best === -1) {
      this.always.push(thing);
      this.found.push(thing);
      return;
    }
    const known = this.byGram.get(best);
    if (known === undefined) this.byGram.set(best, { things: [thing], search: 0 });
    else known.things.push(thing);
    this.hasOne ||= bestLength === 1;
    this.hasTwo ||= bestLength === 2;
    const slot = best <= THREE ? best : slotOf(best);
    (best <= THREE ? this.short : this.long)[slot >>> 5]! |= 1 << (slot & 31);
  }

  /** All items that may match a name, without duplicates. */
  candidates(name: string): readonly T[] {
    const { length } = name;
    const bytes = length > scratch.length ? new Uint8Array(length) : scratch;
    for (let at = 0; at < length; at++) bytes[at] = Math.min(name.charCodeAt(at), 0x80);
    const count = this.search(bytes, length);
    return count === this.always.length ? this.always : this.found.slice(0, count);
  }

  /** Whether an item that may match a name passes a test. Allocates nothing. */
  some(
    { bytes, length }: HashedName,
    name: string,
    test: (thing: T, name: string) => boolean,
  ): boolean {
    const count = this.search(bytes, length);
    for (let at = 0; at < count; at++) if (test(this.found[at]!, name)) return true;
    return false;
  }

  /** Puts all items that may match a name into `found`. Returns their number. */
  private search(bytes: Uint8Array, length: number): number {
    const { short, long, always, hasOne, hasTwo } = this;
    this.searches++;
    for (let at = 0; at < always.length; at++) this.found[at] = always[at]!;
    let count = always.length;
    let gram = 0;
    for (let at = 0; at < length; at++) {
      gram = ((gram << BITS) | DIGITS[bytes[at]!]!) & FIVE;
      const slot = slotOf(gram);
      if (((long[slot >>> 5]! >>> (slot & 31)) & 1) !== 0) count = this.take(gram, count);
      const three = gram & THREE;
      if (((short[three >>> 5]! >>> (three & 31)) & 1) !== 0) count = this.take(three, count);
      if (hasTwo) count = this.takeShort(gram & TWO, count);
      if (hasOne) count = this.takeShort(gram & ONE, count);
    }
    return count;
  }

  private takeShort(gram: number, count: number): number {
    return ((this.short[gram >>> 5]! >>> (gram & 31)) & 1) === 0 ? count : this.take(gram, count);
  }

  /** Adds the items of an n-gram to the first `count` in `found`. */
  private take(gram: number, count: number): number {
    const group = this.byGram.get(gram);
    if (group === undefined || group.search === this.searches) return count;
    group.search = this.searches;
    let next = count;
    for (const thing of group.things) this.found[next++] = thing;
    return next;
  }
}

/** The best rank of the names that a rule matches, if the rule is for one name; undefined for a pattern. */
export function scopeRank(
  { pattern, denied }: Pick<Rule, "pattern" | "denied">,
  ranks: RankedNames,
): number | undefined {
  const scope = denied.length === 0 ? nameScope(pattern) : undefined;
  // Only subdomains: the name itself must not count.
  if (scope === undefined || !scope.self) return undefined;
  return (scope.below ? ranks.bestOf(scope.name) : ranks.rankOf(scope.name)) ?? Infinity;
}

/** Finds the most popular names that patterns match, in one pass over the names. */
export class PatternRanks {
  private readonly rules = new RuleIndex<PlacedRule>();
  private count = 0;

  /** `row` identifies the rule in the result. */
  add(rule: Rule, row: number): void {
    this.rules.add({ ...rule, row });
    this.count++;
  }

  get isEmpty(): boolean {
    return this.count === 0;
  }

  /** The index of the most popular name up to the rank `most`, by row. A rule without one is absent. */
  resolve(ranks: RankedNames, most: number): Map<number, number> {
    const found = new Map<number, number>();
    if (this.isEmpty) return found;
    ranks.each(most, (bytes, start, end, index) => {
      if (!this.rules.mayMatchBytes(bytes, start, end)) return true;
      for (const { row } of this.rules.matching(decodeUtf8(bytes, start, end)))
        if (!found.has(row)) found.set(row, index);
      return found.size < this.count;
    });
    return found;
  }
}

/** The one name that a pattern matches: the name itself, its subdomains, or both. */
interface NameScope {
  readonly name: string;
  readonly self: boolean;
  readonly below: boolean;
}

/** What a pattern matches; undefined if that is not one name, its subdomains, or both. */
export function nameScope(pattern: string): NameScope | undefined {
  const read = isRegexText(pattern) ? undefined : patternParts(pattern);
  if (read?.endsName !== true) return undefined;
  const { startsAtLabel, startsAtName, parts } = read;
  const [first, second] = parts;
  const isAnchored = startsAtLabel || startsAtName;
  if (parts.length === 1 && isAnchored)
    return scopeOf(first!, { self: true, below: startsAtLabel });
  // `.name^` and `*.name^`, with or without an anchor before the star.
  const tail = parts.length === 1 ? first! : parts.length === 2 && first === "" ? second! : "";
  return tail.startsWith(".") ? scopeOf(tail.slice(1), { self: false, below: true }) : undefined;
}

function scopeOf(name: string, scope: Omit<NameScope, "name">): NameScope | undefined {
  const isName = name !== "" && !name.startsWith(".") && !name.endsWith(".");
  return isName ? { name, ...scope } : undefined;
}

/** Exceptions of one source, and the names that they match. */
class SourceExceptions {
  readonly scopes = new Map<string, Pick<NameScope, "self" | "below">>();
  readonly patterns = new RuleIndex<PlacedRule>();
  hasPatterns = false;
  /** Names that other sources block. */
  readonly others = new Set<string>();
  /** Names that the source blocks itself. */
  readonly own = new Set<string>();

  matches(name: string): boolean {
    for (const parent of withParents(name)) {
      const scope = this.scopes.get(parent);
      if (scope !== undefined && (parent === name ? scope.self : scope.below)) return true;
    }
    return this.hasPatterns && this.patterns.matching(name).length > 0;
  }
}

interface FreeingOptions {
  readonly countsDropped?: boolean;
  readonly freesImportant?: boolean;
}

/**
 * Finds the names that the exceptions of some sources free and only other sources block. Add all exceptions first, then take
 * all chunks. An exception for a subdomain of a blocked name frees only that subdomain.
 */
export class FreedNames {
  private readonly bySource = new Map<number, SourceExceptions>();
  /** Hashes of names with exceptions, and of their parents. Almost no row matches. */
  private readonly scopeHashes = new Set<number>();
  private readonly parentHashes = new Set<number>();
  /** Sources that block a parent and all its subdomains. */
  private readonly blockedParents = new Map<string, Set<number>>();
  private readonly namesOf: number[] = [];
  /** The patterns of all sources. */
  private readonly patterns = new RuleIndex<PlacedRule>();
  private readonly countsDropped: boolean;
  private readonly freesImportant: boolean;

  /** `countsDropped` if rows of other sources count although another row made them redundant; `freesImportant` if important rules are freed, too. */
  constructor({ countsDropped = false, freesImportant = false }: FreeingOptions = {}) {
    this.countsDropped = countsDropped;
    this.freesImportant = freesImportant;
  }

  add(source: number, text: string): void {
    const rule = readRule(text);
    // A resolver ignores rules that it cannot read.
    if (rule === undefined) return;
    const scope = nameScope(rule.pattern);
    if (scope !== undefined) {
      this.addScope(source, scope);
      return;
    }
    const exceptions = this.exceptionsOf(source);
    exceptions.hasPatterns = true;
    exceptions.patterns.add({ ...rule, row: 0 });
    this.patterns.add({ ...rule, row: 0 });
  }

  private exceptionsOf(source: number): SourceExceptions {
    let exceptions = this.bySource.get(source);
    if (exceptions === undefined) this.bySource.set(source, (exceptions = new SourceExceptions()));
    return exceptions;
  }

  /** Adds an exception for a name, for all names below it, or for both. */
  addScope(source: number, scope: Pick<NameScope, "name" | "self" | "below">): void {
    const exceptions = this.exceptionsOf(source);
    const known = exceptions.scopes.get(scope.name);
    exceptions.scopes.set(scope.name, {
      self: scope.self || known?.self === true,
      below: scope.below || known?.below === true,
    });
    this.scopeHashes.add(hashOf(scope.name));
    for (const parent of withParents(scope.name).slice(1)) this.parentHashes.add(hashOf(parent));
  }

  /** Takes the names of a chunk, including those that a row of another source made redundant. */
  take(chunk: Chunk, source: number): void {
    for (let row = 0; row < chunk.length; row++) {
      const fate = chunk.fate[row]!;
      const isLive = fate === Fate.Kept;
      const kind = chunk.kind[row]!;
      if (kind < Kind.Hosts || !(isLive || hasCause(fate))) continue;
      const flags = chunk.flags[row]!;
      if ((flags & (Flag.Allow | Flag.Generated)) !== 0) continue;
      const isOdd = (flags & (Flag.UpperHost | Flag.SeveralNames | Flag.NonAscii)) !== 0;
      if (kind === Kind.Rule || isOdd) {
        this.takeText(textOf(chunk, row), source, isLive);
        continue;
      }
      if (isLive) this.count(source);
      if (this.mayConcern(chunk, row))
        this.meet(hostOf(chunk, row), source, isLive, kind === Kind.Block);
    }
  }

  private takeText(text: string, source: number, isLive: boolean): void {
    // Exceptions of untrusted sources never override an important rule.
    const mayBeImportant = !this.freesImportant && text.includes("important");
    if (mayBeImportant && readRule(text)?.isImportant !== false) return;
    const isSubtree = text.trimStart().startsWith("||");
    for (const name of namesOfLine(text)) {
      if (isLive) this.count(source);
      this.meet(name.toLowerCase(), source, isLive, isSubtree);
    }
  }

  private count(source: number): void {
    this.namesOf[source] = (this.namesOf[source] ?? 0) + 1;
  }

  /** Compares hashes of the name and its parents, and literals of patterns, without decoding. */
  private mayConcern(chunk: Chunk, row: number): boolean {
    const { scopeHashes, parentHashes } = this;
    const bytes = chunk.bytesOf(row);
    const start = chunk.hostStart[row]!;
    let labelEnd = chunk.hostEnd[row]!;
    let state = HASH_SEED;
    for (let at = labelEnd - 1; at >= start; at--) {
      if (bytes[at] !== DOT) continue;
      state = hashLabel(state, bytes, at + 1, labelEnd);
      if (scopeHashes.has(hashEnd(state))) return true;
      labelEnd = at;
    }
    const hash = hashEnd(hashLabel(state, bytes, start, labelEnd));
    if (scopeHashes.has(hash) || parentHashes.has(hash)) return true;
    return !this.patterns.isEmpty && this.patterns.mayMatchBytes(bytes, start, chunk.hostEnd[row]!);
  }

  private meet(name: string, source: number, isLive: boolean, isSubtree: boolean): void {
    for (const [judged, exceptions] of this.bySource)
      if (judged === source || isLive || this.countsDropped)
        if (exceptions.matches(name))
          (judged === source ? exceptions.own : exceptions.others).add(name);
    if (!isSubtree || !this.parentHashes.has(hashOf(name))) return;
    const sources = this.blockedParents.get(name) ?? new Set();
    this.blockedParents.set(name, sources.add(source));
  }

  /** The names that each source's exceptions free, and the name count of the others. */
  *results(): Generator<{ source: number; freed: string[]; names: number }> {
    const all = this.namesOf.reduce((sum, count) => sum + (count ?? 0), 0);
    for (const [source, exceptions] of this.bySource) {
      const { others, own, scopes } = exceptions;
      for (const name of scopes.keys())
        for (const parent of withParents(name).slice(1))
          for (const blocker of this.blockedParents.get(parent) ?? [])
            (blocker === source ? own : others).add(name);
      const freed = [...others].filter((name) => !own.has(name));
      yield { source, freed, names: all - (this.namesOf[source] ?? 0) };
    }
  }
}

function hashOf(name: string): number {
  const bytes = encodeUtf8(name);
  return hashName(bytes, 0, bytes.length);
}
