import type { toASCII } from "tr46";
import {
  AT,
  BANG,
  BRACKET,
  CLASS_OF,
  CR,
  Class,
  DOLLAR,
  DOT,
  HASH,
  LF,
  decodeUtf8,
  encodeUtf8,
} from "../bytes/text.ts";
import { hostsLine, nextName, readHostsLine } from "./hosts-line.ts";

/** Receives the names and lines of a text. */
export interface WrittenNames {
  /** A name as written, without outer dots. */
  name(bytes: Uint8Array, start: number, end: number, isException: boolean): void;
  /** A line that is not blank and not a comment, up to its comment or modifiers, with its number of names. */
  line(names: number, bytes: Uint8Array, start: number, end: number): void;
  /** A comment, or a cosmetic rule for all sites (`##.ad`), which looks like one. */
  comment?(bytes: Uint8Array, start: number): void;
}

const QUOTE = 34;
const COMMA = 44;
const UNDERSCORE = 95;

/** The effect of a byte on parsing a line. Values up to `Dot` are part of a name, values from `WordEnd` on end a word. */
const Part = { Name: 0, Dot: 1, Other: 2, WordEnd: 3, TextEnd: 4, LineEnd: 5 } as const;
const PART_OF = new Uint8Array(256).map((_, byte) => partOf(byte));

function partOf(byte: number): number {
  if (byte === DOT) return Part.Dot;
  if (byte === LF || byte === CR) return Part.LineEnd;
  if (byte === HASH || byte === DOLLAR) return Part.TextEnd;
  if (byte === COMMA || byte === QUOTE || CLASS_OF[byte] === Class.Blank) return Part.WordEnd;
  const isMark = CLASS_OF[byte] === Class.Mark && byte !== UNDERSCORE;
  return isMark ? Part.Other : Part.Name;
}

/**
 * Finds names in lines of any syntax without parsing the rules: the first name of each word, up to a comment or modifiers.
 * For two editions of a list, the overlap of these names is about that of their rules.
 */
export function eachWrittenName(
  bytes: Uint8Array,
  start: number,
  end: number,
  found: WrittenNames,
): void {
  let at = start;
  while (at < end) {
    const first = bytes[at]!;
    if (PART_OF[first]! >= Part.WordEnd && first !== HASH) at++;
    else if (first === BANG || first === HASH || isHead(bytes, at)) {
      found.comment?.(bytes, at);
      at = lineEnd(bytes, at, end);
    } else at = readLine(bytes, at, end, found);
  }
}

/** A header such as `[Adblock Plus 2.0]`; `["` begins a JSON array. */
function isHead(bytes: Uint8Array, at: number): boolean {
  return bytes[at] === BRACKET && bytes[at + 1] !== QUOTE;
}

/** Reports the names of a line. Returns where the line ends. */
function readLine(bytes: Uint8Array, start: number, end: number, found: WrittenNames): number {
  const isException = bytes[start] === AT;
  let at = start;
  let names = 0;
  while (at < end) {
    let part = PART_OF[bytes[at]!]!;
    if (part >= Part.TextEnd) break;
    if (part > Part.Dot) {
      at++;
      continue;
    }
    const from = at;
    let dot = -1;
    do {
      if (part === Part.Dot) dot = at;
      part = ++at < end ? PART_OF[bytes[at]!]! : Part.LineEnd;
    } while (part <= Part.Dot);
    if (dot === -1) continue;
    const first = skipDots(bytes, from, at);
    const last = skipDotsBack(bytes, from, at);
    if (!isName(bytes, first, last)) continue;
    found.name(bytes, first, last, isException);
    names++;
    while (at < end && PART_OF[bytes[at]!]! < Part.WordEnd) at++;
  }
  found.line(names, bytes, start, at);
  return lineEnd(bytes, at, end);
}

function lineEnd(bytes: Uint8Array, start: number, end: number): number {
  let at = start;
  while (at < end && PART_OF[bytes[at]!]! !== Part.LineEnd) at++;
  return at;
}

