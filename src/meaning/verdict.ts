import { hashText } from "../bytes/hash.ts";
import { CARET, DOLLAR } from "../bytes/text.ts";
import { HashFilter, type RowFinder } from "../kernel/rows.ts";
import { type Chunk, Flag, Kind, hostOf, textOf } from "../rules/chunk.ts";
import { withParents } from "../syntax/public-suffix.ts";
import { isRegexText, nameRegex } from "../syntax/regex-rule.ts";
import { NamesByText } from "../syntax/sample-names.ts";
import { foldedName, namesOfRow, writtenName } from "./line.ts";
import { RuleIndex, textsOf } from "./rule-index.ts";
import { ADDRESS_TYPES, type Rule, patternTest, readRule } from "./rule.ts";
import type { Verdict } from "../documents/facts.ts";

/** The properties that decide between matching rules; see `Rule`. */
interface Weight {
  readonly isAllow?: boolean;
  readonly isImportant?: boolean;
  readonly isPartial?: boolean;
  readonly rewrite?: string | undefined;
}

/**
 * The precedence of rules, lowest first. Odd levels block, even ones allow. A rewrite wins over all others. A format that cannot
 * express its answer must not block the name. Larger even numbers are answers that a format can express (`formats/rewrites`).
 */
export const Level = {
  None: 0,
  Block: 1,
  Allow: 2,
  ImportantBlock: 3,
  ImportantAllow: 4,
  Rewrite: 6,
} as const;
export type Level = (typeof Level)[keyof typeof Level];

export function isBlockLevel(level: number): boolean {
  return level % 2 === 1;
}

export function isAllowLevel(level: number): boolean {
  return level !== Level.None && level % 2 === 0;
}

export function isImportantLevel(level: number): boolean {
  return level >= Level.ImportantBlock;
}

export function stronger(a: Level, b: Level): Level {
  return a > b ? a : b;
}

/** Without the names of `Level`, because the page of the report contains the text of this function. */
export function levelOf({ isAllow, isImportant, rewrite }: Weight): Level {
  if (rewrite !== undefined) return 6;
  if (isImportant) return isAllow ? 4 : 3;
  return isAllow ? 2 : 1;
}

interface RuleVerdict<R> {
  readonly verdict: Verdict;
  /** The deciding rule. */
  readonly by: R | undefined;
}

/**
 * Decides between the rules that match a name, in AdGuard's order, which is that of `Level`: a rewrite counts if no exception
 * cancels it. A rule for some clients or query types does not decide for the others.
 * Lines that are plain names come last: they block names that no rule decides.
 */
export function decide<R extends Weight>(matching: readonly R[]): RuleVerdict<R> {
  return decideAmong(matching.filter(({ isPartial }) => isPartial !== true));
}

/** The same for rules that apply to all clients and questions. */
export function decideAmong<R extends Weight>(whole: readonly R[]): RuleVerdict<R> {
  const rewrite = liveRewrite(whole);
  if (rewrite !== undefined) return { verdict: "rewritten", by: rewrite };
  const by = strongest(whole.filter((rule) => rule.rewrite === undefined));
  if (by === undefined) return { verdict: "neither", by };
  return { verdict: by.isAllow ? "allowed" : "blocked", by };
}

/** Who cannot reach a name. */
interface Blocking<R> {
  /** A rule that blocks it. */
  readonly by: R;
  /** Whether no client gets an address. Otherwise some clients, or some types of questions, are blocked. */
  readonly isForAll: boolean;
}

type Reach = Weight & Partial<Pick<Rule, "isForSomeClients" | "addressTypes">>;

/**
 * Whether rules block or rewrite a name: a question for an address, of any client. Rules for other questions, such as
 * `$dnstype=TXT`, do not. `plain` is the line that is only this name or a parent, if there is one. Which clients a rule is for
 * is not known: a block for some counts, and an exception for some does not, but the opposite holds for `isForAll`.
 */
