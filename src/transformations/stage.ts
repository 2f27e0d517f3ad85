import type { Chunk } from "../rules/chunk.ts";
import type { ChunkCache } from "../rules/chunk-cache.ts";
import type { Fate } from "../rules/fate.ts";
import { Flag, Kind } from "../rules/kind.ts";
import { type ChunkPool, rowOf } from "../rules/rule-table.ts";
import type { NameMatcher } from "../meaning/name-matcher.ts";
import type { RowFinder } from "../kernel/row-finder.ts";

export type Pass = (chunk: Chunk) => void;

/**
 * One step of the pipeline. Chunks arrive and leave in order. Most stages process each chunk alone and pass it on at once, so
 * that it is still in the CPU cache for the next stage. Stages that need all chunks first hold them.
 */
export interface Stage {
  /** Takes the next chunk. Passes on finished chunks: this one, held ones, or none yet. */
  push(chunk: Chunk, pass: Pass): void;
  /** Called after the last chunk. */
  end(pass: Pass): void;
}

/** A stage that processes every chunk by itself. */
export function eachChunk(work: (chunk: Chunk) => void): Stage {
  return {
    push(chunk, pass) {
      work(chunk);
      pass(chunk);
    },
    end() {},
  };
}

/** A stage that shows all chunks to a matcher, and then judges each with what `decide` returns. */
export function afterMatching(
  watch: NameMatcher,
  { cache }: ChunkPool,
  decide: (held: readonly Chunk[]) => (chunk: Chunk) => void,
): Stage {
  const held: Chunk[] = [];
  return {
    push(chunk) {
      watch.take(chunk);
      held.push(chunk);
    },
    end(pass) {
      const judge = decide(held);
      cache.each(held.splice(0), (chunk) => {
        judge(chunk);
        pass(chunk);
      });
    },
  };
}

/** Passes on held chunks without some of their rows, which are given by their ids. */
export function passWithout(
  { held, dropped }: { readonly held: readonly Chunk[]; readonly dropped: Iterable<number> },
  fate: Fate,
  pool: ChunkPool,
  pass: Pass,
): void {
  const byChunk = Map.groupBy(dropped, (id) => pool.chunkOf(id));
  pool.cache.each(held, (chunk) => {
    for (const id of byChunk.get(chunk) ?? []) chunk.drop(rowOf(id), fate);
    pass(chunk);
  });
}

/** The exceptions of a chunk that sources wrote. */
export function* exceptionsIn(chunk: Chunk, finder: RowFinder): Generator<number> {
  for (const row of finder.special(chunk)) {
    const flags = chunk.flags[row]! & (Flag.Allow | Flag.Generated);
    if (chunk.kind[row] === Kind.Rule && flags === Flag.Allow) yield row;
  }
}

/** A stage that must see all chunks before it processes the first. */
export abstract class BarrierStage implements Stage {
  private readonly cache: ChunkCache;
  private held: Chunk[] = [];

  constructor(cache: ChunkCache) {
    this.cache = cache;
  }

  protected abstract gather(chunk: Chunk): void;
  protected abstract resolve(): void;
  protected abstract apply(chunk: Chunk): void;
  protected abstract close(): void;

  push(chunk: Chunk): void {
    this.gather(chunk);
    this.held.push(chunk);
  }

  end(pass: Pass): void {
    this.resolve();
    this.cache.each(this.held, (chunk) => {
      this.apply(chunk);
      pass(chunk);
    });
    this.held = [];
    this.close();
  }
}
