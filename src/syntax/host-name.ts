import { HASH_SEED, hashEnd, hashLabel } from "../bytes/hash.ts";
import {
  CLASS_OF,
  DOT,
  HASH,
  HOST_CLASSES,
  HYPHEN,
  UNDERSCORE,
  blankAt,
  decodeUtf8,
  encodeUtf8,
  isAlphanumeric,
  isIpv4,
  skipBlanks,
} from "../bytes/text.ts";
import type { Chunk } from "../rules/chunk.ts";
import { Fate } from "../rules/fate.ts";
import { isIpv4Text, isIpv6Text } from "./hosts-line.ts";
import { Suffix, isSuffixHash, suffixIn } from "./public-suffix.ts";
import { asciiLabels } from "./written-names.ts";

/** A host in a text, and what it ends with. */
interface HostName {
  /** In lower case, without a final dot. */
  readonly hostname: string;
  readonly isIp: boolean;
  /** The kind of its public suffix; `No` if the list does not have one. */
  readonly kind: Suffix;
  /** Whether it is nothing but a suffix. An unlisted suffix is the last label. */
  readonly isSuffix: boolean;
}

const ANY_LABEL = String.raw`(?!-)[a-z0-9_\-\u0080-\uffff]{1,63}(?<!-)`;
const HOST = new RegExp(String.raw`^\.?${ANY_LABEL}(?:\.${ANY_LABEL})*$`);
const LONGEST = 255;
/** Four numbers, in or out of range. */
const IPV4 = /^\d+(?:\.\d+){3}$/;
const IPV6 = /^(?=.*:)[0-9a-f:]{2,39}$/;

