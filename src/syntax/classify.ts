import {
  AT,
  BANG,
  BRACKET,
  CARET,
  CLASS_OF,
  COLON,
  COMMA,
  Class,
  DOLLAR,
  DOT,
  HASH,
  HOST_CLASSES,
  PIPE,
  SLASH,
  SPACE,
  TAB,
  UNDERSCORE,
  encodeUtf8,
  isAlphanumeric,
  isDigit,
  skipBlanks,
  skipBlanksBack,
} from "../bytes/text.ts";
import { LONG_LINE } from "../kernel/name-resolver.ts";
import { type Chunk, Flag, Kind } from "../rules/chunk.ts";
import { DomainShape, lastHost, readHostBytes } from "./host-name.ts";
import { hostsLine, isOddAddress, readHostsLine, sinkholeNameStart } from "./hosts-line.ts";
import { mayBeSuffix } from "./public-suffix.ts";

/** Flags that describe the origin of a row rather than its text. They survive a rewrite. */
const KEPT_FLAGS =
  Flag.Rewritten | Flag.Banner | Flag.Generated | Flag.Continued | Flag.Widened | Flag.OwnWord;

/** The union of the classes of all bytes in a slice. */
export function maskOf(bytes: Uint8Array, start: number, end: number): number {
  let mask = 0;
  for (let at = start; at < end; at++) mask |= CLASS_OF[bytes[at]!]!;
  return mask;
}

/** Sets the kind, flags and host of a row from its current text. */
export function classifyAgain(chunk: Chunk, row: number): void {
  chunk.isChanged = true;
  classify(chunk, row, maskOf(chunk.bytesOf(row), chunk.start[row]!, chunk.end[row]!));
}

/** The same, for callers that already have the mask of the text. */
export function classify(chunk: Chunk, row: number, mask: number): void {
  decide(chunk, row, mask);
  if (isOrdinary(chunk, row)) chunk.flags[row]! |= Flag.Ordinary;
}

const PLAIN_FLAGS =
  Flag.PlainHost | Flag.UpperHost | Flag.SeveralNames | Flag.RealAddress | Flag.NonAscii;
/** The length of `localhost.localdomain`, the only local name with a dot. Length and first letter identify it. */
const LOCAL_DOMAIN_LENGTH = 21;
const LETTER_L = 108;

function isOrdinary(chunk: Chunk, row: number): boolean {
  const kind = chunk.kind[row]!;
  if (kind < Kind.Hosts || kind === Kind.Rule) return false;
  if ((chunk.flags[row]! & PLAIN_FLAGS) !== Flag.PlainHost) return false;
  const start = chunk.hostStart[row]!;
  const end = chunk.hostEnd[row]!;
  // The row must end with the name: no blanks, no note, no modifiers.
  if (end !== chunk.end[row]! - (kind === Kind.Block ? 1 : 0)) return false;
  if (kind === Kind.Block && start !== chunk.start[row]! + 2) return false;
  const bytes = chunk.bytesOf(row);
  if (kind === Kind.Hosts && isOddAddress(bytes, chunk.start[row]!)) return false;
  if (end - start === LOCAL_DOMAIN_LENGTH && bytes[start] === LETTER_L) return false;
  if (isDigit(bytes[end - 1]!)) return false;
  if (kind === Kind.Domain && !endsLikeDomain(bytes, start, end)) return false;
  // `readHost` last read the host of this row.
  return !mayBeSuffix(lastHost.hash, lastHost.parentHash);
}

/**
 * Whether the last label of a plain name has two letters or more and nothing else, or is in punycode. Resolvers take a line with any
 * other name for a part of a name.
 */
export function endsLikeDomain(bytes: Uint8Array, start: number, end: number): boolean {
  let at = end - 1;
  while (at >= start && isLetter(bytes[at]!)) at--;
  if (bytes[at] === DOT) return end - at > 2;
  while (at >= start && bytes[at] !== DOT) at--;
  return end - at > 5 && PUNYCODE.every((byte, index) => bytes[at + 1 + index] === byte);
}

