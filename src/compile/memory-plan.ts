import { CompilerError, errorOf } from "../diagnostics/diagnostic.ts";
import { reasonOf } from "../diagnostics/reason.ts";
import { type Host, HostError, type Scratch } from "../host/host.ts";
import type { KernelMemory } from "../kernel/memory.ts";
import type { Room } from "../kernel/room.ts";

const MEGABYTE = 1024 * 1024;

/** What the runtime and the program take before the first line is read, and what garbage may pile up. */
const BASE = 80 * MEGABYTE;
/** Work goes on with this much at the least, whatever was asked for. */
const LEAST = 24 * MEGABYTE;
/** The kernel's memory ends at 4 GiB. */
const MOST_PAGES = 1536 * MEGABYTE;
const MOST_CHUNKS = 1792 * MEGABYTE;
/** Of the machine's memory, without another wish. */
const SHARE = 0.5;

/** Where things are to lie. Nothing else depends on it: any plan gives the same list. */
export interface MemoryPlan {
  /** Bytes of chunks that stay in memory. */
  readonly chunksLimit: number;
  readonly room: Room;
}

export interface MemoryWish {
  /** Bytes that the process should not exceed. */
  readonly memory?: number | undefined;
  readonly partitions?: number | undefined;
}

export function memoryPlan(
  { memory, partitions = 256 }: MemoryWish,
  host: Host,
  kernel: KernelMemory | undefined,
): MemoryPlan {
  const whole = memory ?? host.memoryLimit() * SHARE;
  const work = Math.max(LEAST, whole - BASE);
  return {
    chunksLimit: kernel === undefined ? Infinity : Math.min(work * 0.4, MOST_CHUNKS),
    room: {
      kernel,
      partitions,
      // Each partition has a page open: small ones where there is little room.
      pageBytes: work < 256 * MEGABYTE ? 16_384 : 65_536,
      pagesLimit: Math.min(work * 0.25, MOST_PAGES),
      openScratch: () => scratchOf(host),
    },
  };
}

/** A scratch file whose errors say what it is for. */
export function scratchOf(host: Host): Scratch {
  const scratch = attempt(() => host.openScratch());
  return {
    append: (bytes) => attempt(() => scratch.append(bytes)),
    rewrite: (position, bytes) => attempt(() => scratch.rewrite(position, bytes)),
    read: (position, into) => attempt(() => scratch.read(position, into)),
    close: () => attempt(() => scratch.close()),
  };
}

function attempt<T>(action: () => T): T {
  try {
    return action();
  } catch (error) {
    if (!(error instanceof HostError)) throw error;
    throw new CompilerError([
      errorOf("scratch-failed", "Cannot put aside what does not fit into memory", {
        cause: reasonOf(error.code, error.message),
      }),
    ]);
  }
}
