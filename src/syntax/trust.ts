import { decodeUtf8, encodeUtf8 } from "../bytes/text.ts";
import { Fate } from "../rules/fate.ts";
import { BROWSER_MODIFIERS, parseAdblockRule } from "./adblock-rule.ts";
import { readHost } from "./host-name.ts";
import { hostsLine, isIpv4Text, isIpv6Text, nextName, readHostsLine } from "./hosts-line.ts";
import {
  type NameTest,
  type PatternParts,
  isForAddress,
  isWholeSuffix,
  judgeBreadth,
  matchesPattern,
  patternParts,
  withoutEnd,
} from "./name-pattern.ts";
import { icannRules, privateRules } from "./public-suffix-list.ts";
import {
  type LinearRegex,
  isJavaScript,
  isPortable,
  isRegexText,
  limitedTest,
  linearRegex,
  nameRegex,
  regexCost,
  regexTexts,
  scriptRegex,
} from "./regex-rule.ts";
import { NamesByText, matchesManyNames, sampleHits, sampleSize } from "./sample-names.ts";
import { type AllowEntry, quickAscii, writtenEntry } from "./written-names.ts";

/** Restrictions for sources that are not fully trusted. */
interface TrustLimits {
  /** Whether to reject exceptions, rules for some clients, and rules that override others. */
  readonly onlyBlocks: boolean;
}

const NO_SUFFIX = { allowIp: true, allowPublicSuffix: false };
const ABOVE_OTHERS = new Set(["important", "client", "ctag"]);
/** The modifiers that these sources may use: those of DNS filtering, and browser modifiers that RemoveModifiers removes. */
const MODIFIERS = new Set([
  ...ABOVE_OTHERS,
  ...BROWSER_MODIFIERS,
  "dnstype",
  "denyallow",
  "dnsrewrite",
  "badfilter",
]);
/** `##`, `#@#`, `#$#` and the like: a rule for browsers. */
const BROWSER_RULE = /#[@$?%]*#/;
/** A limit, because judging each takes milliseconds. */
const MOST_REGEXES = 300;

/** Judges the rules, as text, of one source that is not fully trusted. */
export class TrustJudge {
  private readonly limits: TrustLimits;
  private regexes = 0;
  /** Counts the cost of judging its rules, and the names of its hosts lines. */
  readonly trial: WidthTrial = new WidthTrial();

  constructor(limits: TrustLimits) {
    this.limits = limits;
  }

  /** Why this source must not contain the line, or `Fate.Kept`. For lines that are more than a name. */
  judge(line: string): Fate {
    const text = plainText(line);
    for (const form of [line.trim(), text]) {
      const hosts = judgeHostsText(form, this.trial);
      if (hosts !== undefined) return hosts;
    }
    const rule = parseAdblockRule(text);
    if (rule === undefined) return Fate.BadSyntax;
    const pattern = rule.pattern.trim();
    // Two groups of modifiers: some passes or resolvers would read the first one.
    if (!isRegexText(pattern) && pattern.includes("$")) return Fate.BadSyntax;
    for (const { name, value } of rule.modifiers) {
      // Engines interpret escapes in a list of names differently.
      if (name !== "client" && name !== "ctag" && value?.includes("\\") === true)
        return Fate.BadSyntax;
      if (!MODIFIERS.has(name)) return BROWSER_RULE.test(text) ? Fate.BadSyntax : Fate.BadModifier;
      if (name === "dnsrewrite") return Fate.Rewrites;
      if (name === "badfilter") return Fate.Cancels;
      if (this.limits.onlyBlocks && ABOVE_OTHERS.has(name)) return Fate.NotBlockOnly;
    }
    if (this.limits.onlyBlocks && rule.isAllow) return Fate.NotBlockOnly;
    if (isRegexText(pattern)) {
      if (++this.regexes > MOST_REGEXES) return Fate.SlowRegex;
      // Other passes may change the text, or keep it.
      const written = parseAdblockRule(line)?.pattern.trim() ?? "";
      if (written !== pattern && this.trial.compile(written.slice(1, -1)) === undefined)
        return Fate.SlowRegex;
    } else if (isForAddress(pattern)) return Fate.BadSyntax;
    // A rule may block a shared host such as github.io on purpose, but must not allow everything on it.
    if (rule.isAllow && isWholeSuffix(hostIn(pattern), true)) return Fate.PublicSuffix;
    return judgePattern(pattern, this.trial, rule.isAllow);
  }
}

