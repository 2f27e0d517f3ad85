import { Fate } from "../rules/fate.ts";
import { type ValidatorOptions, readHost } from "./host-name.ts";
import { Suffix, isListedSuffix } from "./public-suffix.ts";
import { isRegexText } from "./regex-rule.ts";
import { asciiLabels } from "./written-names.ts";

/** The characters of patterns that can match a host name. */
const NAME_PATTERN = /^[a-z0-9_.*|^-]*$/;

/** Whether an adblock pattern, which is not a regular expression, matches a host name in lower case. */
export type NameTest = (name: string) => boolean;

/** A pattern as a resolver interprets it. The page of the report contains these too, as JSON. */
export interface PatternParts {
  readonly startsAtLabel: boolean;
  readonly startsAtName: boolean;
  readonly endsName: boolean;
  /** The texts between its stars. */
  readonly parts: readonly string[];
}

/**
 * Interprets a pattern as a resolver does: `||` matches at the start of a label, `|` at either end of the name, `^` at the
 * end of the name, `*` matches anything. Without anchors, it matches any part of the name. Undefined if no name can match.
 */
export function namePattern(pattern: string): NameTest | undefined {
  const read = patternParts(pattern);
  return read === undefined ? undefined : (name) => matchesPattern(name, read);
}

/** The pattern as a regular expression, for other software. It may be slow: do not match with it here. */
export function patternExpression(pattern: string): string | undefined {
  const read = patternParts(pattern);
  if (read === undefined) return undefined;
  const { startsAtLabel, startsAtName, endsName, parts } = read;
  const start = startsAtLabel ? "(?:^|\\.)" : startsAtName ? "^" : "";
  const body = parts.map((part) => part.replaceAll(".", "\\.")).join(".*");
  return `${start}${body}${endsName ? "$" : ""}`;
}

export function patternParts(pattern: string): PatternParts | undefined {
  const text = withoutScheme(pattern.toLowerCase());
  if (!NAME_PATTERN.test(text)) return undefined;
  const startsAtLabel = text.startsWith("||");
  const startsAtName = !startsAtLabel && text.startsWith("|");
  const body = text.slice(startsAtLabel ? 2 : startsAtName ? 1 : 0);
  const end = endOfName(body);
  const inner = end === -1 ? body : body.slice(0, end);
  // A bar that is not an anchor is an ordinary character, which names never contain.
  if (/[|^]/.test(inner) || body.slice(0, -1).includes("|")) return undefined;
  const parts = inner.includes("**") ? inner.split(/\*+/) : inner.split("*");
  return { startsAtLabel, startsAtName, endsName: end !== -1, parts };
}

/** Where `^` or `|` marks the end of the name, followed only by these and stars. -1 if there is no such mark. */
function endOfName(body: string): number {
  let end = -1;
  for (let at = body.length - 1; at >= 0; at--) {
    const character = body[at];
    if (character === "|" || character === "^") end = at;
    else if (character !== "*") break;
  }
  return end;
}

/** Resolvers match against `http://name`: a scheme, or the `/` of `/ads.`, starts the name, and a final `/*` ends it. */
function withoutScheme(pattern: string): string {
  return pattern
    .replace(/^(?:(?:http)?:\/\/(?![|/])|\/(?=[a-z0-9.-]+\.$))/, "|")
    .replace(/\/\*$/, "^");
}

/**
 * Whether engines interpret a pattern differently: some match it against `http://name/`, where `||name/` matches one name
 * and `http*` matches every name.
 */
