import type { Scratch } from "../host/host.ts";
import type { KernelMemory } from "./kernel-memory.ts";

/** How much room there is to compare rows with each other. What is compared, and with what result, does not depend on it. */
export interface MemoryBudget {
  readonly kernel: KernelMemory;
  /** Records are dealt to this many partitions, a power of two up to 256. */
  readonly partitions: number;
  /** Bytes of a page; each partition has one that is being filled. */
  readonly pageBytes: number;
  /** Bytes of pages that may be in memory; what is beyond goes to the scratch file. */
  readonly pagesLimit: number;
  openScratch(): Scratch;
}
