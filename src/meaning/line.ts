import {
  CARET,
  CLASS_OF,
  CR,
  Class,
  DOT,
  HYPHEN,
  LF,
  PIPE,
  UNDERSCORE,
  decodeUtf8,
  encodeUtf8,
  indexOfBytes,
} from "../bytes/text.ts";
import { type Chunk, Flag, Kind, hostOf } from "../rules/chunk.ts";
import { formatAdblockRule, parseAdblockRule } from "../syntax/adblock-rule.ts";
import {
  hostsLine,
  isIpv4Text,
  isIpv6Text,
  mapNames,
  nextName,
  readHostsLine,
  sinkholeNameStart,
} from "../syntax/hosts-line.ts";
import { Suffix, suffixIn } from "../syntax/public-suffix.ts";
import { isRegexText } from "../syntax/regex-rule.ts";
import { asciiLabels, asciiLine, toAsciiHost } from "../syntax/written-names.ts";
import { cancelledKey } from "./rule.ts";

/** What a line of a list means for a DNS resolver. */
type Line =
  | { readonly kind: "nothing"; readonly why: "blank" | "comment" | "browser" | "letters" }
  /** A hosts line, or a name alone: the resolver blocks exactly these names. */
  | NamesLine
  /** Anything else. `readRule` says which names it matches, if any. */
  | { readonly kind: "rule"; readonly text: string };

interface NamesLine {
  readonly kind: "names";
  readonly address: string;
  /** Without those that no query can have. */
  readonly names: readonly string[];
  /** Whether the line has no other names. */
  readonly isWhole: boolean;
}

const COMMENT: Line = { kind: "nothing", why: "comment" };

/** The start of a rule for elements of pages. */
const BROWSER_MARK = /^#@?(?:\$\?|[$%?])?#/;

/**
 * Reads a line as AdGuard's DNS engine does, quirks included: a comment takes the character before its `#` with it, only spaces and
 * tabs separate names, and names in hosts lines match in lower case only.
 */
export function readLine(line: string): Line {
  const text = line.trim();
  if (text === "") return { kind: "nothing", why: "blank" };
  if (text.startsWith("!") || text.startsWith("#")) return COMMENT;
  const hash = text.indexOf("#");
  if (hash > 0 && text[hash - 1] !== " " && BROWSER_MARK.test(text.slice(hash, hash + 5)))
    return { kind: "nothing", why: "browser" };
  const words = (hash > 0 ? text.slice(0, hash - 1) : text).split(/[ \t]+/);
  if (words.at(-1) === "") words.pop();
  const [first = "", ...names] = words;
  if (names.length === 0 ? isDomainName(first) : isAddress(first))
    return names.length === 0 ? namesLine("0.0.0.0", [first]) : namesLine(first, names);
  return hasOtherLetters(text) ? { kind: "nothing", why: "letters" } : { kind: "rule", text };
}

/** Whether a pattern has other letters than ASCII, which no query has. A regular expression may match without them. */
function hasOtherLetters(text: string): boolean {
  if (!NON_ASCII.test(text)) return false;
  const pattern = parseAdblockRule(text)?.pattern ?? "";
  return NON_ASCII.test(pattern) && !isRegexText(pattern);
}

const NON_ASCII = /[^\u0000-\u007f]/;

function namesLine(address: string, names: readonly string[]): Line {
  const queried = names.filter(isQueried);
  return { kind: "names", names: queried, address, isWhole: queried.length === names.length };
}