export function isForAddress(pattern: string): boolean {
  const text = pattern.toLowerCase();
  if (/^\|?http(?:[:/*^|]|$)/.test(text) && !/^http:\/\/[^|/]/.test(text)) return true;
  if (!/[:/]/.test(text) || patternParts(text) !== undefined) return false;
  return /^[|:/]*[a-z0-9_.*-]*[/^|*]*$/.test(text);
}

/** Texts that every name which the pattern matches contains. */
export function patternTexts(pattern: string): string[] {
  return withoutScheme(pattern.toLowerCase())
    .split(/[*|^]+/)
    .filter((text) => text !== "");
}

/** Whether a name matches. The report's page contains the source of this function and the next: they only use each other. */
export function matchesPattern(name: string, pattern: PatternParts): boolean {
  if (pattern.startsAtName) return matchesFrom(name, 0, pattern);
  if (!pattern.startsAtLabel) {
    const found = name.indexOf(pattern.parts[0]!);
    if (found === -1) return false;
    if (pattern.parts.length > 1) return matchesFrom(name, found, pattern);
    return !pattern.endsName || name.endsWith(pattern.parts[0]!);
  }
  for (let at = 0; ;) {
    if (matchesFrom(name, at, pattern)) return true;
    const dot = name.indexOf(".", at);
    if (dot === -1) return false;
    at = dot + 1;
  }
}

/** Matches the parts in order, each as early as possible, and the last at the end of the name if `endsName` is set. */
export function matchesFrom(name: string, from: number, pattern: PatternParts): boolean {
  const { parts, endsName } = pattern;
  if (!name.startsWith(parts[0]!, from)) return false;
  let at = from + parts[0]!.length;
  const last = parts.length - 1;
  if (last === 0) return !endsName || at === name.length;
  for (let part = 1; part < last; part++) {
    const found = name.indexOf(parts[part]!, at);
    if (found === -1) return false;
    at = found + parts[part]!.length;
  }
  if (!endsName) return name.includes(parts[last]!, at);
  return name.length - parts[last]!.length >= at && name.endsWith(parts[last]!);
}

/**
 * Judges how many names a pattern with wildcards, or without a clear end, matches. It judges the literal part like a host:
 * `||org`, `*.org` and `||**.org^` all match every name under `org`.
 */
export function judgeBreadth(pattern: string, options: ValidatorOptions, isLimited: boolean): Fate {
  const body = pattern.replace(/^(?::[:/]*|\|+)/, "");
  const end = body.search(/[\^|]/);
  const host = end === -1 ? body : body.slice(0, end);
  const hasText = /\w[^]*?\w/.test(host);
  // In `||ads.` and `||example.*`, the last literal label is not a top-level domain.
  const endsInSuffix = !/[.*]$/.test(host) || isBetweenWildcards(host);
  if (hasText && !endsInSuffix) return Fate.Kept;
  const literal = host
    .replaceAll("*", "")
    .split(".")
    .filter((label) => label !== "")
    .join(".");
  const name = readHost(literal);
  const isListed = name?.kind === Suffix.Icann;
  if (isListed && endsInSuffix && name.isSuffix)
    return options.allowPublicSuffix || isLimited ? Fate.Kept : Fate.PublicSuffix;
  return isListed || hasText ? Fate.Kept : Fate.TooWide;
}

/**
 * In a browser, `||roblox.com.$all` blocks look-alikes such as `roblox.com.evil.example`. Without the modifier, a resolver
 * may read it as `roblox.com` itself.
 */
export function isBareDomainPrefix(line: string): boolean {
  const read = patternParts(line.trim());
  const [text = "", ...more] = read?.parts ?? [];
  if (read?.startsAtLabel !== true || read.endsName || more.length > 0) return false;
  const name = text.endsWith(".") ? text.slice(0, -1) : "";
  return name.includes(".") && readHost(name)?.kind === Suffix.Icann;
}

/**
 * Whether a name, in any form, is a whole public suffix such as `com` or `co.uk`. With `isShared`, also a suffix that a
 * company shares with its users, such as `github.io`.
 */
export function isWholeSuffix(name: string, isShared = false): boolean {
  const bare = withoutEnd(name.toLowerCase().replace(/^[*.]+/, ""), ".");
  if (bare.includes("*")) return false;
  const host = readHost(bare, isShared);
  if (host?.isSuffix !== true) return false;
  if (host.kind === Suffix.Private) return true;
  return host.kind === Suffix.Icann && isListedSuffix(asciiLabels(host.hostname));
}

/** `*.com.*` matches every name with `com` in the middle. */
function isBetweenWildcards(host: string): boolean {
  return /^\*+\./.test(host) && /\.\*+$/.test(host);
}

/** Removes trailing marks from a text. An expression such as `/[|^]+$/` would take quadratic time. */
export function withoutEnd(text: string, marks: string): string {
  let end = text.length;
  while (end > 0 && marks.includes(text[end - 1]!)) end--;
  return text.slice(0, end);
}

/** What a pattern or a regular expression reveals about the ends of the names that it matches. */
interface PatternEnd {
  /** The common end of all names, or the intended one. It contains a dot; "" if unknown. */
  readonly end: string;
  /** Whether every name that the pattern matches has that end. */
  readonly isSure: boolean;
}

const NO_END: PatternEnd = { end: "", isSure: false };

/**
 * `|a*.name.example^` matches names that end with `.name.example`. `||name.example` and `/\.name.example/` are intended
 * for that domain, but they also match `name.example.other.example`.
 */
export function endOfPattern(pattern: string): PatternEnd {
  if (isRegexText(pattern)) return expressionEnd(pattern.slice(1, -1));
  const read = patternParts(pattern);
  const end = read?.parts.at(-1) ?? "";
  if (read?.endsName !== true) return meantEnd(end);
  return end.includes(".") ? { end, isSure: true } : NO_END;
}

function meantEnd(text: string): PatternEnd {
  const end = /(?:[a-z0-9_-]*\.)+[a-z][a-z0-9-]+$/.exec(text)?.[0];
  return end === undefined ? NO_END : { end, isSure: false };
}

function expressionEnd(source: string): PatternEnd {
  if (hasAlternatives(source)) return NO_END;
  // Authors nearly always mean a literal dot.
  if (!source.endsWith("$")) return meantEnd(source.replaceAll("\\.", ".").toLowerCase());
  const end = /(?<![\\[{][a-z0-9-]*)(?:[a-z0-9-]|\\\.)+\$$/i.exec(source)?.[0].slice(0, -1);
  const text = end?.replaceAll("\\.", ".").toLowerCase() ?? "";
  return text.includes(".") ? { end: text, isSure: true } : NO_END;
}

/** Whether an expression has alternatives outside of its groups. */
function hasAlternatives(source: string): boolean {
  let depth = 0;
  const bare = source.replace(/\\./g, "x").replace(/\[\^?\]?[^\]]*\]/g, "x");
  for (const character of bare)
    if (character === "(") depth++;
    else if (character === ")") depth--;
    else if (character === "|" && depth === 0) return true;
  return false;
}

const WORD = /[a-z0-9-]{4,}/g;

/** Words of a pattern that indicate which names it matches. */
export function patternWords(pattern: string): string[] {
  const bare = isRegexText(pattern)
    ? pattern
        .replace(/\\[a-z]/gi, ".")
        .replace(/\[\^?\]?[^\]]*\]/g, ".")
        .replace(/\{[^}]*\}/g, ".")
    : pattern;
  return bare.toLowerCase().match(WORD) ?? [];
}
