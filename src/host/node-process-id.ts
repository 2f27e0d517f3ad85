import { readFileSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";
import process from "node:process";
import type { ProcessId } from "./host.ts";

/** This process. Numbers are given again, so the time it began is part of it where the system tells. */
export function processId(): ProcessId {
  return { pid: process.pid, began: beginningOf("self"), machine: machineId() };
}

/** Whether a process still runs; undefined when it is one of another machine or container. */
export function isRunning({ pid, began, machine }: ProcessId): boolean | undefined {
  if (machine !== machineId()) return undefined;
  if (began !== "") return beginningOf(String(pid)) === began;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    const { code } = error as { code?: string };
    if (code === "ESRCH") return false;
    // Somebody else's process is there, but not ours to ask; of anything else nothing is known.
    return code === "EPERM" ? true : undefined;
  }
}

/** In clock ticks after the machine began; the 22nd word, counted after the name in parentheses, which may hold anything. */
function beginningOf(pid: string): string {
  const stat = textOf(() => readFileSync(`/proc/${pid}/stat`, "utf8"));
  return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19] ?? "";
}

/** Where numbers of processes mean the same: this boot, this name, this container. */
function machineId(): string {
  const boot = textOf(() => readFileSync("/proc/sys/kernel/random/boot_id", "utf8")).trim();
  const space = textOf(() => readlinkSync("/proc/self/ns/pid"));
  // Deno asks for a permission to know the name.
  return [textOf(hostname), boot, space].filter((part) => part !== "").join(" ");
}

function textOf(read: () => string): string {
  try {
    return read();
  } catch {
    return "";
  }
}
