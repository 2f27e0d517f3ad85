import type { Chunk } from "../rules/chunk.ts";
import type { ChunkCache } from "../rules/chunk-cache.ts";

export type Pass = (chunk: Chunk) => void;

/**
 * A stage on the way of a list's chunks, which come in order and leave in order. Nearly all of them work on a chunk by
 * itself and hand it on at once, so that a chunk is still in the cache when the next stage has it; those that must
 * have seen all chunks first hold them back.
 */
export interface Stage {
  /** Takes the next chunk, and hands on what is done with: this one, others that were held back, or none yet. */
  push(chunk: Chunk, pass: Pass): void;
  /** No more chunks will come. */
  end(pass: Pass): void;
}

/** A stage that works on every chunk by itself. */
export function eachChunk(work: (chunk: Chunk) => void): Stage {
  return {
    push(chunk, pass) {
      work(chunk);
      pass(chunk);
    },
    end() {},
  };
}

/** A stage that must see all chunks before it can work on the first. */
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
    for (const chunk of this.held) {
      this.cache.use(chunk);
      this.apply(chunk);
      pass(chunk);
      this.cache.done(chunk);
    }
    this.held = [];
    this.close();
  }
}