const PUNYCODE = encodeUtf8("xn--");

function isLetter(byte: number): boolean {
  return (byte | 32) >= 97 && (byte | 32) <= 122;
}

/** The first bytes and the mask decide, so few lines need a second pass. */
function decide(chunk: Chunk, row: number, mask: number): void {
  const bytes = chunk.bytesOf(row);
  const start = chunk.start[row]!;
  const end = chunk.end[row]!;
  if (start === end) {
    clearHost(chunk, row);
    chunk.flags[row]! &= KEPT_FLAGS;
    setKind(chunk, row, Kind.Blank);
    return;
  }
  const first = bytes[start]!;
  if (end - start > LONG_LINE) chunk.has.longLines = true;
  if (isSpaceOrTab(first) || isSpaceOrTab(bytes[end - 1]!)) chunk.has.outerBlanks = true;
  let flags = chunk.flags[row]! & KEPT_FLAGS;
  if ((mask & Class.NonAscii) !== 0) {
    flags |= Flag.NonAscii;
    chunk.has.nonAscii = true;
  }
  chunk.flags[row] = flags;
  if ((mask & ~HOST_CLASSES) === 0) {
    readHostBytes(bytes, start, end);
    setHost(chunk, row, start, end);
    chunk.kind[row] = lastHost.shape === DomainShape.No ? Kind.Rule : Kind.Domain;
    if (lastHost.shape === DomainShape.No) clearHost(chunk, row);
    return;
  }
  if (first === PIPE) {
    classifyAdblock(chunk, row, start, skipBlanksBack(bytes, start, end));
    return;
  }
  const nameStart = sinkholeNameStart(bytes, start, end);
  if (nameStart !== -1) {
    readHostBytes(bytes, nameStart, end);
    if ((lastHost.mask & ~HOST_CLASSES) === 0) {
      setHost(chunk, row, nameStart, end);
      chunk.kind[row] = Kind.Hosts;
      return;
    }
  }
  clearHost(chunk, row);
  if ((mask & ~(Class.Blank | Class.NonAscii)) === 0 && skipBlanks(bytes, start, end) === end)
    setKind(chunk, row, Kind.Blank);
  else if (first === BANG || (first === HASH && isHashComment(chunk, bytes, start, end)))
    setKind(chunk, row, Kind.Comment);
  else if (!mayBeHosts(first, mask) || !classifyHosts(chunk, row)) {
    // Parse adblock syntax without its outer blanks; they stay in the text.
    const from = skipBlanks(bytes, start, end);
    classifyAdblock(chunk, row, from, skipBlanksBack(bytes, from, end));
  }
}

function isSpaceOrTab(byte: number): boolean {
  return byte === SPACE || byte === TAB;
}

/** `# text`, a lone `#`, and `####…`. Without the blank, only the type of the source can make it a comment. */
function isHashComment(chunk: Chunk, bytes: Uint8Array, start: number, end: number): boolean {
  if (chunk.hashComments || end - start === 1 || bytes[start + 1] === SPACE) return true;
  return (
    end - start >= 4 &&
    bytes[start + 1] === HASH &&
    bytes[start + 2] === HASH &&
    bytes[start + 3] === HASH
  );
}

/** An address begins with a hexadecimal digit, a colon or a bracket, and a blank follows it. */
function mayBeHosts(first: number, mask: number): boolean {
  if ((mask & (Class.Blank | Class.NonAscii)) === 0) return false;
  return first === COLON || first === BRACKET || (isAlphanumeric(first) && (first | 32) <= 102);
}

