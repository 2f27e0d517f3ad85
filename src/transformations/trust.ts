import {
  BACKSLASH,
  CLASS_OF,
  COMMA,
  DOLLAR,
  DOT,
  HASH,
  HOST_CLASSES,
  HYPHEN,
  SPACE,
  TAB,
  UNDERSCORE,
  decodeUtf8,
} from "../bytes/text.ts";
import type { Trust } from "../config/fields.ts";
import { normalLine } from "../meaning/line.ts";
import { cancelledKey, ruleKey } from "../meaning/rule.ts";
import { type Chunk, Flag, Kind, hostOf, rewriteText, textOf } from "../rules/chunk.ts";
import { Fate } from "../rules/fate.ts";
import {
  formatAdblockRule,
  isPlainName,
  parseAdblockRule,
  suffixOf,
  tidyRule,
} from "../syntax/adblock-rule.ts";
import { classifyAgain, endsLikeDomain } from "../syntax/classify.ts";
import { filterNames, isLocalName, isOddAddress } from "../syntax/hosts-line.ts";
import { Sign, hasUnsafeCharacters, isMetadata, signsOf } from "../syntax/list-scan.ts";
import { Suffix, isListedSuffix } from "../syntax/public-suffix.ts";
import { loadRegex } from "../syntax/regex-rule.ts";
import { TrustJudge, isWideName } from "../syntax/trust.ts";
import { loadIdna } from "../syntax/written-names.ts";
import { BarrierStage, RuleStage, type Stage, type StageContext, eachChunk } from "./stage.ts";

/** Resolvers read lines into 64 KiB. A name has at most 253 bytes, and the rest of a rule is short. */
const LONGEST_LINE = 4096;

/**
 * The first stages of every source: they normalise lines and drop what the source may not do. They call `onWeakened` for each
 * exception that lost its `$important`.
 */
export function trustStages(
  trust: Trust,
  mayCancel: boolean,
  context: StageContext,
  onWeakened: () => void = () => {},
): readonly Stage[] {
  if (trust === "full") return [tidying(context)];
  const judging = new SourceJudging(context, judgeFor(trust), onWeakened);
  // A source cancels its own rules before the other sources see them.
  return mayCancel && trust === "standard" ? [new OwnCancelling(context), judging] : [judging];
}

function judgeFor(trust: Exclude<Trust, "full">): TrustJudge {
  return new TrustJudge({ onlyBlocks: trust === "block-only" });
}

/** The only stage for a fully trusted source. It takes a fifth of the time of a `RuleStage`. */
function tidying({ finder }: StageContext): Stage {
  return eachChunk((chunk) => {
    for (const row of finder.special(chunk)) {
      if (isNothingButName(chunk, row)) continue;
      if ((chunk.flags[row]! & Flag.Generated) !== 0) continue;
      const signs = signsOf(chunk.bytesOf(row), chunk.start[row]!, chunk.end[row]!);
      const fate = tidy(chunk, row, signs) || judgeSigns(chunk, row, signs);
      if (fate !== Fate.Kept) chunk.drop(row, fate);
    }
  });
}

/**
 * The last stage of the list: judges rows again whose text changed since the first time. `trustOf` gives the trust of a source
 * by its index.
 */
export function finalTrust(
  trustOf: (source: number) => Trust,
  { pool, finder }: StageContext,
): Stage {
  const judges = new Map<number, TrustJudge>();
  return eachChunk((chunk) => {
    const { source } = pool.origins[chunk.origin]!;
    const trust = trustOf(source);
    if (trust === "full") return;
    const judge = judges.get(source) ?? judgeFor(trust);
    judges.set(source, judge);
    for (const row of finder.special(chunk)) {
      if ((chunk.flags[row]! & (Flag.Judged | Flag.Generated)) !== 0) continue;
      const fate = fateOf(chunk, row, judge);
      if (fate === Fate.Kept) weaken(chunk, row);
      else chunk.drop(row, fate);
    }
  });
}