/** Whether it has a dot and its last label begins with a letter, unlike an address. */
function isName(bytes: Uint8Array, start: number, end: number): boolean {
  let at = end - 1;
  while (at > start && bytes[at] !== DOT) at--;
  return at > start && bytes[at + 1]! > 57;
}

function skipDots(bytes: Uint8Array, start: number, end: number): number {
  let at = start;
  while (at < end && bytes[at] === DOT) at++;
  return at;
}

function skipDotsBack(bytes: Uint8Array, start: number, end: number): number {
  let at = end;
  while (at > start && bytes[at - 1] === DOT) at--;
  return at;
}

/** A name that must stay reachable, independent of its syntax. */
export interface AllowEntry {
  readonly name: string;
  /** Whether the entry includes all names below the name, and whether it includes the name itself. */
  readonly below: boolean;
  readonly self: boolean;
}

const NAME = /^[a-z0-9_\u0080-\uffff](?:[a-z0-9_.\u0080-\uffff-]*[a-z0-9_\u0080-\uffff])?$/;

/**
 * Parses an entry of an allow-list. A plain name or a hosts line allows only that name; `||name^` and `@@||name^` allow
 * the name and all names below it; `*.name` allows all names below it. Undefined for anything else.
 */
export function readAllowEntry(text: string): AllowEntry[] | undefined {
  return readEntry(text)?.flatMap((entry) => {
    // The DNS, and most lists, use the ASCII form of an internationalized name.
    const ascii = /[^\u0000-\u007f]/.test(entry.name) ? quickAscii(entry.name) : entry.name;
    return ascii === entry.name ? [entry] : [entry, { ...entry, name: ascii }];
  });
}