function classifyHosts(chunk: Chunk, row: number): boolean {
  const bytes = chunk.bytesOf(row);
  if (!readHostsLine(bytes, chunk.start[row]!, chunk.end[row]!)) return false;
  chunk.kind[row] = Kind.Hosts;
  if (hostsLine.nameEnd < hostsLine.namesEnd) chunk.flags[row]! |= Flag.SeveralNames;
  if (!hostsLine.isSinkhole) chunk.flags[row]! |= Flag.RealAddress;
  pointAtHost(chunk, row, hostsLine.nameStart, hostsLine.nameEnd);
  return true;
}

/** Sets the host of the row and the flags that describe it. */
export function pointAtHost(chunk: Chunk, row: number, start: number, end: number): void {
  chunk.isChanged = true;
  readHostBytes(chunk.bytesOf(row), start, end);
  setHost(chunk, row, start, end);
}

/** Stores the result of the last `readHost`. */
function setHost(chunk: Chunk, row: number, start: number, end: number): void {
  chunk.hostStart[row] = start;
  chunk.hostEnd[row] = end;
  chunk.hostHash[row] = lastHost.hash;
  chunk.hostPart[row] = lastHost.part;
  let flags = chunk.flags[row]! & ~(Flag.PlainHost | Flag.UpperHost | Flag.DeepHost);
  if (lastHost.shape === DomainShape.Plain)
    flags |= lastHost.dots > 1 ? Flag.PlainHost | Flag.DeepHost : Flag.PlainHost;
  else chunk.has.specialHosts = true;
  if ((lastHost.mask & Class.Upper) !== 0) flags |= Flag.UpperHost;
  chunk.flags[row] = flags;
}

function setKind(chunk: Chunk, row: number, kind: Kind): void {
  chunk.kind[row] = kind;
  if (kind === Kind.Comment) chunk.has.comments = true;
  else if (kind === Kind.Blank) chunk.has.blanks = true;
}

function clearHost(chunk: Chunk, row: number): void {
  chunk.hostStart[row] = chunk.hostEnd[row] = chunk.start[row]!;
  chunk.flags[row]! &= ~(Flag.PlainHost | Flag.UpperHost | Flag.DeepHost);
}

/** Classifies `||host^` and longer rules that begin with it. `start` and `end` exclude outer blanks. */
function classifyAdblock(chunk: Chunk, row: number, start: number, end: number): void {
  const bytes = chunk.bytesOf(row);
  chunk.kind[row] = Kind.Rule;
  clearHost(chunk, row);
  let from = start;
  if (bytes[from] === AT && bytes[from + 1] === AT && end - from >= 2) {
    chunk.flags[row]! |= Flag.Allow;
    from += 2;
  }
  if (bytes[from] === SLASH) chunk.has.regexes = true;
  if (end - from < 4 || bytes[from] !== PIPE || bytes[from + 1] !== PIPE) return;
  const hostStart = from + 2;
  let hostEnd = hostStart;
  while (hostEnd < end && isHostByte(bytes[hostEnd]!)) hostEnd++;
  if (hostEnd === hostStart || hostEnd === end || bytes[hostEnd] !== CARET) return;
  pointAtHost(chunk, row, hostStart, hostEnd);
  if (from !== start || !isBareTail(bytes, hostEnd + 1, end)) return;
  if ((lastHost.mask & ~HOST_CLASSES) === 0) chunk.kind[row] = Kind.Block;
}

function isHostByte(byte: number): boolean {
  return (CLASS_OF[byte]! & (HOST_CLASSES | Class.NonAscii)) !== 0 || byte === UNDERSCORE;
}

/** Whether the tail is empty or a `$` without modifiers: `||a.com^$,` means the same as `||a.com^`. */
function isBareTail(bytes: Uint8Array, start: number, end: number): boolean {
  if (start === end) return true;
  // A preceding backslash would make the `$` part of the pattern, but here the preceding byte is the caret.
  if (bytes[start] !== DOLLAR) return false;
  for (let at = start + 1; at < end; at++) if (bytes[at] !== COMMA) return false;
  return true;
}
