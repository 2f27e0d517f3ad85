import type { Chunk } from "../rules/chunk.ts";
import { Fate } from "../rules/fate.ts";
import { Kind } from "../rules/kind.ts";
import { textOf } from "../rules/row-text.ts";
import { classifyAgain } from "../syntax/classify.ts";
import { SAFE_SEARCH } from "./safe-search.ts";
import { BarrierStage } from "./stage.ts";
import type { StageContext } from "./stage-context.ts";

const REWRITE = "$dnsrewrite=";
/** In a smaller zone, a common target may be a server of the author. */
const LEAST_RECORDS = 50;
/** Targets that are counted at a time. */
const MOST_TARGETS = 64;

/**
 * The operator of a zone may answer every blocked name with a landing page. A target that most names of a zone have is such a page, so
 * its records are blocks; all others are rewrites. Records for safe search are always rewrites.
 */
export class Sinkholes extends BarrierStage {
  private readonly finder: StageContext["finder"];
  /** Each target is counted too low by at most the 65th part of all, so that a zone with many targets needs little memory. */
  private readonly targets = new Map<string, number>();
  private readonly sinkholes = new Set<string>();
  private records = 0;
  private names = 0;
  private lastName = "";

  constructor({ pool, finder }: StageContext) {
    super(pool.cache);
    this.finder = finder;
  }

  protected gather(chunk: Chunk): void {
    const { fate, kind, length } = chunk;
    for (let row = 0; row < length; row++) {
      if (fate[row] === Fate.Joined) this.records++;
      if (fate[row] !== Fate.Kept || kind[row]! < Kind.Hosts) continue;
      this.records++;
      const [name, target] = kind[row] === Kind.Rule ? partsOf(textOf(chunk, row)) : [""];
      // Addresses of both families are two records of one name.
      if (target === undefined || name !== this.lastName) this.names++;
      this.lastName = name;
      if (target !== undefined) this.count(target);
    }
  }

  private count(target: string): void {
    const { targets } = this;
    const known = targets.get(target);
    if (known !== undefined || targets.size < MOST_TARGETS) {
      targets.set(target, (known ?? 0) + 1);
      return;
    }
    for (const [other, times] of targets)
      if (times === 1) targets.delete(other);
      else targets.set(other, times - 1);
  }

  protected resolve(): void {
    if (this.records < LEAST_RECORDS) return;
    for (const [target, times] of this.targets)
      if (times > this.names / 2 && !SAFE_SEARCH.has(target)) this.sinkholes.add(target);
  }

  protected apply(chunk: Chunk): void {
    if (this.sinkholes.size === 0) return;
    for (const row of this.finder.special(chunk)) {
      if (chunk.kind[row] !== Kind.Rule) continue;
      const [, target] = partsOf(textOf(chunk, row));
      if (target === undefined || !this.sinkholes.has(target)) continue;
      chunk.end[row]! -= REWRITE.length + target.length;
      classifyAgain(chunk, row);
    }
  }

  protected close(): void {}
}

/** The name and the target of a rule, as the reader of a zone writes them: ASCII. */
function partsOf(text: string): [pattern: string, target?: string] {
  const at = text.indexOf(REWRITE);
  return at === -1 ? [text] : [text.slice(0, at), text.slice(at + REWRITE.length)];
}
