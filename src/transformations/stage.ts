import type { Chunk } from "../rules/chunk.ts";
import type { ChunkCache } from "../rules/chunk-cache.ts";

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
