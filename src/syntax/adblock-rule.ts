import { decodeUtf8, isDigit } from "../bytes/text.ts";
import { type Chunk, Flag, hostOf } from "../rules/chunk.ts";
import { Fate } from "../rules/fate.ts";
import {
  LABEL,
  PLAIN_DOMAIN,
  type ValidatorOptions,
  isListedName,
  judgeHost,
} from "./host-name.ts";
import { type IpPattern, ipv6Of, parseIpPattern } from "./hosts-line.ts";
import { judgeBreadth } from "./name-pattern.ts";
import { Suffix, publicSuffixKind } from "./public-suffix.ts";
import { regexCompiles } from "./regex-rule.ts";

/** Parses and formats adblock syntax as strings, for the few lines that are more than a name. */

export interface AdblockRule {
  readonly isAllow: boolean;
  readonly pattern: string;
  readonly modifiers: readonly Modifier[];
}

export interface Modifier {
  readonly name: string;
  /** As written, including escapes and further `=`; absent if empty. */
  readonly value?: string;
}

/** Modifiers of browser filters that a DNS rule does not need: only the name matters. */
export const BROWSER_MODIFIERS: ReadonlySet<string> = new Set([
  "third-party",
  "3p",
  "document",
  "doc",
  "all",
  "popup",
  "network",
]);

/** Parses a line; undefined if nothing follows its `@@`. */
export function parseAdblockRule(line: string): AdblockRule | undefined {
  let rest = line.trim();
  const isAllow = rest.startsWith("@@");
  if (isAllow) rest = rest.slice(2);
  if (rest === "") return isAllow ? undefined : { isAllow, pattern: "", modifiers: [] };
  const split = isRegexPattern(rest) ? -1 : modifiersStart(rest);
  if (split === -1) return { isAllow, pattern: rest, modifiers: [] };
  return {
    isAllow,
    pattern: rest.slice(0, split),
    modifiers: parseModifiers(rest.slice(split + 1)),
  };
}

/** `/…/` is a pattern as a whole, including any `$`. Only the value of the modifier `replace=` can end with a slash. */
function isRegexPattern(rule: string): boolean {
  return rule.startsWith("/") && rule.endsWith("/") && !rule.includes("replace=");
}

/** The last `$` that is not escaped by a backslash. A `$` at the very start always counts. */
function modifiersStart(rule: string): number {
  for (let at = rule.lastIndexOf("$"); at !== -1; at = rule.lastIndexOf("$", at - 1)) {
    if (at === 0 || rule[at - 1] !== "\\") return at;
  }
  return -1;
}

/** Splits on commas that are not escaped by a backslash. Skips empty parts. */
function parseModifiers(text: string): Modifier[] {
  const modifiers: Modifier[] = [];
  let start = 0;
  for (let at = 0; at <= text.length; at++) {
    if (at < text.length && (text[at] !== "," || text[at - 1] === "\\")) continue;
    if (at > start) modifiers.push(parseModifier(text.slice(start, at)));
    start = at + 1;
  }
  return modifiers;
}

function parseModifier(part: string): Modifier {
  const equals = part.indexOf("=");
  // Keep escapes in a name, so that parsing the formatted rule yields the same modifiers.
  const name = equals === -1 ? part : part.slice(0, equals);
  const value = equals === -1 ? "" : part.slice(equals + 1);
  return value === "" ? { name } : { name, value };
}

export function formatAdblockRule(rule: AdblockRule): string {
  const modifiers = rule.modifiers.map(({ name, value }) =>
    value === undefined ? name : `${name}=${value}`,
  );
  const tail = modifiers.length === 0 ? "" : `$${modifiers.join(",")}`;
  return `${rule.isAllow ? "@@" : ""}${rule.pattern}${tail}`;
}

/** A valid modifier name, as resolvers write it. */
const MODIFIER_NAME = /^~?[\w-]+$/;