/** Loads the regex parser, for lists that need it. */
export function prepareRegex({ has }: Chunk): Promise<void> | undefined {
  return has.regexes ? loadRegex() : undefined;
}

/** The same for untrusted sources. */
export function prepareTrust({ has }: Chunk): Promise<void> | undefined {
  // Blanks and Unicode slashes may hide a regex.
  return has.regexes || has.outerBlanks || has.nonAscii ? loadRegex() : undefined;
}

/** Loads what names in other letters than ASCII need. Most lists have such letters in comments only. */
export function prepareNames(chunk: Chunk): Promise<void> | undefined {
  if (!chunk.has.nonAscii) return undefined;
  for (let row = 0; row < chunk.length; row++)
    if (chunk.kind[row]! >= Kind.Hosts && hasForeignName(chunk, row)) return loadIdna();
  return undefined;
}

/** Whether the row has other letters than ASCII before its note or selector. */
function hasForeignName(chunk: Chunk, row: number): boolean {
  if ((chunk.flags[row]! & Flag.NonAscii) === 0) return false;
  const bytes = chunk.bytesOf(row);
  const end = chunk.end[row]!;
  let at = chunk.start[row]!;
  while (at < end && bytes[at]! < 128 && bytes[at] !== HASH) at++;
  return at < end && bytes[at] !== HASH;
}

class SourceJudging extends RuleStage {
  protected readonly keepsOrdinary = true;
  private readonly rules: TrustJudge;
  private readonly onWeakened: () => void;

  constructor(context: StageContext, rules: TrustJudge, onWeakened: () => void) {
    super(context);
    this.rules = rules;
    this.onWeakened = onWeakened;
  }

  /** Comments are written to the list too. */
  protected override begin(chunk: Chunk): void {
    if (!chunk.has.comments) return;
    for (let row = 0; row < chunk.length; row++) {
      if (chunk.kind[row] !== Kind.Comment || chunk.fate[row] !== Fate.Kept) continue;
      if ((chunk.flags[row]! & Flag.Generated) !== 0) continue;
      const fate = judgeText(chunk, row, true);
      if (fate !== Fate.Kept) chunk.drop(row, fate);
    }
  }

  protected judge(chunk: Chunk, row: number): boolean {
    const signs = signsOf(chunk.bytesOf(row), chunk.start[row]!, chunk.end[row]!);
    const fate = tidy(chunk, row, signs) || fateOf(chunk, row, this.rules);
    if (fate !== Fate.Kept) {
      chunk.drop(row, fate);
      return false;
    }
    if (weaken(chunk, row)) this.onWeakened();
    chunk.flags[row]! |= Flag.Judged;
    return true;
  }
}

/** Why a row that is not an ordinary name is dropped, or `Fate.Kept`. */
function fateOf(chunk: Chunk, row: number, rules: TrustJudge): Fate {
  const kind = chunk.kind[row]!;
  if (kind === Kind.Blank) return Fate.Kept;
  const text = judgeText(chunk, row, true);
  if (text !== Fate.Kept || kind === Kind.Comment) return text;
  if ((chunk.flags[row]! & Flag.AsBlock) === 0 && kind === Kind.Hosts)
    return judgeHosts(chunk, row, rules);
  if (kind !== Kind.Rule && isPlainName(chunk, row))
    return isListedName(chunk, row) ? Fate.PublicSuffix : Fate.Kept;
  return rules.judge(textOf(chunk, row));
}

/** Whether a plain name is itself a public suffix. */
function isListedName(chunk: Chunk, row: number): boolean {
  if (suffixOf(chunk, row) !== Suffix.Icann) return false;
  return isListedSuffix(hostOf(chunk, row).toLowerCase());
}

/** AdGuard Home rejects a whole list for one control character. */
function judgeText(chunk: Chunk, row: number, isStrange: boolean): Fate {
  const bytes = chunk.bytesOf(row);
  const start = chunk.start[row]!;
  const end = chunk.end[row]!;
  if (isStrange && end - start > LONGEST_LINE) return Fate.TooLong;
  return judgeSigns(chunk, row, signsOf(bytes, start, end));
}