/** Resolvers are asked for names in lower-case ASCII, without a final dot. */
function isQueried(name: string): boolean {
  return /^[!-@[-~]+$/.test(name) && !name.endsWith(".");
}

const LABEL = "[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?";
const DOMAIN = new RegExp(`^(?:${LABEL}\\.)*(?:[a-zA-Z]{2,63}|xn--[a-zA-Z0-9]{4,59})$`);
const LONGEST_DOMAIN = 253;

/** Whether a word alone in its line is a name. Any other word is a pattern, which also matches longer names. */
function isDomainName(word: string): boolean {
  return word.length <= LONGEST_DOMAIN && DOMAIN.test(word);
}

const LEADING_ZERO = /(?:^|\.)0\d/;

/** An IP address without brackets; octets have no leading zeros, and an IPv6 address may have a zone. */
function isAddress(word: string): boolean {
  const [address = "", zone] = word.split("%", 2);
  if (!address.includes(":"))
    return zone === undefined && isIpv4Text(address) && !LEADING_ZERO.test(address);
  const tail = address.slice(address.lastIndexOf(":") + 1);
  return zone !== "" && isIpv6Text(address) && !(tail.includes(".") && LEADING_ZERO.test(tail));
}

/** Whether a line is a rule with a regular expression, or begins like one. */
export function isExpression(text: string): boolean {
  return text.startsWith("/") || text.startsWith("@@/");
}

/** The name of a line that consists of one name, and whether the line is for the names below it, too. */
interface SoleName {
  readonly name: string;
  readonly isSubtree: boolean;
}

const SUBTREE = /^\|\|[^\sA-Z$*/^|\u0080-\uffff]+\^$/;
const HOST_TEXT = /^[a-z0-9.-]+$/;
const SCANNED_NAME = /^[a-z0-9][a-z0-9-]*(?:\.[a-z0-9-]+)*\.[a-z0-9-]*[a-z0-9]$/;

/**
 * The name of a line that is `||name^`, or that blocks exactly one name; undefined for any other line. As in the scanner, a name
 * alone may end in any label: `name.c0m` is a pattern, but it blocks that name as well.
 */
export function soleName(text: string): SoleName | undefined {
  const subtree = subtreeName(text);
  if (subtree !== undefined) return { name: subtree, isSubtree: true };
  const name = SCANNED_NAME.test(text) ? text : exactName(text);
  return name === undefined ? undefined : { name, isSubtree: false };
}

/** The name of `||name^`, if it is written as resolvers are asked for it. */
export function subtreeName(text: string): string | undefined {
  return SUBTREE.test(text) ? text.slice(2, -1) : undefined;
}

/** The name of a line that blocks one name without those below it. */
export function exactName(text: string): string | undefined {
  if (HOST_TEXT.test(text)) return isDomainName(text) ? text : undefined;
  // Blanks at its ends make a line special: few places look for such lines.
  const line = /^\s|\s$/.test(text) ? undefined : readLine(text);
  return line?.kind === "names" && line.isWhole && line.names.length === 1
    ? line.names[0]
    : undefined;
}

/** The result of the last `readNameSlice`. Fields are faster than an object per line. */
export const nameSlice = { start: 0, end: 0, isSubtree: false };

const NAME_CLASSES = Class.Word | Class.Dot | Class.Hyphen;

/** Reads the commonest lines that `soleName` knows without decoding them. False means that `soleName` must read the line. */
export function readNameSlice(bytes: Uint8Array, start: number, end: number): boolean {
  const isSubtree = bytes[start] === PIPE;
  const afterAddress = isSubtree ? -1 : sinkholeNameStart(bytes, start, end);
  const from = isSubtree ? start + 2 : Math.max(start, afterAddress);
  const to = isSubtree ? end - 1 : end;
  if (isSubtree && (bytes[start + 1] !== PIPE || bytes[to] !== CARET)) return false;
  if (from >= to || bytes[to - 1] === DOT) return false;
  const isAlone = !isSubtree && afterAddress === -1;
  if (isAlone && !isScannedName(bytes, from, to)) return false;
  for (let at = from; at < to; at++)
    if ((CLASS_OF[bytes[at]!]! & NAME_CLASSES) === 0)
      if (bytes[at] !== UNDERSCORE || isAlone) return false;
  nameSlice.start = from;
  nameSlice.end = to;
  nameSlice.isSubtree = isSubtree;
  return true;
}

/** Whether a slice has a dot, no empty label and no hyphen at an end. */
function isScannedName(bytes: Uint8Array, start: number, end: number): boolean {
  if (bytes[start] === HYPHEN || bytes[end - 1] === HYPHEN) return false;
  let last = start - 1;
  for (let at = start; at < end; at++)
    if (bytes[at] === DOT) {
      if (at === last + 1) return false;
      last = at;
    }
  return last >= start;
}

/** The start of a rule, as far as it can be a name: in rules for browsers too, and in those that resolvers cannot read. */
const RULE_START = /^(?:@@)?\|{0,2}(?:\w+:\/\/)?(?:\*\.)?(?<host>[^\s|^*/@$#!,:?]+)/;

/**
 * The names in a line of a source, however it is written, as the compiler publishes them: those after an address, or the one at the
 * start of a rule. A resolver need not be able to match them.
 */
export function namesIn(text: string): readonly string[] {
  const line = text.trim();
  const sole = subtreeName(line) ?? (SCANNED_NAME.test(line) ? line : undefined);
  if (sole !== undefined) return [sole];
  const host = RULE_START.exec(line)?.groups?.["host"];
  return (hostsNames(line) ?? (host === undefined ? [] : [host])).map(foldedName);
}

/** The names of a hosts line as the scanner reads it, as written; undefined for any other line. */
function hostsNames(line: string): string[] | undefined {
  if (!/^[0-9a-f:[]\S*\s/i.test(line)) return undefined;
  const bytes = encodeUtf8(line);
  return hostsNamesAt(bytes, 0, bytes.length);
}

function hostsNamesAt(bytes: Uint8Array, start: number, end: number): string[] | undefined {
  if (!readHostsLine(bytes, start, end)) return undefined;
  const names: string[] = [];
  do names.push(decodeUtf8(bytes, hostsLine.nameStart, hostsLine.nameEnd));
  while (nextName(bytes));
  return names;
}

/** The names of a row that is not a rule, in lower-case ASCII. */
export function namesOfRow(chunk: Chunk, row: number): string[] {
  const isSeveral = chunk.kind[row] === Kind.Hosts && (chunk.flags[row]! & Flag.SeveralNames) !== 0;
  const names = isSeveral
    ? (hostsNamesAt(chunk.bytesOf(row), chunk.start[row]!, chunk.end[row]!) ?? [])
    : [hostOf(chunk, row)];
  return names.map(foldedName);
}

const WRITTEN_NAME =
  /^(?<name>[^\s.|^*/@$#!-][^\s|^*/@$#!]*\.[^\s.|^*/@$#!][^\s|^*/@$#!]*)(?:\s+#.*)?$/;

/**
 * The name of a line that consists of a name, with a note or in other letters than ASCII; undefined for any other line. The scanner
 * takes such lines for rules.
 */
export function writtenName(text: string): string | undefined {
  const name = WRITTEN_NAME.exec(text)?.groups?.["name"];
  return name && foldedName(name);
}

/** The name of `name # note`. */
const NOTED_NAME = /^(?<name>[^\s#|^$/*@!]+)\s+#/;
/** A pattern that consists of one name: `name`, `|name^`, `||name^|`, `://name^`. */
const NAME_PATTERN = /^(?<start>\|\|?(?:https?:\/\/)?|:\/\/)?(?<name>[^\s#|^$/*@!:,~?=&]+)[|^]*$/;
/** The same as a regular expression: `/^name$/`, `/(^|\.)name$/`. */
const NAME_EXPRESSION = /^\/(?:\^|\((?:\?:)?\^\|\\\.\))(?<name>[\w-]+(?:\\\.[\w-]+)+)\$\/$/;

/** The names of a line of a source in any syntax, as written. Empty unless the line is for exactly these names. */
export function namesOfLine(line: string): string[] {
  const text = line.trim();
  const hosts = hostsNames(text);
  if (hosts !== undefined) return hosts;
  const noted = NOTED_NAME.exec(text)?.groups?.["name"];
  if (noted !== undefined) return noted.includes(".") ? [noted] : [];
  const pattern = parseAdblockRule(text)?.pattern ?? "";
  const expression = NAME_EXPRESSION.exec(pattern)?.groups?.["name"];
  if (expression !== undefined) return [expression.replaceAll("\\.", ".")];
  const { start, name } = NAME_PATTERN.exec(pattern)?.groups ?? {};
  if (name === undefined || name.startsWith(".")) return [];
  // A single word matches parts of names, unless it has an anchor.
  return start !== undefined || name.includes(".") ? [name] : [];
}

/** In lower-case ASCII, without a final dot. */
export function foldedName(name: string): string {
  return asciiLabels(name.toLowerCase()).replace(/\.$/, "");
}

/** The name of a line that consists of a name, perhaps with a note. */
const NAME_LINE = /^(?<name>[^\s.|^*/@$#!-][^\s|^*/@$#!]*\.[^\s|^*/@$#!]*)(?:\s+#.*)?$/;
const NAME = /^[a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63})*$/;
const LOWER_LABEL = "[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?";
const PLAIN = new RegExp(`^${LOWER_LABEL}(?:\\.${LOWER_LABEL})+$`);
/** No resolver reads a longer rule. */
const LONGEST_RULE = 4096;
/** The same before a note or a selector. */
const FOREIGN = /^[^#]*?[^\u0000-\u007f#]/;

/**
 * The line as every resolver reads it: names in lower-case ASCII, without a final dot. AdGuard's engine compares the names of hosts lines
 * as they are written, and it takes a name alone for a part of a name if it has an underscore, a hyphen at the end of a label or a
 * last label that is not made of letters: such a name gets an address. A line that changes loses its note. Undefined if a name has
 * no ASCII form. For lines without outer blanks that are not comments.
 */
export function normalLine(text: string, isHosts: boolean): string | undefined {
  if (isHosts) return normalHosts(text);
  if (text.length > LONGEST_RULE) return text;
  const written = NAME_LINE.exec(text)?.groups?.["name"];
  // A single label with a dot is a part of a name.
  const isNamed = written !== undefined && /\.[^.]/.test(written) && !isIpv4Text(written);
  if (!isNamed) return normalRule(text);
  const name = normalName(written);
  if (name === undefined) return NON_ASCII.test(written) ? undefined : text;
  // `banner_300.gif` is a part of a URL.
  if (!PLAIN.test(name) && !hasListedSuffix(name)) return text;
  const line = isDomainName(name) ? name : `0.0.0.0 ${name}`;
  return line === written ? text : line;
}

function hasListedSuffix(name: string): boolean {
  return suffixIn(encodeUtf8(name), false).kind === Suffix.Icann;
}

/** A name that can be asked for; undefined for any other text. */
function normalName(written: string): string | undefined {
  const ascii = NON_ASCII.test(written) ? toAsciiHost(written) : written;
  const name = ascii?.toLowerCase().replace(/\.+$/, "");
  return name !== undefined && NAME.test(name) ? name : undefined;
}

function normalHosts(text: string): string | undefined {
  // The engine takes the last letter for a part of a note that is not behind a blank.
  const hash = text.search(/\S#/) + 1;
  const line = hash === 0 ? text : text.slice(0, hash);
  // Names that cannot be asked for stay, unless they are not ASCII.
  const named = mapNames(
    line,
    (name) => normalName(name) ?? (NON_ASCII.test(name) ? undefined : name),
  );
  // The engine knows addresses without brackets and without leading zeros, and only spaces and tabs between names.
  return named
    ?.replace(/^\[(?<address>[^\]\s]*)\]/, "$<address>")
    .replace(/^[\d.]+(?=\s)/, (address) => address.replace(/(?<![\d])0+(?=\d)/g, ""))
    .replace(/^[^#]+/, (names) => names.replace(/[^\S \t]+/g, " "));
}

/** A pattern that can match a name, and the start of any other one that begins at a label. */
const PLAIN_PATTERN = /^\|{0,2}(?:(?:https?)?:\/\/)?[\w.*-]*[|^*]*$/;
const LABEL_START = /^\|\|[^$/^]*/;
const FINAL_DOT = /^(?<name>(?:\|{1,2}|(?:https?)?:\/\/)[\w-]+(?:\.[\w-]+)+)\.+(?<end>[|^]+)$/;
const BETWEEN_LABELS = /[\s.|^$,=]/;

function normalRule(text: string): string | undefined {
  // A label with a wildcard and letters of another script has no ASCII form. No name matches it.
  const isWild =
    text.includes("*") &&
    text.split(BETWEEN_LABELS).some((label) => label.includes("*") && NON_ASCII.test(label));
  const ascii = isWild || !FOREIGN.test(text) ? text : asciiLine(text);
  const rule = ascii === undefined ? undefined : parseAdblockRule(ascii);
  if (rule === undefined || isRegexText(rule.pattern)) return ascii;
  const pattern = PLAIN_PATTERN.test(rule.pattern.toLowerCase())
    ? rule.pattern.toLowerCase().replace(FINAL_DOT, "$<name>$<end>")
    : rule.pattern.replace(LABEL_START, (start) => start.toLowerCase());
  const modifiers = rule.modifiers.map((one) =>
    one.name === "denyallow" && one.value !== undefined
      ? { ...one, value: one.value.toLowerCase() }
      : one,
  );
  const isNormal =
    pattern === rule.pattern &&
    modifiers.every(({ value }, index) => value === rule.modifiers[index]!.value);
  return isNormal ? ascii : formatAdblockRule({ ...rule, pattern, modifiers });
}

const BADFILTER = encodeUtf8("badfilter");
/** The longest line that can cancel a rule for a name. */
const LONGEST = 512;

/** The names of the rules `||name^` that the `$badfilter` rules of a text cancel. Most texts have none: one search is enough. */
export function cancelledNames(text: Uint8Array): string[] {
  const names: string[] = [];
  for (let at = indexOfBytes(text, BADFILTER); at !== -1;) {
    const line = lineAround(text, at);
    const name = subtreeName((line && cancelledKey(line)?.toLowerCase()) ?? "");
    if (name !== undefined) names.push(name);
    at = indexOfBytes(text, BADFILTER, at + BADFILTER.length);
  }
  return names;
}

function lineAround(text: Uint8Array, at: number): string | undefined {
  let start = at;
  let end = at;
  while (start > 0 && !isLineEnd(text[start - 1]!) && at - start <= LONGEST) start--;
  while (end < text.length && !isLineEnd(text[end]!) && end - at <= LONGEST) end++;
  return end - start > LONGEST ? undefined : decodeUtf8(text, start, end).trim();
}

function isLineEnd(byte: number): boolean {
  return byte === LF || byte === CR;
}
