import type { KernelMemory } from "./kernel-memory.ts";

/** Memory of a kernel that is reused, and grows with what it must hold. */
export class KernelArea {
  at = 0;
  private size = 0;
  private readonly kernel: KernelMemory;

  constructor(kernel: KernelMemory) {
    this.kernel = kernel;
  }

  /** Makes room for this many bytes. Returns whether the area moved, and what it held is lost. */
  need(bytes: number): boolean {
    if (this.size >= bytes) return false;
    if (this.size > 0) this.kernel.free(this.at, this.size);
    this.at = this.kernel.allocate(bytes);
    this.size = bytes;
    return true;
  }
}