function judgeSigns(chunk: Chunk, row: number, signs: number): Fate {
  if ((signs & (Sign.Unsafe | Sign.Metadata)) === 0) return Fate.Kept;
  const bytes = chunk.bytesOf(row);
  const start = chunk.start[row]!;
  const end = chunk.end[row]!;
  if ((signs & Sign.Unsafe) !== 0 && hasUnsafeCharacters(bytes, start, end))
    return Fate.ControlBytes;
  return (signs & Sign.Metadata) !== 0 && isMetadata(decodeUtf8(bytes, start, end))
    ? Fate.Metadata
    : Fate.Kept;
}

/** An address and a plain name, a plain name, or `||name^`, without a suffix. These need no tidying. */
function isNothingButName(chunk: Chunk, row: number): boolean {
  const flags =
    chunk.flags[row]! & (Flag.PlainHost | Flag.UpperHost | Flag.SeveralNames | Flag.NonAscii);
  const kind = chunk.kind[row]!;
  if (flags !== Flag.PlainHost || kind < Kind.Hosts || kind === Kind.Rule) return false;
  if (chunk.hostEnd[row] !== chunk.end[row]! - (kind === Kind.Block ? 1 : 0)) return false;
  return kind === Kind.Block || !isOddName(chunk, row, 0);
}

/** Writes a row in the form that all resolvers read alike. Returns why it is dropped, or `Fate.Kept`. */
function tidy(chunk: Chunk, row: number, signs: number): Fate {
  if (chunk.kind[row]! < Kind.Hosts || (chunk.flags[row]! & Flag.AsBlock) !== 0) return Fate.Kept;
  if ((signs & Sign.OuterBlank) !== 0) trim(chunk, row);
  const kind = chunk.kind[row]!;
  if (kind < Kind.Hosts) return Fate.Kept;
  const hasUntidy = kind >= Kind.Block && (signs & Sign.Dollar) !== 0 && isUntidy(chunk, row);
  const isOdd =
    (signs & (Sign.FinalDot | Sign.Upper)) !== 0 ||
    hasForeignName(chunk, row) ||
    isOddName(chunk, row, signs);
  if (!hasUntidy && !isOdd) return Fate.Kept;
  const text = textOf(chunk, row);
  const tidied = hasUntidy ? tidyRule(text) : text;
  const written = isOdd ? normalLine(tidied, kind === Kind.Hosts) : tidied;
  if (written === undefined) return judgeSigns(chunk, row, signs) || Fate.BadHost;
  if (written === text) return Fate.Kept;
  rewriteText(chunk, row, written);
  classifyAgain(chunk, row);
  return Fate.Kept;
}

/** Whether resolvers may not read the row as the name or the hosts line that it is. */
function isOddName(chunk: Chunk, row: number, signs: number): boolean {
  const bytes = chunk.bytesOf(row);
  const start = chunk.start[row]!;
  const end = chunk.end[row]!;
  const kind = chunk.kind[row];
  if (kind === Kind.Domain) return !endsLikeDomain(bytes, start, end);
  if (kind === Kind.Hosts) return (signs & Sign.Hash) !== 0 || isOddAddress(bytes, start);
  return kind === Kind.Rule && isNameLine(bytes, start, end);
}

/** The scanner reads an unusual name, with or without a note, as a rule. */
function isNameLine(bytes: Uint8Array, start: number, end: number): boolean {
  let at = start;
  while (at < end && isNameByte(bytes[at]!)) at++;
  if (at === start || bytes[start] === HYPHEN || bytes[start] === DOT) return false;
  while (at < end && isBlank(bytes[at])) at++;
  return at === end || (bytes[at] === HASH && isBlank(bytes[at - 1]));
}

function isNameByte(byte: number): boolean {
  return (CLASS_OF[byte]! & HOST_CLASSES) !== 0 || byte === UNDERSCORE;
}