/**
 * The rule without empty modifiers and without blanks around modifiers. Some resolvers read `||a.com^$`, `$,important` and
 * `$ badfilter` as we do; others see a pattern or a modifier that never matches. All read the tidied rule the same way.
 */
export function tidyRule(text: string): string {
  const tidied = tidiedOnce(text);
  // The result may have an empty tail again: `||a.com^$,$`.
  return tidied === text ? text : tidyRule(tidied);
}

function tidiedOnce(text: string): string {
  const rule = parseAdblockRule(text);
  if (rule === undefined || rule.pattern === "") return text;
  const modifiers = rule.modifiers
    .map(({ name, value }) => ({
      name: name.trim(),
      ...(value !== undefined && { value: value.trim() }),
    }))
    .filter(({ name }) => name !== "");
  if (!modifiers.every(({ name }) => MODIFIER_NAME.test(name))) return text;
  return formatAdblockRule({ ...rule, pattern: rule.pattern.trim(), modifiers });
}

/** The fate of a row `||host^`. Creates a string only for unusual hosts. */
export function judgeBlockRow(chunk: Chunk, row: number, options: ValidatorOptions): Fate {
  if (!isPlainName(chunk, row)) return judgeRule(`||${hostOf(chunk, row)}^`, options);
  return judgeSuffix(suffixOf(chunk, row), options);
}

/** The same for a separate name in lower case. */
export function judgeBlockName(
  name: Uint8Array,
  isPlain: boolean,
  options: ValidatorOptions,
): Fate {
  if (!isPlain || isDigit(name[name.length - 1]!))
    return judgeRule(`||${decodeUtf8(name)}^`, options);
  return judgeSuffix(publicSuffixKind(name, 0, name.length), options);
}

/** A host of two or more plain labels that is certainly not an address. It can only be invalid as a public suffix. */
export function isPlainName(chunk: Chunk, row: number): boolean {
  if ((chunk.flags[row]! & Flag.PlainHost) === 0) return false;
  return !isDigit(chunk.bytesOf(row)[chunk.hostEnd[row]! - 1]!);
}

export function suffixOf(chunk: Chunk, row: number): Suffix {
  return publicSuffixKind(chunk.bytesOf(row), chunk.hostStart[row]!, chunk.hostEnd[row]!);
}

export function judgeSuffix(suffix: Suffix, options: ValidatorOptions): Fate {
  return suffix === Suffix.Icann && !options.allowPublicSuffix ? Fate.PublicSuffix : Fate.Kept;
}

export type { ValidatorOptions } from "./host-name.ts";

/** Modifiers that DNS resolvers support. */
const KNOWN_MODIFIERS = new Set([
  "important",
  "~important",
  "dnstype",
  "dnsrewrite",
  "ctag",
  "denyallow",
  "badfilter",
  "client",
]);

/** Modifiers that limit the clients or names that a rule affects. */
const LIMITING_MODIFIERS = new Set(["denyallow", "badfilter", "client"]);

const LABELS = `${LABEL}(?:\\.${LABEL})*`;
/** `||host^` and its variants, with only a name. */
const EXACT_DOMAIN = new RegExp(`^(?:\\|\\|?)?(?:\\*\\.|\\.)?(${LABELS})\\.?\\^\\|?$`);
/** An address with a prefix or suffix that resolvers do not support: `.1.2.3.4`, `1.2.3.4^^`. */
const ADDRESS_INSIDE = /^(?:\|\|?)?(?::\/\/|\*\.|\.)*(\d+(?:\.\d+){3})[\^|]*$/;

const MIN_LENGTH = 5;

/** Why a line, which is not a hosts line, is invalid for a resolver, or `Fate.Kept`. */
export function judgeRule(line: string, options: ValidatorOptions): Fate {
  const rule = parseAdblockRule(line);
  if (rule === undefined) return Fate.BadSyntax;
  if (!rule.modifiers.every(({ name }) => KNOWN_MODIFIERS.has(name))) return Fate.BadModifier;
  return judgePattern(rule, options);
}