/** The pattern without its anchors. */
function hostIn(pattern: string): string {
  return withoutEnd(pattern, "|^").replace(/^[|:/]+/, "");
}

/** Whether a rule from any source matches a whole public suffix or nearly everything. */
export function isTooWide(line: string): boolean {
  const text = plainText(line);
  const pattern = parseAdblockRule(text)?.pattern ?? "";
  const fate = judgeHostsText(text) ?? judgeOwn(pattern);
  return fate === Fate.PublicSuffix || fate === Fate.TooWide;
}

/** `TrustJudge` already judged untrusted rules. Trusted rules only need a cheap check for far too wide ones. */
function judgeOwn(pattern: string): Fate {
  if (!isRegexText(pattern)) return judgePattern(pattern);
  const source = pattern.slice(1, -1);
  let compiled: NameTest | undefined;
  const test = (name: string): boolean => {
    compiled ??= scriptRegex(source) ?? nameRegex(source, false) ?? (() => false);
    return compiled(name);
  };
  return matchesManyNames(test, regexTexts(source)) ? Fate.TooWide : Fate.Kept;
}

const NAME = /^(?:[a-z0-9_][a-z0-9_-]*\.)+[a-z0-9_][a-z0-9_-]*$/;

/** The fate of a pattern or an expression. Without a trial, it only detects far too wide ones. */
function judgePattern(written: string, trial?: WidthTrial, isAllow = false): Fate {
  if (isRegexText(written)) return trial?.judgeRegex(written.slice(1, -1), isAllow) ?? Fate.Kept;
  const pattern = withoutNote(written);
  if (isWholeSuffix(hostIn(pattern))) return Fate.PublicSuffix;
  const parts = patternParts(pattern);
  // It matches no name. Only a pattern without a text matters: a reader that ignores bars takes `**||` for everything.
  if (parts === undefined && written.startsWith("#")) return Fate.BadSyntax;
  if (parts === undefined)
    return judgeBreadth(pattern, NO_SUFFIX, false) === Fate.TooWide ? Fate.TooWide : Fate.Kept;
  if (trial !== undefined) {
    const fate = trial.judgePattern(parts, isAllow);
    if (fate !== Fate.Kept) return fate;
  } else {
    const texts = parts.parts.filter((part) => part !== "");
    if (matchesManyNames((name) => matchesPattern(name, parts), texts)) return Fate.TooWide;
  }
  // The remaining faults cannot occur in a single name.
  const isOneName = parts.startsAtLabel && parts.endsName && parts.parts.length === 1;
  return isOneName && NAME.test(parts.parts[0]!)
    ? Fate.Kept
    : judgeBreadth(pattern, NO_SUFFIX, false);
}

