import { decodeUtf8, encodeUtf8 } from "../bytes/utf8.ts";
import { Fate } from "../rules/fate.ts";
import { BROWSER_MODIFIERS, parseAdblockRule } from "./adblock-rule.ts";
import { matchesTooMany } from "./sample-names.ts";
import { hostsLine, nextName, readHostsLine } from "./hosts-line.ts";
import { quickAscii } from "./idna.ts";
import { isForAddress, matchesPattern, patternParts } from "./name-pattern.ts";
import { isWholeSuffix, judgeBreadth } from "./pattern-breadth.ts";
import { isLinearRegex, isRegexText, nameRegex, scriptRegex } from "./regex-rule.ts";
import { WidthTrial } from "./width-trial.ts";
import { withoutEnd } from "./without-end.ts";

/** Sources that are not fully trusted: what they may do. */
export interface TrustLimits {
  /** No exceptions, and nothing that is for some clients or stands above other rules. */
  readonly onlyBlocks: boolean;
}

const NO_SUFFIX = { allowIp: true, allowPublicSuffix: false };
const ABOVE_OTHERS = new Set(["important", "client", "ctag"]);
/** All that these sources may say: modifiers of DNS filtering, and those of browsers that RemoveModifiers takes off. */
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
/** Each takes milliseconds to look at. */
const MOST_REGEXES = 300;

/** Judges rules, as text, of one source that is not fully trusted. */
export class TrustJudge {
  private readonly limits: TrustLimits;
  private regexes = 0;
  /** What trying its rules has taken so far; also for names of its hosts lines. */
  readonly trial: WidthTrial = new WidthTrial();

  constructor(limits: TrustLimits) {
    this.limits = limits;
  }

  /** Why a line that is more than a name is not taken from this source, or `Fate.Live`. */
  judge(line: string): Fate {
    const text = plainText(line);
    for (const form of [line.trim(), text]) {
      const hosts = judgeHostsText(form, this.trial);
      if (hosts !== undefined) return hosts;
    }
    const rule = parseAdblockRule(text);
    if (rule === undefined) return Fate.BadSyntax;
    const pattern = rule.pattern.trim();
    // Modifiers before modifiers: some passes, or resolvers, would see the first ones.
    if (!isRegexText(pattern) && pattern.includes("$")) return Fate.BadSyntax;
    for (const { name, value } of rule.modifiers) {
      // Engines differ in what an escape in a list of names is.
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
      // As it is written, and as it may be after other passes.
      const written = parseAdblockRule(line)?.pattern.trim() ?? "";
      for (const regex of [written, pattern])
        if (!isLinearRegex(regex.slice(1, -1))) return Fate.SlowRegex;
    } else if (isForAddress(pattern)) return Fate.BadSyntax;
    // Who blocks a shared host such as github.io may mean it; who frees everything on one does not.
    if (rule.isAllow && isWholeSuffix(hostIn(pattern), true)) return Fate.PublicSuffix;
    return judgePattern(pattern, this.trial, rule.isAllow);
  }
}

/** The pattern without its anchors. */
function hostIn(pattern: string): string {
  return withoutEnd(pattern, "|^").replace(/^[|:/]+/, "");
}

/** Whether a rule, whoever wrote it, is for a whole public suffix or for nearly everything. */
export function isTooWide(line: string): boolean {
  const text = plainText(line);
  const pattern = parseAdblockRule(text)?.pattern ?? "";
  const fate = judgeHostsText(text) ?? judgeOwn(pattern);
  return fate === Fate.PublicSuffix || fate === Fate.TooWide;
}

/** Strangers' rules were judged before; of one's own only what is far too wide is of interest, and that is cheap to see. */
function judgeOwn(pattern: string): Fate {
  if (!isRegexText(pattern)) return judgePattern(pattern);
  const source = pattern.slice(1, -1);
  const test = scriptRegex(source) ?? nameRegex(source, false);
  return test !== undefined && matchesTooMany(test) ? Fate.TooWide : Fate.Live;
}

const ONE_NAME = /^\|\|(?:[a-z0-9_][a-z0-9_-]*\.)+[a-z0-9_][a-z0-9_-]*\^$/i;

/** Verdict on a pattern, or an expression; without a trial only on what is far too wide. */
function judgePattern(written: string, trial?: WidthTrial, isAllow = false): Fate {
  if (isRegexText(written)) return trial?.judgeRegex(written.slice(1, -1), isAllow) ?? Fate.Live;
  const pattern = withoutNote(written);
  if (isWholeSuffix(hostIn(pattern))) return Fate.PublicSuffix;
  const parts = patternParts(pattern);
  // A pattern that no name can match blocks nothing, whatever else is wrong with it.
  if (parts === undefined) return Fate.Live;
  if (trial !== undefined) {
    const fate = trial.judgePattern(parts, isAllow);
    if (fate !== Fate.Live) return fate;
  } else {
    const texts = parts.parts.filter((part) => part !== "");
    if (matchesTooMany((name) => matchesPattern(name, parts), texts)) return Fate.TooWide;
  }
  // What else can be wrong with a pattern cannot be with one name.
  return ONE_NAME.test(pattern) ? Fate.Live : judgeBreadth(pattern, NO_SUFFIX, false);
}

/** A note behind a name, and dots behind it, are taken away by other passes or by resolvers. */
function withoutNote(written: string): string {
  const note = written.search(/\s#/);
  const pattern = note === -1 ? written : written.slice(0, note).trimEnd();
  const name = withoutEnd(pattern, "|^");
  return withoutEnd(name, ".") + pattern.slice(name.length);
}

/** The line as later passes may make it: without outer blanks and invisible characters, in ASCII where that can be. */
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
      // Whole runs first: looking for the letter from every place of a long run takes for ever.
      .replace(/(?:[\p{L}\p{N}_-]|[^\u0000-\u007f])+/gu, (run) =>
        run.replace(/[\p{L}\p{N}_-]*[^\u0000-\u007f][\p{L}\p{N}_-]*/gu, quickAscii),
      )
  );
}

/** Verdict on a line that reads as a hosts line, now or when it is trimmed; undefined for any other. */
function judgeHostsText(text: string, trial?: WidthTrial): Fate | undefined {
  // No address begins with these, and nearly all rules do.
  if ("|@/*.-".includes(text[0] ?? "|")) return undefined;
  const bytes = encodeUtf8(text);
  if (!readHostsLine(bytes, 0, bytes.length)) return undefined;
  if (!hostsLine.isSinkhole) return Fate.RealAddress;
  do {
    const { nameStart, nameEnd } = hostsLine;
    if (isWideName(decodeUtf8(bytes, nameStart, nameEnd), trial)) return Fate.PublicSuffix;
  } while (nextName(bytes));
  return Fate.Live;
}

/** Whether a name of a hosts line, which may be anything, would be too much as `||name^`. */
export function isWideName(name: string, trial: WidthTrial = new WidthTrial()): boolean {
  if (/^[a-z0-9_.-]+$/i.test(name)) return isWholeSuffix(name);
  const plain = plainText(name);
  // What no name is made of has a meaning of its own in a rule.
  return !/^[a-z0-9_.*-]+$/i.test(plain) || judgePattern(`||${plain}^`, trial) !== Fate.Live;
}