function blockingOf<R extends Reach>(
  matching: readonly R[],
  plain: R | undefined,
): Blocking<R> | undefined {
  // The common case.
  if (matching.length === 0) return plain && { by: plain, isForAll: true };
  const deciding = (type: (typeof ADDRESS_TYPES)[number], isForAll: boolean): R | undefined => {
    const { by = plain, verdict } = decideAmong(
      matching.filter(
        ({ addressTypes = ADDRESS_TYPES, isForSomeClients = false, isAllow = false }) =>
          addressTypes.includes(type) && !(isForSomeClients && isAllow !== isForAll),
      ),
    );
    return verdict === "allowed" ? undefined : by;
  };
  const rules = ADDRESS_TYPES.map((type) => deciding(type, false));
  const by = rules.find((rule) => rule !== undefined);
  if (by === undefined) return undefined;
  return {
    by,
    isForAll: deciding("A", true) !== undefined && deciding("AAAA", true) !== undefined,
  };
}

/**
 * The first `$dnsrewrite` rule that applies. An exception with `$dnsrewrite` cancels all rewrites, or those with its value;
 * important ones only if it is important itself. An exception without `$dnsrewrite` cancels no rewrites.
 */
export function liveRewrite<R extends Weight>(rules: readonly R[]): R | undefined {
  const exceptions = rules.filter(
    ({ rewrite, isAllow }) => rewrite !== undefined && isAllow === true,
  );
  return rules.find(
    ({ rewrite, isAllow, isImportant }) =>
      rewrite !== undefined &&
      isAllow !== true &&
      !exceptions.some((one) =>
        cancelsRewrite(one, { rewrite, isImportant: isImportant === true }),
      ),
  );
}

/** Whether an exception with `$dnsrewrite` cancels a rewrite, for names that both match. */
export function cancelsRewrite(
  exception: Weight,
  { rewrite, isImportant }: Pick<Weight, "rewrite" | "isImportant">,
): boolean {
  if (exception.isAllow !== true || exception.rewrite === undefined) return false;
  if (isImportant === true && exception.isImportant !== true) return false;
  return exception.rewrite === "" || exception.rewrite === rewrite;
}

/** The first of the rules with the highest level. */
export function strongest<R extends Weight>(rules: readonly R[]): R | undefined {
  let best: R | undefined;
  for (const rule of rules) if (best === undefined || levelOf(rule) > levelOf(best)) best = rule;
  return best;
}

/** A rule that affects a watched name. */
export interface WatchedRule {
  readonly text: string;
  /** Row number in the whole compile. */
  readonly row: number;
  /** The name that it is for, if it is a plain name. */
  readonly name?: string;
  /** Whether it blocks only for some clients or query types. */
  readonly isForSome?: boolean;
}

interface NameVerdict {
  readonly name: string;
  /** Blocked or rewritten, for at least some clients or query types. */
  readonly isBlocked: boolean;
  /** The deciding rule: the one that blocks the name, or the exception. */
  readonly by: WatchedRule;
}

/** A watched name that rules block. */
export interface BlockedName extends Blocking<WatchedRule> {
  readonly name: string;
}

export type RowTest = (chunk: Chunk, row: number) => boolean;

/** Names and their parents by hash, and a filter, because almost no row matches. */
interface WatchedNames {
  readonly names: readonly string[];
  readonly byHash: ReadonlyMap<number, readonly string[]>;
  readonly filter: HashFilter;
}

/** So many names are kept for the next matcher: several stages of a run watch the names that devices and people need. */
const MOST_KEPT = 5000;
let kept: WatchedNames | undefined;

function watchedNames(names: readonly string[]): WatchedNames {
  const isKept =
    kept?.names.length === names.length &&
    names.every((name, index) => name === kept?.names[index]);
  if (isKept) return kept!;
  const byHash = new Map<number, string[]>();
  const filter = new HashFilter();
  for (const name of new Set(names.flatMap(withParents))) {
    const hash = hashText(name);
    const known = byHash.get(hash);
    if (known === undefined) byHash.set(hash, [name]);
    else known.push(name);
    filter.add(hash);
  }
  const watched = { names, byHash, filter };
  if (names.length <= MOST_KEPT) kept = watched;
  return watched;
}

