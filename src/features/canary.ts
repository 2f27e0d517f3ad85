import { type Hash, createHash } from "node:crypto";
import { ByteBuffer, LF, encodeUtf8 } from "../bytes/text.ts";
import { hasCanary } from "../config/resolvers.ts";
import type { ListFeature } from "../engine/feature.ts";
import { cancelledKey } from "../meaning/rule.ts";
import { NameRules, isForHost } from "../meaning/verdict.ts";
import { Chunk, Flag, Kind, appendText, hostOf, rewriteText, textOf } from "../rules/chunk.ts";
import { Fate } from "../rules/fate.ts";
import { classifyAgain } from "../syntax/classify.ts";
import {
  canaryName,
  canarySamples,
  isCanaryRule,
  isReservedName,
  namesCanaries,
} from "../syntax/host-name.ts";
import { filterNames } from "../syntax/hosts-line.ts";
import { asciiLabels } from "../syntax/written-names.ts";
import { type Pass, type Stage, type StageContext, eachChunk } from "../transformations/stage.ts";

/** A list that resolvers must answer from blocks a name that only this build blocks. No source may say anything about such names. */
export const canary: ListFeature = {
  name: "canary",
  open(list) {
    if (!hasCanary(list.plan.config)) return undefined;
    const { context } = list;
    const reserved = new Reserved(context, list.isFull);
    return {
      stages: () => ({
        arrived: [{ name: "canary", stage: reserved.stage() }],
        last: [{ name: "canary", stage: new CanaryStage(context, reserved) }],
      }),
      result: () => ({ shape: { hasCanary: true } }),
    };
  },
};

const LAST_BYTES = [0x65, 0x6c] as const;
const LOWER_CASE = 0x20;
/** Names that have nothing in common. Own rules that match all of them mean everything, and stay. */
const UNRELATED = ["q7.zx-0wv.org", "kjw9.fgyu.com", "m.hd2.net"];

/**
 * Drops the lines of all sources that touch the names of canaries: only the canary itself may say which build a resolver
 * answers from. The canary of another list counts as metadata. Own rules for every name stay, because the user demands them.
 */
class Reserved {
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

/**
 * Drops what later stages made of rules that touch canaries, and adds the canary to the end of a list. Its name is a digest of the lines before it, so a list whose rules did not change stays
 * the same file.
 */
class CanaryStage implements Stage {
  private readonly context: StageContext;
  private readonly hash: Hash = createHash("sha256");
  private readonly lines = new ByteBuffer();
  /** Of the first source, whose rules have priority in outputs with `fit`. */
  private origin: number | undefined;
  private hasSubtrees = false;
  private hasRules = false;

  private readonly reserved: Reserved;

  constructor(context: StageContext, reserved: Reserved) {
    this.context = context;
    this.reserved = reserved;
  }

  push(chunk: Chunk, pass: Pass): void {
    this.origin ??= chunk.origin;
    const { lines } = this;
    lines.length = 0;
    for (const row of this.context.finder.live(chunk)) {
      if (!this.reserved.judge(chunk, row)) continue;
      lines.push(LF);
      appendText(chunk, row, lines);
      const kind = chunk.kind[row]!;
      this.hasRules ||= kind >= Kind.Hosts;
      this.hasSubtrees ||= kind === Kind.Block || kind === Kind.Rule;
    }
    this.hash.update(lines.view());
    pass(chunk);
  }

  end(pass: Pass): void {
    // A list without rules must stay one, for the guards.
    if (this.origin === undefined || !this.hasRules) return;
    const { pool } = this.context;
    const name = canaryName(this.hash.digest("hex"));
    // In a list of single names, a rule for a subtree would be the only one that some formats cannot express.
    const bytes = encodeUtf8(this.hasSubtrees ? `||${name}^` : `0.0.0.0 ${name}`);
    const chunk = pool.add(new Chunk(pool.arena, this.origin, bytes, { capacity: 1 }));
    const row = chunk.push(0, bytes.length, 0);
    classifyAgain(chunk, row);
    chunk.flags[row]! |= Flag.Generated;
    chunk.has.otherRows = true;
    pass(chunk);
    pool.cache.done(chunk);
  }
}
