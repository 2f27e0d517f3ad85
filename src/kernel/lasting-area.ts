import type { KernelMemory } from "./kernel-memory.ts";

/** Memory of a kernel that keeps what it holds when it grows, and that `freeAll` does not free. */
export class LastingArea {
  at = 0;
  private size = 0;
  private readonly kernel: KernelMemory;

  constructor(kernel: KernelMemory) {
    this.kernel = kernel;
  }

  /** Makes room for this many bytes. The first `kept` bytes stay. */
  need(bytes: number, kept = 0): void {
    const { kernel, at, size } = this;
    if (size >= bytes) return;
    this.size = Math.max(bytes, size * 2);
    this.at = kernel.allocateLasting(this.size);
    if (size === 0) return;
    kernel.u8.copyWithin(this.at, at, at + kept);
    kernel.freeLasting(at);
  }
}