/** Evaluates the rules of a list for a few names, chunk by chunk. */
export class NameMatcher {
  private readonly names: readonly string[];
  private readonly byHash: WatchedNames["byHash"];
  readonly filter: HashFilter;
  private readonly finder: RowFinder;
  /** Rules for one name, by that name: with and without its subdomains. */
  private readonly subtrees = new Map<string, WatchedRule>();
  private readonly exact = new Map<string, WatchedRule>();
  private readonly rules = new RuleIndex<Rule & WatchedRule>();
  private readonly reader: NameRules;
  private readonly counts: RowTest | undefined;

  /** A guard (`isGuard`) treats an expression that is too slow as a match. Rules for which `counts` is false are ignored. */
  constructor(names: Iterable<string>, finder: RowFinder, isGuard = false, counts?: RowTest) {
    this.finder = finder;
    this.counts = counts;
    this.names = [...new Set(names)];
    this.reader = new NameRules(this.names, isGuard);
    const { byHash, filter } = watchedNames(this.names);
    this.byHash = byHash;
    this.filter = filter;
  }

  /** Takes the live rows of a chunk; `special` are those that are not ordinary names. */
  take(chunk: Chunk, special: Uint32Array = this.finder.special(chunk)): void {
    const { kind, flags } = chunk;
    for (const row of special)
      if (kind[row] === Kind.Rule) {
        // Most rows are rules for one name that is not watched.
        if (!isForHost(chunk, row) || this.filter.has(chunk.hostHash[row]!))
          this.takeRule(chunk, row);
      } else if (kind[row] === Kind.Hosts && (flags[row]! & Flag.SeveralNames) !== 0)
        this.takeHosts(chunk, row);
      else if ((flags[row]! & (Flag.PlainHost | Flag.UpperHost)) !== Flag.PlainHost)
        this.takeOddName(chunk, row);
    // The filter has only 16 bits of a hash. With thousands of names, it lets many rows pass.
    for (const row of this.finder.hashed(chunk, this.filter))
      if (this.byHash.has(chunk.hostHash[row]!)) this.takePlain(chunk, row);
  }

  /** Takes only these rows, by the names that they are for. */
  takeRows(chunk: Chunk, rows: Iterable<number>): void {
    for (const row of rows)
      if (chunk.kind[row] === Kind.Rule) this.takeRule(chunk, row);
      else this.takePlain(chunk, row);
  }

  private takePlain(chunk: Chunk, row: number): void {
    const kind = chunk.kind[row];
    if (kind === Kind.Block) this.takeName(chunk, row, hostOf(chunk, row), true);
    else if (kind === Kind.Hosts || kind === Kind.Domain)
      this.takeName(chunk, row, hostOf(chunk, row), false);
  }

  private takeName(chunk: Chunk, row: number, host: string, isSubtree: boolean): void {
    const name = host.toLowerCase();
    const rules = isSubtree ? this.subtrees : this.exact;
    if (rules.has(name) || this.counts?.(chunk, row) === false) return;
    rules.set(name, { text: textOf(chunk, row), row: chunk.idOf(row), name });
  }

  /** The row's hash is of the name as written; watched names are in lower-case ASCII. */
  private takeOddName(chunk: Chunk, row: number): void {
    if (chunk.kind[row]! < Kind.Hosts) return;
    const name = foldedName(hostOf(chunk, row));
    if (this.isWatched(name)) this.takeName(chunk, row, name, chunk.kind[row] === Kind.Block);
  }

  private isWatched(name: string): boolean {
    return this.byHash.get(hashText(name))?.includes(name) === true;
  }

  private takeHosts(chunk: Chunk, row: number): void {
    for (const name of namesOfRow(chunk, row))
      if (this.isWatched(name)) this.takeName(chunk, row, name, false);
  }

