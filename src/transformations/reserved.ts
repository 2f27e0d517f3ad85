import { NameRules } from "../meaning/name-rules.ts";
import { isForHost } from "../meaning/name-matcher.ts";
import { cancelledKey } from "../meaning/rule.ts";
import type { Chunk } from "../rules/chunk.ts";
import { Fate } from "../rules/fate.ts";
import { Flag, Kind } from "../rules/kind.ts";
import { hostOf, rewriteText, textOf } from "../rules/row-text.ts";
import {
  canarySamples,
  isCanaryRule,
  isReservedName,
  namesCanaries,
} from "../syntax/canary-name.ts";
import { classifyAgain } from "../syntax/classify.ts";
import { filterNames } from "../syntax/hosts-names.ts";
import { asciiLabels } from "../syntax/idna.ts";
import { type Stage, eachChunk } from "./stage.ts";
import type { StageContext } from "./stage-context.ts";

const LAST_BYTES = [0x65, 0x6c] as const;
const LOWER_CASE = 0x20;
/** Names that have nothing in common. Own rules that match all of them mean everything, and stay. */
const UNRELATED = ["q7.zx-0wv.org", "kjw9.fgyu.com", "m.hd2.net"];

/**
 * Drops the lines of all sources that touch the names of canaries: only the canary itself may say which build a resolver
 * answers from. The canary of another list counts as metadata. Own rules for every name stay, because the user demands them.
 */
export class Reserved {
  private readonly samples = new NameRules(canarySamples(), true);
  private readonly unrelated = new NameRules(UNRELATED, false);
  private readonly context: StageContext;
  private readonly isOwn: (source: number) => boolean;

  /** `isOwn`: whether a source, given by its index, is fully trusted. */
  constructor(context: StageContext, isOwn: (source: number) => boolean) {
    this.context = context;
    this.isOwn = isOwn;
  }

  stage(): Stage {
    return eachChunk((chunk) => {
      for (const row of this.context.finder.live(chunk)) this.judge(chunk, row);
    });
  }

  /** Drops a row, or the names of a hosts line; returns whether the row stays. */
  judge(chunk: Chunk, row: number): boolean {
    const kind = chunk.kind[row]!;
    if (kind < Kind.Hosts) return true;
    const flags = chunk.flags[row]!;
    if (kind === Kind.Hosts && (flags & Flag.SeveralNames) !== 0) return judgeNames(chunk, row);
    const isPattern = kind === Kind.Rule && !isForHost(chunk, row);
    const isTouching = isPattern ? this.isPatternFor(chunk, row) : isForReserved(chunk, row);
    if (isTouching)
      chunk.drop(row, isCanaryRule(textOf(chunk, row)) ? Fate.Metadata : Fate.Reserved);
    return !isTouching;
  }

  private isPatternFor(chunk: Chunk, row: number): boolean {
    const text = textOf(chunk, row).trim();
    const read = cancelledKey(text) ?? text;
    if (!namesCanaries(read) && this.samples.read(read) === undefined) return false;
    const { source } = this.context.pool.origins[chunk.origin]!;
    return !this.isOwn(source) || this.unrelated.read(read)?.names.length !== UNRELATED.length;
  }
}

function isForReserved(chunk: Chunk, row: number): boolean {
  const start = chunk.hostStart[row]!;
  const end = chunk.hostEnd[row]!;
  if ((chunk.flags[row]! & Flag.NonAscii) === 0) {
    // Nearly all names end with other letters.
    const bytes = chunk.bytesOf(row);
    if (end - start < 2 || (bytes[end - 1]! | LOWER_CASE) !== LAST_BYTES[0]) return false;
    if ((bytes[end - 2]! | LOWER_CASE) !== LAST_BYTES[1]) return false;
  }
  return isReservedName(asciiLabels(hostOf(chunk, row).toLowerCase()));
}

function judgeNames(chunk: Chunk, row: number): boolean {
  const line = textOf(chunk, row);
  const rest = filterNames(line, (name) => !isReservedName(asciiLabels(name.toLowerCase())));
  if (rest === line) return true;
  if (rest === undefined) {
    chunk.drop(row, Fate.Reserved);
    return false;
  }
  rewriteText(chunk, row, rest);
  classifyAgain(chunk, row);
  return true;
}