function judgePattern({ pattern, modifiers }: AdblockRule, options: ValidatorOptions): Fate {
  const isLimited = modifiers.some(({ name }) => LIMITING_MODIFIERS.has(name));
  const exactHost = EXACT_DOMAIN.exec(pattern)?.[1];
  if (pattern.length < MIN_LENGTH && exactHost === undefined && !PLAIN_DOMAIN.test(pattern))
    return Fate.TooShort;
  if (pattern.startsWith("/") && pattern.endsWith("/"))
    return regexCompiles(pattern) ? Fate.Kept : Fate.BadRegex;
  if (ipv6Of(pattern) !== undefined) return judgeIpv6(modifiers, options);
  const body = pattern.startsWith("://") ? pattern.replace(/^[:/]+/, "") : pattern;
  if (!/^[a-zA-Z0-9_.*|^-]+$/.test(body)) return Fate.BadSyntax;
  if (body.includes("_") && exactHost === undefined && !isListedName(pattern))
    return Fate.BadSyntax;
  const ip = parseIpPattern(pattern);
  if (ip !== undefined && hasModifier(modifiers, "denyallow")) return Fate.BadModifier;
  if (ip !== undefined && isPartOfAddress(ip, options)) return Fate.IpAddress;
  const address = ADDRESS_INSIDE.exec(pattern)?.[1];
  if (address !== undefined) return judgeAddress(address, ip, options);
  return judgeName(pattern, exactHost, options, isLimited);
}

function judgeIpv6(modifiers: readonly Modifier[], options: ValidatorOptions): Fate {
  if (hasModifier(modifiers, "denyallow")) return Fate.BadModifier;
  return options.allowIp ? Fate.Kept : Fate.IpAddress;
}

function hasModifier(modifiers: readonly Modifier[], name: string): boolean {
  return modifiers.some((modifier) => modifier.name === name);
}

/** A partial address matches far more than it seems to; only `||1.2.3.` and `||1.2.3.*` are clear. */
function isPartOfAddress(ip: IpPattern, options: ValidatorOptions): boolean {
  const count = ip.groups.length;
  if (ip.prefix === "" && ip.isEnded && count >= 2) return true;
  if (!ip.isEnded) {
    if (count <= 2 || (count === 3 && !ip.isOpen)) return true;
    if (ip.isOpen && ip.prefix === "") return true;
  }
  if (ip.prefix === "" || (count === 4 && !ip.isOpen)) return false;
  const isSubnet = ip.prefix === "||" && count === 3 && ip.isOpen && !ip.isEnded;
  return !(options.allowIp && isSubnet);
}

function judgeAddress(address: string, ip: IpPattern | undefined, options: ValidatorOptions): Fate {
  if (address.split(".").some((octet) => Number(octet) > 255)) return Fate.BadHost;
  return options.allowIp && ip !== undefined ? Fate.Kept : Fate.IpAddress;
}

function judgeName(
  pattern: string,
  exactHost: string | undefined,
  options: ValidatorOptions,
  isLimited: boolean,
): Fate {
  const caret = pattern.indexOf("^");
  const star = pattern.indexOf("*");
  if (caret !== -1 && star > caret) return Fate.BadSyntax;
  if (exactHost !== undefined) return judgeHost(exactHost, options, isLimited);
  if (!pattern.startsWith("||") || caret === -1) return judgeBreadth(pattern, options, isLimited);
  // `||host^`, optionally followed by an end anchor or by text that can match nothing.
  const tail = pattern.slice(caret + 1);
  if (tail !== "" && !tail.startsWith("|") && (star === -1 || !/^[\^*]+\|?$/.test(tail)))
    return Fate.BadSyntax;
  const host = pattern.slice(2, caret);
  if (star !== -1) return judgeBreadth(pattern, options, isLimited);
  return judgeHost(host, options, isLimited);
}
