import { cancelledKey } from "../meaning/rule.ts";
import { TextNumbers, grown } from "../bytes/hash.ts";
import { encodeUtf8 } from "../bytes/text.ts";
import type { ListFeature } from "../engine/feature.ts";
import type { RowFinder } from "../kernel/rows.ts";
import { normalLine, soleName } from "../meaning/line.ts";
import { type Chunk, Flag, Kind, rewriteText, textOf } from "../rules/chunk.ts";
import { Fate } from "../rules/fate.ts";
import type { ChunkPool } from "../rules/rule-table.ts";
import { classifyAgain } from "../syntax/classify.ts";
import { filterNames } from "../syntax/hosts-line.ts";
import { loadIdna, toAsciiHost } from "../syntax/written-names.ts";
import { BarrierStage, RuleStage, type StageContext, isComment } from "../transformations/stage.ts";

/**
 * Drops rules that fewer than `min_sources` sources have. `||name^`, `name`, with a note or without, and `0.0.0.0 name` count as rules for
 * the same name, in letters of any script. A hosts line with a real address is another rule, by address and name; any other rule counts by its
 * text. Exceptions and rules that cancel others stay: without them, more would be blocked.
 */
export const minSources: ListFeature = {
  name: "min_sources",
  splitsNames: ({ min_sources: least = 1 }) => least > 1,
  open({ plan, context }) {
    const { min_sources: least = 1 } = plan.config;
    if (least <= 1) return undefined;
    return {
      prepare: prepareForeignNames,
      stages() {
        const counts = new SourceCounts();
        const stages = [new Counting(counts, context), new Dropping(counts, least, context)];
        return { arrived: stages.map((stage) => ({ name: "min_sources", stage })) };
      },
    };
  },
};

/** Loads what names in other letters than ASCII need. */
export function prepareForeignNames(chunk: Chunk): Promise<void> | undefined {
  return chunk.has.nonAscii ? loadIdna() : undefined;
}

/** Counts in how many sources each key occurs. Sources come one after the other, and none can make its rules look like those of another one. */
class SourceCounts {
  private readonly keys = new TextNumbers();
  /** The last source of a key, plus one, in the upper half; how many sources it has, in the lower half. */
  private seen = new Uint32Array(4096);

  add(source: number, key: RuleKey): void {
    const found = this.find(key);
    const number = found === -1 ? this.keys.enter() : found;
    if (number === this.seen.length) this.seen = grown(this.seen);
    const known = this.seen[number]!;
    if (known >>> 16 !== source + 1)
      this.seen[number] = ((source + 1) << 16) | Math.min(0xffff, (known & 0xffff) + 1);
  }

  of(key: RuleKey): number {
    const number = this.find(key);
    return number === -1 ? 0 : this.seen[number]! & 0xffff;
  }

  /** For names, it ignores case: the bit that differs between cases is set in all other bytes of names anyway. */
  private find({ bytes, start, end, isName }: RuleKey): number {
    return this.keys.find(bytes, start, end, isName ? 32 : 0);
  }
}

class Counting extends BarrierStage {
  private readonly counts: SourceCounts;
  private readonly pool: ChunkPool;
  private readonly finder: RowFinder;

  constructor(counts: SourceCounts, { pool, finder }: StageContext) {
    super(pool.cache);
    this.counts = counts;
    this.pool = pool;
    this.finder = finder;
  }

  protected gather(chunk: Chunk): void {
    const { counts } = this;
    const { source } = this.pool.origins[chunk.origin]!;
    for (const row of this.finder.live(chunk)) {
      if (!isCounted(chunk, row)) continue;
      if (isByName(chunk, row)) {
        const address = realAddressOf(chunk, row);
        filterNames(textOf(chunk, row), (name) => {
          counts.add(source, keyOfName(address + asciiName(name)));
          return true;
        });
      } else counts.add(source, keyOf(chunk, row));
    }
  }

  protected resolve(): void {}
  protected apply(): void {}
  protected close(): void {}
}

class Dropping extends RuleStage {
  protected readonly keepsOrdinary = false;
  private readonly counts: SourceCounts;
  private readonly least: number;

  constructor(counts: SourceCounts, least: number, context: StageContext) {
    super(context);
    this.counts = counts;
    this.least = least;
  }

  protected judge(chunk: Chunk, row: number): boolean {
    if (!isCounted(chunk, row)) return true;
    if (isByName(chunk, row)) return this.judgeNames(chunk, row);
    if (this.counts.of(keyOf(chunk, row)) >= this.least) return true;
    chunk.drop(row, Fate.FewSources);
    return false;
  }

  /** Leaves the names of a hosts line that enough sources have. */
  private judgeNames(chunk: Chunk, row: number): boolean {
    const line = textOf(chunk, row);
    const address = realAddressOf(chunk, row);
    const rest = filterNames(
      line,
      (name) => this.counts.of(keyOfName(address + asciiName(name))) >= this.least,
    );
    if (rest === line) return true;
    if (rest === undefined) {
      chunk.drop(row, Fate.FewSources);
      return false;
    }
    rewriteText(chunk, row, rest);
    classifyAgain(chunk, row);
    return true;
  }
}

/** Whether the row is a hosts line whose names are counted one by one. */
function isByName(chunk: Chunk, row: number): boolean {
  const odd = Flag.SeveralNames | Flag.RealAddress | Flag.NonAscii;
  const isOdd = (chunk.flags[row]! & odd) !== 0;
  return chunk.kind[row] === Kind.Hosts && isOdd;
}

/** A line that maps names to a real address does not block them: the address is part of the key. Otherwise empty. */
function realAddressOf(chunk: Chunk, row: number): string {
  if ((chunk.flags[row]! & Flag.RealAddress) === 0) return "";
  return `${/\S+/.exec(textOf(chunk, row))?.[0] ?? ""} `;
}

/** Whether the row blocks something. */
function isCounted(chunk: Chunk, row: number): boolean {
  if (isComment(chunk, row) || chunk.kind[row] === Kind.Blank) return false;
  if ((chunk.flags[row]! & (Flag.Allow | Flag.Generated)) !== 0) return false;
  return chunk.kind[row] !== Kind.Rule || cancelledKey(textOf(chunk, row)) === undefined;
}

/** What rows of the same meaning share: their name, or their text. */
interface RuleKey {
  readonly bytes: Uint8Array;
  readonly start: number;
  readonly end: number;
  readonly isName: boolean;
}

function keyOf(chunk: Chunk, row: number): RuleKey {
  const bytes = chunk.bytesOf(row);
  const [start, end] = [chunk.hostStart[row]!, chunk.hostEnd[row]!];
  const isPlain = (chunk.flags[row]! & (Flag.PlainHost | Flag.NonAscii)) === Flag.PlainHost;
  if (isPlain && chunk.kind[row] !== Kind.Rule) return { bytes, start, end, isName: true };
  const text = textOf(chunk, row).trim();
  const normal = normalLine(text, chunk.kind[row] === Kind.Hosts) ?? text;
  const name = soleName(normal)?.name;
  return { ...keyOfName(name ?? normal), isName: name !== undefined };
}

/** The ASCII form of a name, if it has one, without a final dot. */
function asciiName(name: string): string {
  const ascii = /^[\u0000-\u007f]*$/.test(name) ? name : (toAsciiHost(name) ?? name);
  return ascii.replace(/\.$/, "");
}

function keyOfName(name: string): RuleKey {
  const bytes = encodeUtf8(name);
  return { bytes, start: 0, end: bytes.length, isName: true };
}
