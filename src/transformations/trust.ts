import type { Trust } from "../config/fields.ts";
import type { Chunk } from "../rules/chunk.ts";
import { Fate } from "../rules/fate.ts";
import { Flag, Kind } from "../rules/kind.ts";
import { rewriteText, textOf } from "../rules/row-text.ts";
import { classifyAgain } from "../syntax/classify.ts";
import { filterNames } from "../syntax/hosts-names.ts";
import { isPlainName, suffixOf } from "../syntax/judge-row.ts";
import { loadRegex } from "../syntax/regex-rule.ts";
import { Suffix } from "../syntax/public-suffix.ts";
import { cancelledKey, ruleKey } from "../meaning/rule.ts";
import { TrustJudge, isWideName } from "../syntax/trust.ts";
import { RuleByRule } from "./rule-by-rule.ts";
import { Gathering, type Stage } from "./stage.ts";
import type { Workshop } from "./transformation.ts";

/** Resolvers read lines into 64 KiB; a name has 253 bytes at the most, and what else a rule says is short. */
const LONGEST_LINE = 4096;

/** What stands before everything else on the way of a source that is not fully trusted. */
export function trustStages(
  trust: Exclude<Trust, "full">,
  mayCancel: boolean,
  workshop: Workshop,
): readonly Stage[] {
  const onlyBlocks = trust === "block-only";
  const judging = new TrustJudging(workshop, new TrustJudge({ onlyBlocks }));
  // What a source may do to its own rules is done to them before the others see any.
  return mayCancel && !onlyBlocks ? [new OwnCancelling(workshop), judging] : [judging];
}

/** Loads what is needed to look at regular expressions, for lists that have some. */
export function prepareRegex({ has }: Chunk): Promise<void> | undefined {
  return has.regexes ? loadRegex() : undefined;
}

/** The same for those who may want to hide one. */
export function prepareTrust({ has }: Chunk): Promise<void> | undefined {
  // Blanks and other forms of a slash may hide one.
  return has.regexes || has.outerBlanks || has.nonAscii ? loadRegex() : undefined;
}

class TrustJudging extends RuleByRule {
  protected readonly keepsOrdinary = true;
  private readonly rules: TrustJudge;

  constructor(workshop: Workshop, rules: TrustJudge) {
    super(workshop);
    this.rules = rules;
  }

  /** Comments are no rules, but they are written to the list too. */
  protected override begin(chunk: Chunk): void {
    if (!chunk.has.comments) return;
    for (let row = 0; row < chunk.length; row++) {
      if (chunk.kind[row] !== Kind.Comment || (chunk.flags[row]! & Flag.Generated) !== 0) continue;
      const fate = judgeBytes(chunk, row);
      if (fate !== Fate.Live) chunk.drop(row, fate);
    }
  }

  protected judge(chunk: Chunk, row: number): boolean {
    const fate = this.fateOf(chunk, row);
    if (fate !== Fate.Live) chunk.drop(row, fate);
    return fate === Fate.Live;
  }

  private fateOf(chunk: Chunk, row: number): Fate {
    const kind = chunk.kind[row]!;
    if (kind === Kind.Blank) return Fate.Live;
    const bytes = judgeBytes(chunk, row);
    if (bytes !== Fate.Live) return bytes;
    if (kind === Kind.Hosts) return judgeHosts(chunk, row);
    if (kind !== Kind.Rule && isPlainName(chunk, row))
      return suffixOf(chunk, row) === Suffix.Icann ? Fate.PublicSuffix : Fate.Live;
    return this.rules.judge(textOf(chunk, row));
  }
}

/** A source's `$badfilter` rules, carried out on its own rules. */
class OwnCancelling extends Gathering {
  private readonly cancelled = new Set<string>();
  private readonly finder: Workshop["finder"];

  constructor({ pool, finder }: Workshop) {
    super(pool.shelf);
    this.finder = finder;
  }

  protected gather(chunk: Chunk): void {
    for (const row of this.finder.odd(chunk)) {
      if (chunk.kind[row] !== Kind.Rule) continue;
      const key = cancelledKey(textOf(chunk, row));
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
    return cancelledKey(text) === undefined && this.cancelled.has(ruleKey(text) ?? "");
  }

  protected close(): void {}
}

/** Control characters break terminals and parsers; AdGuard Home refuses a whole list for one. */
function judgeBytes(chunk: Chunk, row: number): Fate {
  const bytes = chunk.bytesOf(row);
  const start = chunk.start[row]!;
  const end = chunk.end[row]!;
  if (end - start > LONGEST_LINE) return Fate.TooLong;
  for (let at = start; at < end; at++) {
    const byte = bytes[at]!;
    if ((byte < 32 && byte !== 9) || byte === 127) return Fate.ControlBytes;
    // U+0080 to U+009F are control characters too.
    if (byte === 0xc2 && bytes[at + 1]! < 0xa0) return Fate.ControlBytes;
  }
  return Fate.Live;
}

/** Of a hosts line only the names go that are whole public suffixes. */
function judgeHosts(chunk: Chunk, row: number): Fate {
  if ((chunk.flags[row]! & Flag.RealAddress) !== 0) return Fate.RealAddress;
  const line = textOf(chunk, row);
  let isSuffix = false;
  const rest = filterNames(line, (name) => {
    const isWide = isWideName(name);
    isSuffix ||= isWide;
    return !isWide;
  });
  if (!isSuffix) return Fate.Live;
  if (rest === undefined) return Fate.PublicSuffix;
  rewriteText(chunk, row, rest);
  classifyAgain(chunk, row);
  return Fate.Live;
}
