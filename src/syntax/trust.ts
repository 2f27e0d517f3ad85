import { decodeUtf8, encodeUtf8 } from "../bytes/utf8.ts";
import { Fate } from "../rules/fate.ts";
import { BROWSER_MODIFIERS, parseAdblockRule } from "./adblock-rule.ts";
import { matchesManyNames } from "./sample-names.ts";
import { hostsLine, nextName, readHostsLine } from "./hosts-line.ts";
import { quickAscii } from "./idna.ts";
import { type NameTest, isForAddress, matchesPattern, patternParts } from "./name-pattern.ts";
import { isWholeSuffix, judgeBreadth } from "./pattern-breadth.ts";
import { isRegexText, nameRegex, scriptRegex } from "./regex-rule.ts";
import { regexTexts } from "./regex-texts.ts";
import { WidthTrial } from "./width-trial.ts";
import { withoutEnd } from "./without-end.ts";

/** Restrictions for sources that are not fully trusted. */
export interface TrustLimits {
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