  private takeRule(chunk: Chunk, row: number): void {
    const text = textOf(chunk, row).trim();
    if (this.rules.cancel(text)) return;
    const written = writtenName(text);
    if (written !== undefined) {
      if (this.isWatched(written)) this.takeName(chunk, row, written, false);
      return;
    }
    const rule = this.reader.read(text)?.rule;
    if (rule === undefined || this.counts?.(chunk, row) === false) return;
    const isForSome = rule.isPartial;
    // A block for some clients or query types counts in `decide`. Such an exception does not unblock the name for the others.
    const isPartial = isForSome && rule.isAllow;
    this.rules.add({ ...rule, isPartial, isForSome, row: chunk.idOf(row) });
  }

  /** The names that a rule may match. */
  private get candidates(): readonly string[] {
    return this.subtrees.size + this.exact.size === 0 && this.rules.isEmpty ? [] : this.names;
  }

  /** The verdict for every name that a rule matches. */
  *verdicts(): Generator<NameVerdict> {
    for (const name of this.candidates) {
      const { by, verdict } = decide(this.rules.matching(name));
      const rule = by ?? this.plainRule(name);
      if (rule !== undefined) yield { name, isBlocked: verdict !== "allowed", by: rule };
    }
  }

  /** The names that clients cannot reach, as far as the rules know. */
  *blocked(): Generator<BlockedName> {
    for (const name of this.candidates) {
      const blocking = blockingOf<Partial<Rule> & WatchedRule>(
        this.rules.matching(name),
        this.plainRule(name),
      );
      if (blocking !== undefined) yield { name, ...blocking };
    }
  }

  /** All active rules that match a name, except exceptions for some clients or query types. */
  matching(name: string): readonly (Partial<Rule> & WatchedRule)[] {
    const plain = this.plainRule(name);
    const rules = this.rules.matching(name).filter(({ isPartial }) => !isPartial);
    return plain === undefined ? rules : [...rules, plain];
  }

  private plainRule(name: string): WatchedRule | undefined {
    if (this.subtrees.size > 0)
      for (const parent of withParents(name)) {
        const rule = this.subtrees.get(parent);
        if (rule !== undefined && !this.rules.isCancelled(rule.text)) return rule;
      }
    return this.exact.get(name);
  }
}

/** Whether a rule reads `||host^` or `@@||host^`, with optional modifiers, and the name is in lower-case ASCII. */
export function isForHost(chunk: Chunk, row: number): boolean {
  const end = chunk.hostEnd[row]!;
  if (chunk.hostStart[row] === end) return false;
  if ((chunk.flags[row]! & (Flag.UpperHost | Flag.NonAscii)) !== 0) return false;
  const bytes = chunk.bytesOf(row);
  if (bytes[end] !== CARET) return false;
  return end + 1 === chunk.end[row] || bytes[end + 1] === DOLLAR;
}

/** Reads rules that match one of a few names. Most patterns contain a text that none of the names contains. */
export class NameRules {
  private readonly names: readonly string[];
  private readonly isGuard: boolean;
  private byText: NamesByText | undefined;

  /** A guard (`isGuard`) treats an expression that is too slow as a match. */
  constructor(names: readonly string[], isGuard: boolean) {
    this.names = names;
    this.isGuard = isGuard;
  }

  /** The rule and the names that it matches; undefined if it matches none. */
  read(text: string): { readonly rule: Rule; readonly names: readonly string[] } | undefined {
    let candidates: readonly string[] = [];
    const rule = readRule(text, (pattern) => {
      this.byText ??= new NamesByText(this.names);
      candidates = this.byText.candidates(textsOf(pattern));
      if (candidates.length === 0) return undefined;
      return this.isGuard && isRegexText(pattern)
        ? nameRegex(pattern.slice(1, -1), true)
        : patternTest(pattern);
    });
    if (rule === undefined) return undefined;
    const names = candidates.filter((name) => rule.matches(name));
    return names.length === 0 ? undefined : { rule, names };
  }
}
