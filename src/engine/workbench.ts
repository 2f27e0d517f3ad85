import type { Host } from "../host/host.ts";
import { usesWasm } from "../kernel/choice.ts";
import { Crew } from "../kernel/crew.ts";
import { LineScanner } from "../kernel/line-scanner.ts";
import { KernelMemory } from "../kernel/memory.ts";
import { suffixTables } from "../syntax/public-suffix.ts";

/** The work that is done apart keeps three or four others busy at the most; a machine may have many more. */
const MOST_WORKERS = 16;

/** How many threads may work, this one included. */
export function workersOf(wanted: number | undefined, host: Host): number {
  if (host.startThread === undefined || !canShareMemory()) return 1;
  return Math.max(1, Math.min(wanted ?? host.processors(), MOST_WORKERS));
}

function canShareMemory(): boolean {
  return typeof SharedArrayBuffer === "function" && typeof Atomics.wait === "function";
}

/** The kernel with its memory, and the threads over it. One compile after the other can be done on it. */
export class Workbench {
  readonly kernel: KernelMemory | undefined;
  readonly scanner: LineScanner | undefined;
  readonly workers: number;
  private crew: Crew | undefined;

  constructor(workers: number) {
    this.workers = workers;
    this.kernel = usesWasm() ? new KernelMemory(workers > 1) : undefined;
    if (this.kernel !== undefined) this.scanner = new LineScanner(this.kernel, suffixTables());
  }

  /** Gives back whatever an earlier compile left. */
  clear(): void {
    this.crew?.settle();
    this.kernel?.freeAll();
  }

  /** The threads; started when they are first asked for. */
  crewOf(size: number, host: Host): Crew | undefined {
    const { kernel, scanner } = this;
    if (kernel === undefined || scanner === undefined) return undefined;
    this.crew ??= Crew.start(Math.max(1, size), kernel, scanner.suffixes, host);
    return this.crew;
  }

  close(): void {
    this.crew?.close();
    this.crew = undefined;
  }
}