/** Other passes or resolvers remove notes and dots after a name. */
function withoutNote(written: string): string {
  const note = written.search(/\s#/);
  const pattern = note === -1 ? written : written.slice(0, note).trimEnd();
  const name = withoutEnd(pattern, "|^");
  return withoutEnd(name, ".") + pattern.slice(name.length);
}

/** The line as later passes may change it: without outer blanks and invisible characters, in ASCII where possible. */
function plainText(line: string): string {
  const text = line.trim();
  if (!/[^\u0020-\u007e]/.test(text)) return text;
  return (
    text
      .normalize("NFKC")
      .replace(/\p{Default_Ignorable_Code_Point}/gu, "")
      .replace(/[\u3002\uff0e\uff61]/g, ".")
      .replace(/\s+/g, " ")
      .trim()
      // Whole runs first: searching for the letter from every position of a long run takes quadratic time.
      .replace(/(?:[\p{L}\p{N}_-]|[^\u0000-\u007f])+/gu, (run) =>
        run.replace(/[\p{L}\p{N}_-]*[^\u0000-\u007f][\p{L}\p{N}_-]*/gu, quickAscii),
      )
  );
}

/** The fate of a line that is a hosts line, now or after trimming; undefined for any other line. */
function judgeHostsText(text: string, trial?: WidthTrial): Fate | undefined {
  // Nearly all rules begin with one of these characters, and addresses never do.
  if ("|@/*.-".includes(text[0] ?? "|")) return undefined;
  const bytes = encodeUtf8(text);
  if (!readHostsLine(bytes, 0, bytes.length)) return undefined;
  if (!hostsLine.isSinkhole) return Fate.RealAddress;
  do {
    const { nameStart, nameEnd } = hostsLine;
    if (isWideName(decodeUtf8(bytes, nameStart, nameEnd), trial)) return Fate.PublicSuffix;
  } while (nextName(bytes));
  return Fate.Kept;
}

/** Whether a name of a hosts line, which may be any text, would be too wide as `||name^`. */
export function isWideName(name: string, trial: WidthTrial = new WidthTrial()): boolean {
  if (/^[a-z0-9_.-]+$/i.test(name)) return isWholeSuffix(name);
  const plain = plainText(name);
  // Characters that names cannot contain may have a special meaning in a rule.
  return !/^[a-z0-9_.*-]+$/i.test(plain) || judgePattern(`||${plain}^`, trial) !== Fate.Kept;
}

/** A quarter of a second per source; real lists take a tenth. */
const MOST_TESTS = 1_500_000;
/** A pattern that takes this few is always checked. */
const FEW_TESTS = 100;
/** Characters of an expression. The longest in 365 real lists has 196. */
const LONGEST_REGEX = 256;
/** The limit of `LinearRegex.work` for all expressions of a source: a quarter of a second. Those of 365 real lists together take 170,000. */
const MOST_WORK = 200_000;
/** The cost of compiling an instruction, relative to visiting it. */
const COMPILING = 12;
/** All patterns of a source together may match this share of the sample. */
const MOST_TOGETHER = 1 / 200;
/**
 * A pattern that matches no name of the sample counts as this part of one: many of them match much that the sample does not have. Real
 * lists have at most 650 patterns, a third of what this permits.
 */
const UNSEEN = 1 / 20;

type WidthTest = (name: string) => boolean;

/**
 * Measures how many names the patterns of a source match, each and all together, and whether one matches all names under a public suffix.
 * The total cost per source is limited: patterns beyond the limit are rejected.
 */
export class WidthTrial {
  private readonly hits = new Set<string>();
  private unseen = 0;
  private tests = 0;
  private work = 0;

  /** The fate of a pattern that is not a regular expression. */
  judgePattern(pattern: PatternParts, isAllow: boolean): Fate {
    const texts = [...new Set(pattern.parts)].filter((part) => part !== "");
    const fate = this.judge((name) => matchesPattern(name, pattern), texts, isAllow);
    return fate === Fate.Kept && !isInOneDomain(pattern) ? this.count() : fate;
  }

  /** The fate of an expression, as RE2 and as JavaScript read it. */
  judgeRegex(source: string, isAllow: boolean): Fate {
    const regex = this.compile(source);
    if (regex === undefined) return Fate.SlowRegex;
    const { test, isGivenUp } = limitedTest(regex);
    const before = regex.work;
    const texts = regexTexts(source);
    const fate = this.judge(test, texts, isAllow);
    this.work += regex.work - before;
    regex.forget();
    if (isGivenUp()) return Fate.SlowRegex;
    if (fate !== Fate.Kept) return fate;
    if (isPortable(source)) return this.count();
    const script = scriptRegex(source);
    // Engines that read it differently may never finish.
    if (script === undefined && isJavaScript(source)) return Fate.SlowRegex;
    return (script && this.judge(script, texts, isAllow)) || this.count();
  }

  /** The compiled expression. Undefined if it, or all expressions of the source together, cost too much. */
  compile(source: string): LinearRegex | undefined {
    if (source.length > LONGEST_REGEX) return undefined;
    this.work += COMPILING * regexCost(source).instructions;
    return this.work > MOST_WORK ? undefined : linearRegex(source);
  }

  private judge(matches: WidthTest, texts: readonly string[], isAllow: boolean): Fate {
    const most = Math.max(MOST_TESTS, this.tests + FEW_TESTS);
    const test = (name: string): boolean => ++this.tests <= most && matches(name);
    const hits = sampleHits(test, texts);
    if (hits === undefined) return Fate.TooWide;
    if (coversSuffix(test, isAllow, texts)) return Fate.PublicSuffix;
    if (this.tests > most) return Fate.SlowRegex;
    const added = hits.filter((name) => !this.hits.has(name));
    if (!this.hasRoom(added.length)) return Fate.TooWide;
    for (const name of added) this.hits.add(name);
    return Fate.Kept;
  }

  /** Counts one more pattern, whatever it matches. */
  private count(): Fate {
    if (!this.hasRoom(UNSEEN)) return Fate.TooWide;
    this.unseen += UNSEEN;
    return Fate.Kept;
  }

  private hasRoom(more: number): boolean {
    return this.hits.size + this.unseen + more <= sampleSize() * MOST_TOGETHER;
  }
}

/** Whether a pattern matches only names of one registered domain: `||ads*.example.com^`, `|www.example.com^`. */
function isInOneDomain({ parts, endsName, startsAtLabel, startsAtName }: PatternParts): boolean {
  const last = parts.at(-1)!;
  if (!endsName) return false;
  const isWhole = parts.length === 1 && (startsAtLabel || startsAtName);
  const host = isWhole ? last : last.slice(last.indexOf(".") + 1);
  if (!isWhole && !last.includes(".")) return false;
  const read = readHost(host);
  return read !== undefined && !read.isSuffix && host.includes(".");
}

/** Labels that do not exist, and that patterns do not target. */
const LABELS = ["zq7xkv", "w3vbjy"] as const;
/** The only text that both labels contain. */
const IN_BOTH = "v";

type SuffixTest = (name: string) => boolean;

/** Suffixes, each with a leading dot. */
interface Suffixes {
  readonly all: readonly string[];
  index?: NamesByText;
}

let listed: Suffixes | undefined;
let shared: Suffixes | undefined;

function suffixesIn(rules: string): Suffixes {
  const all = rules
    .split(" ")
    .filter((rule) => rule !== "" && !rule.startsWith("!"))
    .map((rule) => (rule.startsWith("*.") ? rule.slice(1) : `.${rule}`));
  return { all };
}

/** Suffixes of registries; with `isShared`, also suffixes that companies share with their users. */
function suffixLists(isShared: boolean): readonly Suffixes[] {
  listed ??= suffixesIn(icannRules());
  if (!isShared) return [listed];
  shared ??= suffixesIn(privateRules());
  return [listed, shared];
}

/**
 * Whether a rule matches everything under some public suffix; with `isShared`, also under a shared one. Tests only
 * suffixes that contain all `texts`, without which the rule cannot match. The two labels share one character, so all other texts must be in the suffix or be the dot before it.
 */
function coversSuffix(test: SuffixTest, isShared: boolean, texts: readonly string[] = []): boolean {
  const needed = texts.filter((text) => text !== IN_BOTH);
  for (const suffixes of suffixLists(isShared)) {
    suffixes.index ??= new NamesByText(suffixes.all);
    const some = suffixes.index.candidates(needed);
    if (some.some((suffix) => isCovered(test, suffix))) return true;
  }
  return false;
}

function isCovered(test: SuffixTest, suffix: string): boolean {
  return test(LABELS[0] + suffix) && test(LABELS[1] + suffix);
}

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

/** The meaning of one exclusion or inclusion. */
type FilterEntry =
  | { readonly kind: "regex"; readonly text: string; readonly source: string }
  | { readonly kind: "wildcard"; readonly text: string }
  | { readonly kind: "plain"; readonly text: string }
  /** A rule for names. If `text` is set, it can only mean the name, so lines are searched for it too. */
  | { readonly kind: "names"; readonly text?: string; readonly names: readonly string[] };

/** Parses an entry: `/…/`, a text with `*`, a rule for names, or plain text. */
export function readFilterEntry(text: string): FilterEntry {
  if (text.length > 2 && text.startsWith("/") && text.endsWith("/"))
    return { kind: "regex", text, source: text.slice(1, -1) };
  if (text.includes("*")) return { kind: "wildcard", text };
  const rule = parseAdblockRule(text);
  const pattern = rule?.modifiers.length === 0 ? rule.pattern : "";
  const host = pattern.startsWith("||") && pattern.endsWith("^") ? pattern.slice(2, -1) : "";
  if (/^[^\s^|$/]+$/.test(host)) return { kind: "names", text, names: [host] };
  const [address = "", ...names] = text.split(/\s+/);
  const isHosts = names.length > 0 && (isIpv4Text(address) || isIpv6Text(address));
  // A text search for `0.0.0.0 t.co` would also find `0.0.0.0 t.com`.
  if (isHosts && names.every((name) => /^[^#]+$/.test(name))) return { kind: "names", names };
  return { kind: "plain", text };
}
