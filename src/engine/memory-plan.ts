import type { Host, Scratch } from "../host/host.ts";
import type { KernelMemory } from "../kernel/kernel-memory.ts";
import type { MemoryBudget } from "../kernel/memory-budget.ts";
import { scratchOf } from "./scratch.ts";

const MEGABYTE = 1024 * 1024;

/** What the runtime and the program take before the first line is read, and what garbage may pile up. */
const BASE = 100 * MEGABYTE;
/** Work goes on with this much at the least, whatever was asked for. */
const LEAST = 16 * MEGABYTE;
/** The kernel's memory ends at 4 GiB. */
const MOST_PAGES = 1536 * MEGABYTE;
const MOST_CHUNKS = 1792 * MEGABYTE;
/** Of the machine's memory, without another wish. */
const SHARE = 0.5;

/** Where things are to lie. Nothing else depends on it: any plan gives the same list. */
export interface MemoryPlan {
  /** Bytes of chunks that stay in memory. */
  readonly chunksLimit: number;
  readonly budget: MemoryBudget;
  /** Closes all scratch files that are open. What was put aside is gone then. */
  close(): void;
}

export interface MemoryOptions {
  /** Bytes that the process should not exceed by much. */
  readonly memory?: number | undefined;
  /** Instead of what follows from `memory`; for tests, which want little. */
  readonly limits?: Partial<MemoryLimits> | undefined;
}

export interface MemoryLimits {
  readonly chunks: number;
  readonly pages: number;
  readonly pageBytes: number;
  readonly partitions: number;
  /** Bytes at the start of the arena that nobody uses: addresses above 2 GiB for small lists. */
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

/** The rest is for the partition that is being worked on, and its table. */
function limitsOf(memory: number): MemoryLimits {
  const work = Math.max(LEAST, memory - BASE);
  return {
    chunks: Math.min(work * 0.3, MOST_CHUNKS),
    pages: Math.min(work * 0.2, MOST_PAGES),
    // Each partition has a page open: small ones where there is little room.
    pageBytes: work < 256 * MEGABYTE ? 16_384 : 65_536,
    partitions: 256,
    unused: 0,
  };
}

/** Bytes of chunks for a byte of text: the text itself, and 29 bytes of columns for a line of about 24. */
const CHUNK_FACTOR = 2.2;
/** Bytes of records for a byte of text: a name, and 16 bytes with it. */
const RECORD_FACTOR = 1.8;

/** Makes the arena as large as so much text will need, as far as it may be. */
export function expectText(textBytes: number, { chunksLimit, budget }: MemoryPlan): void {
  const chunks = Math.min(textBytes * CHUNK_FACTOR, chunksLimit);
  const records = Math.min(textBytes * RECORD_FACTOR, budget.pagesLimit);
  budget.kernel.expect((chunks + records) * 1.2 + 16 * MEGABYTE);
}

/** About how much of so much text will have to go to scratch files; 0 when all of it fits. */
export function scratchNeed(textBytes: number, { chunksLimit, budget }: MemoryPlan): number {
  const chunks = Math.max(0, textBytes * CHUNK_FACTOR - chunksLimit);
  const records = Math.max(0, textBytes * RECORD_FACTOR - budget.pagesLimit);
  return chunks + records;
}
