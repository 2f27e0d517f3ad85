import { CHUNK_ROWS } from "../rules/chunk.ts";
import type { KernelMemory } from "./kernel-memory.ts";

/** Names in the memory of the kernel: where the bytes begin, and the addresses of their starts and ends. */
export interface NameSlices {
  readonly bytesAt: number;
  readonly startsAt: number;
  readonly endsAt: number;
}

/** Instead of the start of a domain: the name has one label, or the caller must look for a public suffix. */
export const NO_DOMAIN = -1;
export const MAYBE_SUFFIX = -2;

/** Finds registrable domains with the kernel, which a `LineScanner` must have given the filters of public suffixes. */
export class DomainFinder {
  private readonly kernel: KernelMemory;
  private readonly deepAt: number;
  private readonly foundAt: number;

  /** `deep` tells by the hash of a top-level domain whether it may have longer public suffixes. */
  constructor(kernel: KernelMemory, deep: Uint8Array) {
    this.kernel = kernel;
    this.deepAt = kernel.allocateLasting(deep.length);
    kernel.bytes(this.deepAt, deep.length).set(deep);
    this.foundAt = kernel.allocateLasting(CHUNK_ROWS * 4);
  }

  /** Where the domains of up to 65,536 names begin. The result is valid until the next call. */
  find({ bytesAt, startsAt, endsAt }: NameSlices, count: number): Int32Array {
    const { kernel, deepAt, foundAt } = this;
    kernel.exports.findDomains(bytesAt, startsAt, endsAt, count, deepAt, foundAt);
    return kernel.integers(foundAt, count);
  }

  /** The address of the result. */
  get startsAt(): number {
    return this.foundAt;
  }
}