/** The parts of a URL around its host; all are optional. */
const AROUND_HOST =
  /^(?:[a-z][a-z0-9+.-]*:\/\/|\/\/)?(?:[^/?#@]*@)?(?:\[([^\]/?#@]*)\]|([^/?#@:[\]]*))(?::\d*)?(?:[/?#].*)?$/;

/** Reads a text as a host, or as a URL with one; undefined if it has no valid host. */
export function readHost(text: string, withPrivate = false): HostName | undefined {
  const written = text.toLowerCase();
  const [, inBrackets, host] = IPV6.test(written)
    ? [undefined, written]
    : (AROUND_HOST.exec(written) ?? []);
  const hostname = inBrackets ?? host?.replace(/(?<=[^.])\.+$/, "") ?? "";
  if (IPV6.test(hostname) || IPV4.test(hostname))
    return { hostname, isIp: true, kind: Suffix.No, isSuffix: false };
  if (hostname.length > LONGEST || !HOST.test(hostname)) return undefined;
  const { bytes, start, kind } = suffixOf(hostname, withPrivate);
  const isSuffix = start === 0 && bytes.length > 0;
  return { hostname, isIp: false, kind, isSuffix };
}

/** The public suffix of a name and one label more, also below shared hosts such as `github.io`; undefined without such a label. */
export function registrableDomain(name: string): string | undefined {
  const { bytes, start } = suffixOf(name.toLowerCase(), true);
  if (start < 2 || bytes.length !== name.length) return undefined;
  return name.slice(name.lastIndexOf(".", start - 2) + 1);
}

function suffixOf(
  name: string,
  withPrivate: boolean,
): { bytes: Uint8Array; start: number; kind: Suffix } {
  const bytes = encodeUtf8(asciiLabels(name));
  return { bytes, ...suffixIn(bytes, withPrivate) };
}

/** Where the domain of `domain # note` ends, or -1 if the row has another form. */
export function commentedDomainEnd(chunk: Chunk, row: number): number {
  const bytes = chunk.bytesOf(row);
  const start = chunk.start[row]!;
  const end = chunk.end[row]!;
  if (start === end || !(isAlphanumeric(bytes[start]!) || bytes[start] === UNDERSCORE)) return -1;
  let nameEnd = start;
  while (nameEnd < end && blankAt(bytes, nameEnd, end) === 0) nameEnd++;
  const next = skipBlanks(bytes, nameEnd, end);
  if (next === nameEnd || next === end || bytes[next] !== HASH) return -1;
  if (isIpv4(bytes, start, nameEnd)) return -1;
  readHostBytes(bytes, start, nameEnd);
  const isName = lastHost.shape === DomainShape.Plain || isUnderscoreName(bytes, start, nameEnd);
  return isName ? nameEnd : -1;
}

export const LABEL = "[a-zA-Z0-9_](?:[a-zA-Z0-9_-]*[a-zA-Z0-9_])?";
export const PLAIN_DOMAIN: RegExp = new RegExp(`^${LABEL}(?:\\.${LABEL})+$`);

/** Names may contain underscores, but so do parts of URLs (`_300x250.gif`). Only names have a listed suffix. */
export function isListedName(text: string): boolean {
  return PLAIN_DOMAIN.test(text) && readHost(text)?.kind === Suffix.Icann;
}

/** The same for bytes that contain an underscore. The first bytes rule out most other text. */
export function isUnderscoreName(bytes: Uint8Array, start: number, end: number): boolean {
  return hasUnderscore(bytes, start, end) && isListedName(decodeUtf8(bytes, start, end));
}

/** Whether a slice only has bytes of names, including at least one underscore. */
export function hasUnderscore(bytes: Uint8Array, start: number, end: number): boolean {
  let isFound = false;
  for (let at = start; at < end; at++) {
    if (bytes[at] === UNDERSCORE) isFound = true;
    else if ((CLASS_OF[bytes[at]!]! & HOST_CLASSES) === 0) return false;
  }
  return isFound;
}

/** Whether a slice is a domain name, and in which form. */
export const DomainShape = {
  No: 0,
  /** At least two labels of 1–63 letters, digits and inner hyphens (RFC 1123 §2.1), at most 255 bytes */
  Plain: 1,
  /** The same with a final dot; one label is then enough (`org.`) */
  FinalDot: 2,
} as const;

/** The result of the last `readHost`. Fields are faster than an object per line. */
export const lastHost = {
  hash: 0,
  /** Hash of the text after its first dot. */
  parentHash: 0,
  /** Partition: the same for a name and all its parents, except wide ones. */
  part: 0,
  shape: 0,
  /** The union of the classes of its bytes. */
  mask: 0,
  dots: 0,
};

/**
 * Reads a slice as a host name in one pass from right to left: computes its hash and the classes of its bytes, and checks
 * its labels. Every line with a name passes through here once.
 */
export function readHostBytes(bytes: Uint8Array, start: number, end: number): void {
  let state = HASH_SEED;
  let two = 0;
  let three = 0;
  let innerDots = 0;
  let mask = 0;
  let dots = 0;
  let isWellFormed = end > start && end - start <= 255;
  let labelEnd = end;
  for (let at = end - 1; at >= start; at--) {
    const byte = bytes[at]!;
    mask |= CLASS_OF[byte]!;
    if (byte !== DOT) continue;
    dots++;
    state = hashLabel(state, bytes, at + 1, labelEnd);
    // A final dot does not end a label.
    if (at + 1 !== end) {
      if (++innerDots === 2) two = state;
      else if (innerDots === 3) three = state;
      if (!isLabel(bytes, at + 1, labelEnd)) isWellFormed = false;
    }
    labelEnd = at;
  }
  lastHost.parentHash = hashEnd(state);
  state = hashLabel(state, bytes, start, labelEnd);
  if (!isLabel(bytes, start, labelEnd)) isWellFormed = false;
  lastHost.hash = hashEnd(state);
  lastHost.part = partOf(innerDots, innerDots >= 2 ? two : state, innerDots >= 3 ? three : state);
  lastHost.mask = mask;
  lastHost.dots = dots;
  if (!isWellFormed || (mask & ~HOST_CLASSES) !== 0 || dots === 0) lastHost.shape = DomainShape.No;
  else lastHost.shape = bytes[end - 1] === DOT ? DomainShape.FinalDot : DomainShape.Plain;
}

function isLabel(bytes: Uint8Array, start: number, end: number): boolean {
  const length = end - start;
  return length > 0 && length < 64 && bytes[start] !== HYPHEN && bytes[end - 1] !== HYPHEN;
}

/** The partition of names that are parents of names in all partitions. */
const WIDE = 255;

/** The last two labels select the partition, or three if two may be a public suffix (`co.uk`). Shorter names are wide. */
function partOf(dots: number, two: number, three: number): number {
  if (dots === 0) return WIDE;
  const hash = hashEnd(two);
  const isBelowSuffix = isSuffixHash(hash);
  if (isBelowSuffix && dots === 1) return WIDE;
  return Math.min((isBelowSuffix ? hashEnd(three) : hash) >>> 24, WIDE - 1);
}

export interface ValidatorOptions {
  readonly allowIp: boolean;
  readonly allowPublicSuffix: boolean;
}

/**
 * Why a rule must not name this host, or `Fate.Kept`. `isLimited` means that modifiers narrow the rule, which makes a
 * public suffix acceptable. Slower than `publicSuffixKind`, but accepts any text in place of a host.
 */
export function judgeHost(text: string, options: ValidatorOptions, isLimited: boolean): Fate {
  const host = readHost(text);
  if (host === undefined || !/[a-z0-9]/.test(host.hostname)) return Fate.BadHost;
  const { hostname, isIp, isSuffix, kind } = host;
  if (isIp) {
    if (!isIpv4Text(hostname) && !isIpv6Text(hostname)) return Fate.BadHost;
    return options.allowIp ? Fate.Kept : Fate.IpAddress;
  }
  if (!isSuffix || isLimited) return Fate.Kept;
  return options.allowPublicSuffix && kind === Suffix.Icann ? Fate.Kept : Fate.PublicSuffix;
}

/**
 * A canary is an unused name. A list blocks it to show which build a resolver answers from. `example` is reserved, so
 * the name exists nowhere. Unlike `invalid` and `test`, resolvers do not treat it specially (RFC 6761): unbound answers for
 * `invalid` before it looks at a policy zone.
 */
export const CANARY_SUFFIX = "canary.rules-compiler.example";

const DIGITS = 12;
const NAME = /\bb-(?<build>[\da-f]{12})\.canary\.rules-compiler\.example\b/g;

/** The canary of a build, from a digest of its rules in hexadecimal. */
export function canaryName(digest: string): string {
  return `b-${digest.slice(0, DIGITS)}.${CANARY_SUFFIX}`;
}

/** The last canary in a text. A list that was made from other lists may contain theirs. */
export function canaryIn(text: string): string | undefined {
  return [...text.matchAll(NAME)].at(-1)?.[0];
}

/** Whether a rule of a list is its canary, or that of a list that it was made from. Comparisons ignore these: they concern no name in use. */
export function isCanaryRule(text: string): boolean {
  if (!text.endsWith(CANARY_SUFFIX) && !text.endsWith(`${CANARY_SUFFIX}^`)) return false;
  const name = canaryIn(text);
  return name !== undefined && (text === `||${name}^` || text === `0.0.0.0 ${name}`);
}

const PARENTS: ReadonlySet<string> = new Set(["example", "rules-compiler.example"]);

/** Whether a name in lower case belongs to canaries: it is one, it is beside one, or a rule for it and its subdomains would match one. */
export function isReservedName(name: string): boolean {
  const bare = name.replace(/\.$/, "");
  return bare === CANARY_SUFFIX || bare.endsWith(`.${CANARY_SUFFIX}`) || PARENTS.has(bare);
}

/** Whether a pattern spells the suffix out. */
export function namesCanaries(pattern: string): boolean {
  return pattern.replaceAll("\\", "").toLowerCase().includes(CANARY_SUFFIX);
}

/** Names as resolvers are asked for, to test patterns with: all digits occur in all places. */
export function canarySamples(): string[] {
  const samples = [CANARY_SUFFIX];
  for (let digit = 0; digit < 16; digit++) {
    const digits = Array.from({ length: DIGITS }, (_, at) => ((digit + at * 7) % 16).toString(16));
    const hex = digits.join("");
    for (const start of ["b-", "c-"]) samples.push(`${start}${hex}.${CANARY_SUFFIX}`);
    samples.push(`${hex.slice(0, 8)}.b-${hex}.${CANARY_SUFFIX}`);
  }
  return samples;
}

/** The build in the name of a canary: twelve hexadecimal digits. */
export function buildOf(canary: string): string {
  return canary.slice(2, 2 + DIGITS);
}
