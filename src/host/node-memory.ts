import { readFileSync } from "node:fs";
import { totalmem } from "node:os";
import process from "node:process";

/** Files with a container's limit: control groups version 2 and version 1, as seen from inside. */
const LIMIT_FILES = ["/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"];

/** Deno would ask for a permission; a run must not stop for that. */
const DENO_LIMIT = 2 ** 30;

/** The machine's memory, or the container's limit if that is lower. */
export function memoryLimit(): number {
  if (process.versions["deno"] !== undefined) return DENO_LIMIT;
  const limits = [totalmem(), constrainedMemory(), ...LIMIT_FILES.map(readLimit)];
  return Math.min(...limits.filter((limit) => limit > 0));
}

/** Memory that this process may still use. */
export function freeMemory(): number {
  const own = memoryLimit() - process.memoryUsage.rss();
  // Other processes of the control group and files in memory count as well.
  const available = process.availableMemory?.() ?? own;
  return Math.max(0, Math.min(own, available));
}

/** Node knows the limit of its control group. */
function constrainedMemory(): number {
  return process.constrainedMemory?.() ?? 0;
}

/** 0 without a limit: no such file, `max`, or no permission. */
function readLimit(path: string): number {
  try {
    const limit = Number(readFileSync(path, "utf8"));
    return Number.isFinite(limit) ? limit : 0;
  } catch {
    return 0;
  }
}
