import * as asyncFiles from "node:fs/promises";
import { tmpdir } from "node:os";
import { freeMemory } from "./node-memory.ts";

/** Linux numbers of file systems in memory. The second one does not report free space. */
const TMPFS = 0x01021994;
const RAMFS = 0x858458f6;

/** The folder of scratch files and its free space. */
export async function scratchSpace(): Promise<{ folder: string; free: number }> {
  const folder = tmpdir();
  try {
    // Deno 2.0 lacks this function.
    const { bavail, bsize, type } = await asyncFiles.statfs(folder);
    return { folder, free: freeOf(type >>> 0, bavail * bsize) };
  } catch {
    return { folder, free: Infinity };
  }
}

function freeOf(type: number, free: number): number {
  if (type === RAMFS) return freeMemory();
  return type === TMPFS ? Math.min(free, freeMemory()) : free;
}