/** An untrusted exception may not override the blocks of others: it loses its `$important`. */
function weaken(chunk: Chunk, row: number): boolean {
  if (chunk.kind[row] !== Kind.Rule || (chunk.flags[row]! & Flag.Allow) === 0) return false;
  const text = textOf(chunk, row);
  if (!text.includes("important")) return false;
  const rule = parseAdblockRule(text);
  const modifiers = rule?.modifiers.filter(({ name }) => name !== "important") ?? [];
  if (rule === undefined || modifiers.length === rule.modifiers.length) return false;
  rewriteText(chunk, row, formatAdblockRule({ ...rule, modifiers }));
  classifyAgain(chunk, row);
  return true;
}

/** Resolvers ignore surrounding blanks. */
function trim(chunk: Chunk, row: number): void {
  const bytes = chunk.bytesOf(row);
  while (isBlank(bytes[chunk.start[row]!])) chunk.start[row]!++;
  while (isBlank(bytes[chunk.end[row]! - 1])) chunk.end[row]!--;
  classifyAgain(chunk, row);
}

/** Whether a modifier is empty or has a blank beside it: two adjacent separators, or a separator and a blank. */
function isUntidy(chunk: Chunk, row: number): boolean {
  const bytes = chunk.bytesOf(row);
  const start = chunk.start[row]!;
  let at = chunk.end[row]! - 1;
  while (at >= start && isBlank(bytes[at])) at--;
  let isFound = false;
  for (let next = COMMA; at >= start; next = bytes[at--]!) {
    const byte = bytes[at]!;
    if (byte === COMMA || byte === DOLLAR) isFound ||= next === COMMA || isBlank(next);
    else isFound ||= isBlank(byte) && next === COMMA;
    if (byte === DOLLAR && bytes[at - 1] !== BACKSLASH) return isFound || isBlank(bytes[at - 1]);
  }
  return false;
}

function isBlank(byte: number | undefined): boolean {
  return byte === SPACE || byte === TAB;
}

/** Applies a source's `$badfilter` rules to its own rules. */
class OwnCancelling extends BarrierStage {
  private readonly cancelled = new Set<string>();
  private readonly finder: StageContext["finder"];

  constructor({ pool, finder }: StageContext) {
    super(pool.cache);
    this.finder = finder;
  }

  protected gather(chunk: Chunk): void {
    for (const row of this.finder.special(chunk)) {
      if (chunk.kind[row] !== Kind.Rule) continue;
      const key = cancelledKey(tidyRule(textOf(chunk, row)));
      if (key !== undefined) this.cancelled.add(key);
    }
  }

  protected resolve(): void {}

  protected apply(chunk: Chunk): void {
    if (this.cancelled.size === 0) return;
    for (const row of this.finder.live(chunk))
      if (this.isCancelled(chunk, row)) chunk.drop(row, Fate.Cancelled);
  }

  private isCancelled(chunk: Chunk, row: number): boolean {
    const kind = chunk.kind[row]!;
    if (kind < Kind.Domain) return false;
    const text = textOf(chunk, row);
    if (kind !== Kind.Rule) return this.cancelled.has(text);
    const tidied = tidyRule(text);
    return cancelledKey(tidied) === undefined && this.cancelled.has(ruleKey(tidied) ?? "");
  }

  protected close(): void {}
}

/** Drops only those names of a hosts line that are whole public suffixes. */
function judgeHosts(chunk: Chunk, row: number, { trial }: TrustJudge): Fate {
  const line = textOf(chunk, row);
  if ((chunk.flags[row]! & Flag.RealAddress) !== 0) {
    // `255.255.255.255 broadcasthost` is in the header of hosts files.
    const isLocal = filterNames(line, (name) => !isLocalName(name)) === undefined;
    return isLocal ? Fate.LocalName : Fate.RealAddress;
  }
  let isSuffix = false;
  const rest = filterNames(line, (name) => {
    const isWide = isWideName(name, trial);
    isSuffix ||= isWide;
    return !isWide;
  });
  if (!isSuffix) return Fate.Kept;
  if (rest === undefined) return Fate.PublicSuffix;
  rewriteText(chunk, row, rest);
  classifyAgain(chunk, row);
  return Fate.Kept;
}
