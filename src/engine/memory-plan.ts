import type { Host, Scratch } from "../host/host.ts";
import type { KernelMemory } from "../kernel/kernel-memory.ts";
import type { MemoryBudget } from "../kernel/memory-budget.ts";
import { scratchOf } from "./scratch.ts";

const MEGABYTE = 1024 * 1024;

/** Memory of the runtime and the program before the first line, plus garbage. */
const BASE = 100 * MEGABYTE;
/** Minimum for the work, whatever limit the user sets. */
const LEAST = 16 * MEGABYTE;
/** The kernel can address 4 GiB. */
const MOST_PAGES = 1536 * MEGABYTE;
const MOST_CHUNKS = 1792 * MEGABYTE;
/** Default share of the machine's memory. */
const SHARE = 0.5;

/** Where data is stored. Every plan gives the same list. */
export interface MemoryPlan {
  /** Bytes of chunks that stay in memory. */
  readonly chunksLimit: number;
  readonly budget: MemoryBudget;
  /** Closes all open scratch files and discards their content. */
  close(): void;
}

export interface MemoryOptions {
  /** Soft limit for the process, in bytes. */
  readonly memory?: number | undefined;
  /** Overrides the limits derived from `memory`, for tests. */
  readonly limits?: Partial<MemoryLimits> | undefined;
}

export interface MemoryLimits {
  readonly chunks: number;
  readonly pages: number;
  readonly pageBytes: number;
  readonly partitions: number;
  /** Unused bytes at the start of the arena, to test addresses above 2 GiB with small lists. */
  readonly unused: number;
}

export function memoryPlan(
  { memory, limits }: MemoryOptions,
  host: Host,
  kernel: KernelMemory,
): MemoryPlan {
  const { chunks, pages, pageBytes, partitions, unused } = {
    ...limitsOf(memory ?? host.memoryLimit() * SHARE),
    ...limits,
  };
  if (unused > 0) kernel.allocate(unused);
  const open = new Set<Scratch>();
  return {
    close() {
      for (const scratch of open) scratch.close();
      open.clear();
    },
    chunksLimit: chunks,
    budget: {
      kernel,
      partitions,
      pageBytes,
      pagesLimit: pages,
      openScratch() {
        const scratch = scratchOf(host);
        open.add(scratch);
        return {
          ...scratch,
          close() {
            if (open.delete(scratch)) scratch.close();
          },
        };
      },
    },
  };
}

/** The rest is for the current partition and its table. */
function limitsOf(memory: number): MemoryLimits {
  const work = Math.max(LEAST, memory - BASE);
  return {
    chunks: Math.min(work * 0.3, MOST_CHUNKS),
    pages: Math.min(work * 0.2, MOST_PAGES),
    // Each partition has a page open, so little memory needs small pages.
    pageBytes: work < 256 * MEGABYTE ? 16_384 : 65_536,
    partitions: 256,
    unused: 0,
  };
}

/** Bytes of chunks per byte of text: the text, and 29 bytes of columns per line of about 24. */
const CHUNK_FACTOR = 2.2;
/** Bytes of records per byte of text: a name, and 16 bytes with it. */
const RECORD_FACTOR = 1.8;

/** Grows the arena for this much text, up to its limit. */
export function expectText(textBytes: number, { chunksLimit, budget }: MemoryPlan): void {
  const chunks = Math.min(textBytes * CHUNK_FACTOR, chunksLimit);
  const records = Math.min(textBytes * RECORD_FACTOR, budget.pagesLimit);
  budget.kernel.expect((chunks + records) * 1.2 + 16 * MEGABYTE);
}

/** Estimated bytes that go to scratch files; 0 if everything fits into memory. */
export function scratchNeed(textBytes: number, { chunksLimit, budget }: MemoryPlan): number {
  const chunks = Math.max(0, textBytes * CHUNK_FACTOR - chunksLimit);
  const records = Math.max(0, textBytes * RECORD_FACTOR - budget.pagesLimit);
  return chunks + records;
}
