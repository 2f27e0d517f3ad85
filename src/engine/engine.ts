import { LineScanner } from "../kernel/line-scanner.ts";
import { KernelMemory } from "../kernel/kernel-memory.ts";
import { suffixTables } from "../syntax/public-suffix.ts";

/** The kernel with its memory. One compile after the other can be done on it. */
export class Engine {
  readonly kernel: KernelMemory = new KernelMemory();
  readonly scanner: LineScanner = new LineScanner(this.kernel, suffixTables());

  /** Gives back whatever an earlier compile left. */
  clear(): void {
    this.kernel.freeAll();
  }
}
