import { AT, BANG, BRACKET, CLASS_OF, CR, Class, DOLLAR, DOT, HASH, LF } from "../bytes/ascii.ts";

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
