import { usesWasm } from "../kernel/choice.ts";
import { LineScanner } from "../kernel/line-scanner.ts";
import { KernelMemory } from "../kernel/memory.ts";
import { suffixTables } from "../syntax/public-suffix.ts";

/** The kernel with its memory. One compile after the other can be done on it. */
export class Workbench {
  readonly kernel: KernelMemory | undefined;
  readonly scanner: LineScanner | undefined;

  constructor() {
    this.kernel = usesWasm() ? new KernelMemory() : undefined;
    if (this.kernel !== undefined) this.scanner = new LineScanner(this.kernel, suffixTables());
  }

  /** Gives back whatever an earlier compile left. */
  clear(): void {
    this.kernel?.freeAll();
  }
}
