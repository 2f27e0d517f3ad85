import type { Scratch } from "../host/host.ts";
import type { KernelMemory } from "./kernel-memory.ts";

/** The memory for comparing rows with each other. It affects neither what is compared nor the result. */
export interface MemoryBudget {
  readonly kernel: KernelMemory;
  /** Records are divided into this many partitions, a power of two up to 256. */
  readonly partitions: number;
  /** Bytes per page; each partition fills one page at a time. */
  readonly pageBytes: number;
  /** Bytes of pages to keep in memory; further pages go to the scratch file. */
  readonly pagesLimit: number;
  openScratch(): Scratch;
}
