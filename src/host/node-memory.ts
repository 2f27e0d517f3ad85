import { readFileSync } from "node:fs";
import { totalmem } from "node:os";
import process from "node:process";

/** Where a container's limit stands: version 2 and version 1 of control groups, as seen from inside. */
const LIMIT_FILES = ["/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"];

/** Deno asks for a permission to look; a run must not stop for that. */
const DENO_LIMIT = 2 ** 30;

/** The machine's memory, or the container's limit where that is less. */
export function memoryLimit(): number {
  if (process.versions["deno"] !== undefined) return DENO_LIMIT;
  const limits = [totalmem(), constrainedMemory(), ...LIMIT_FILES.map(readLimit)];
  return Math.min(...limits.filter((limit) => limit > 0));
}

/** What this process may still use of it. */
export function freeMemory(): number {
  const own = memoryLimit() - process.memoryUsage.rss();
  // What others of the control group use, and files in memory, count as well.
  const available = process.availableMemory?.() ?? own;
  return Math.max(0, Math.min(own, available));
}

/** Node knows the limit of its own control group, wherever that lies. */
function constrainedMemory(): number {
  return process.constrainedMemory?.() ?? 0;
}

/** 0 where there is none: no such file, `max`, or no permission to look. */
function readLimit(path: string): number {
  try {
    const limit = Number(readFileSync(path, "utf8"));
    return Number.isFinite(limit) ? limit : 0;
  } catch {
    return 0;
  }
}