function readEntry(text: string): AllowEntry[] | undefined {
  const line = text.trim().toLowerCase();
  const bytes = encodeUtf8(line);
  if (readHostsLine(bytes, 0, bytes.length)) {
    const entries: AllowEntry[] = [];
    do {
      const name = decodeUtf8(bytes, hostsLine.nameStart, hostsLine.nameEnd);
      if (NAME.test(name)) entries.push({ name, below: false, self: true });
    } while (nextName(bytes));
    return entries.length === 0 ? undefined : entries;
  }
  const rule = /^(?:@@)?\|\|(?<star>\*\.)?(?<name>[^\s^|$/*]+)\^?\|?(?:\$important)?$/.exec(line);
  const { star, name } = rule?.groups ?? {};
  if (name !== undefined && NAME.test(name))
    return [{ name, below: true, self: star === undefined }];
  const exact = /^(?:@@)?\|(?<only>[^\s^|$/*]+)\^?\|?(?:\$important)?$/.exec(line)?.groups?.[
    "only"
  ];
  if (exact !== undefined && NAME.test(exact)) return [{ name: exact, below: false, self: true }];
  const wildcard = /^\*\.(?<below>[^*]+)$/.exec(line)?.groups?.["below"];
  if (wildcard !== undefined && NAME.test(wildcard))
    return [{ name: wildcard, below: true, self: false }];
  const bare = line.replace(/\.$/, "");
  if (!NAME.test(bare) || !bare.includes(".")) return undefined;
  return [{ name: bare, below: false, self: true }];
}

/** Formats an entry so that `readAllowEntry` accepts it. */
export function writtenEntry({ name, below, self }: AllowEntry): string {
  if (!below) return name;
  return self ? `||${name}^` : `*.${name}`;
}

/** Code points that a host must not contain after mapping (WHATWG URL, forbidden domain code points). */
const FORBIDDEN = /[\u0000-\u0020"#%/:<>?@[\\\]^`{|}\u007f]/;

let convert: typeof toASCII | undefined;

/** Loads the tables of UTS 46 (15 ms and 10 MB), which most lists do not need. Must be awaited before `toAsciiHost`. */
export async function loadIdna(): Promise<void> {
  convert ??= (await import("tr46")).toASCII;
}

/** The ASCII form of a name by the runtime's URL parser. Only for checks: it needs no loading, but runtimes differ. */
export function quickAscii(name: string): string {
  // The parser would read `com\x` as the host `com` and a path.
  if (FORBIDDEN.test(name)) return name;
  return URL.canParse(`http://${name}`) ? new URL(`http://${name}`).hostname : name;
}

/**
 * Converts the labels of a pattern to ASCII. A label that mixes a wildcard with letters of another script has no ASCII
 * form and stays unchanged.
 */
export function asciiLabels(pattern: string): string {
  if (!/[^\u0000-\u007f]/.test(pattern)) return pattern;
  return pattern.replace(/[^\s.|^*/$~]+\*?/gu, (label, at: number) =>
    !/[^\u0000-\u007f]/.test(label) || label.endsWith("*") || pattern[at - 1] === "*"
      ? label
      : quickAscii(label),
  );
}

/**
 * The ASCII form of a name (UTS 46, non-transitional), the same on every runtime; undefined if it has none. The name may
 * contain `*`, as in rules.
 */
export function toAsciiHost(name: string): string | undefined {
  if (convert === undefined) throw new Error("loadIdna() was not awaited");
  const ascii = convert(name, {
    checkBidi: true,
    checkHyphens: false,
    checkJoiners: true,
    useSTD3ASCIIRules: false,
    transitionalProcessing: false,
    verifyDNSLength: false,
  });
  return ascii === null || ascii === "" || FORBIDDEN.test(ascii) ? undefined : ascii;
}

/** The start of the selector of a browser rule: `##`, `#@#`, `#$#`, `#%#`, `#?#` and similar, or `$$`. */
const COSMETIC_MARK = /#[@$%?]{0,3}#|\$@?\$/;
/** Characters that cannot be part of a host. `*`, `.` and letters of any script can. */
const NOT_HOST = /[\s^$|=:/#,;?&@()[\]{}<>"'`\\!%~+]/;
/** Full stops that IDNA maps to a dot. */
const DOTS = /[.。．｡]/;

/** The line with its international names in ASCII, or undefined if one of them has no ASCII form. */
export function asciiLine(line: string): string | undefined {
  const rule = line.trim().replace(/^@@/, "");
  if (line.startsWith("#") || /^\/.*\/(?:\$.*)?$/s.test(rule)) return line;
  const mark = COSMETIC_MARK.exec(line);
  if (mark === null) return convertHosts(line);
  const domains = convertHosts(line.slice(0, mark.index));
  return domains === undefined ? undefined : domains + line.slice(mark.index);
}

/** Converts runs of host characters, from left to right. Skips paths, which extend from a `/` to the next blank. */
function convertHosts(text: string): string | undefined {
  let out = "";
  let isPath = false;
  let at = 0;
  while (at < text.length) {
    let end = at;
    while (end < text.length && !NOT_HOST.test(text[end]!)) end++;
    if (end > at) {
      const run = text.slice(at, end);
      const converted = isPath ? run : convertRun(run, text, at, end);
      if (converted === undefined) return undefined;
      out += converted;
    }
    if (end < text.length) {
      const separator = text[end]!;
      if (separator === "/") isPath = !isSchemeSlash(text, end);
      else if (/[\s^$|]/.test(separator)) isPath = false;
      out += separator;
    }
    at = end + 1;
  }
  return out;
}

function isSchemeSlash(text: string, at: number): boolean {
  return text[at - 1] === ":" || (text[at - 1] === "/" && text[at - 2] === ":");
}

function convertRun(run: string, text: string, start: number, end: number): string | undefined {
  if (/^[\u0000-\u007f]*$/.test(run) || !isHost(run, text, start, end)) return run;
  const wildcard = run.startsWith("*.") ? "*." : "";
  const leadingDot = wildcard === "" && run.startsWith(".") ? "." : "";
  const ascii = toAsciiHost(run.slice(wildcard.length + leadingDot.length));
  return ascii === undefined ? undefined : wildcard + leadingDot + ascii;
}

/** A run with a dot inside is a name. A single label needs syntax that marks it as a host: `||рус^`, `.рус`. */
function isHost(run: string, text: string, start: number, end: number): boolean {
  if (DOTS.test(run.slice(1, -1))) return true;
  if (run.startsWith(".")) return start === 0 && run.length > 1;
  const isAnchored = text[start - 1] === "|" && text[start - 2] === "|";
  return isAnchored && (end === text.length || text[end] === "^");
}
