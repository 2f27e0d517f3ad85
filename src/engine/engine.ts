import { LineScanner } from "../kernel/line-scanner.ts";
import { KernelMemory } from "../kernel/kernel-memory.ts";
import { suffixTables } from "../syntax/public-suffix.ts";

/** The kernel with its memory. Compiles can use it one after another. */
export class Engine {
  readonly kernel: KernelMemory = new KernelMemory();
  readonly scanner: LineScanner = new LineScanner(this.kernel, suffixTables());

  /** Frees everything that an earlier compile left. */
  clear(): void {
    this.kernel.freeAll();
  }
}
