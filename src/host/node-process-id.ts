import { readFileSync, readlinkSync } from "node:fs";
import { hostname, userInfo } from "node:os";
import process from "node:process";
import type { ProcessId } from "./host.ts";

/** This process. The system reuses pids, so the start time is included if it is known. */
export function processId(): ProcessId {
  return { pid: process.pid, began: beginningOf("self"), machine: machineId() };
}

/** The user of this process. Deno would ask for a permission, so it has only the environment. */
export function userName(): string | undefined {
  const isDeno = process.versions["deno"] !== undefined;
  const name = isDeno ? "" : textOf(() => userInfo().username);
  return name || process.env["USER"] || process.env["LOGNAME"] || undefined;
}

/** Whether a process still runs; undefined for one of another machine or container. */
export function isRunning({ pid, began, machine }: ProcessId): boolean | undefined {
  if (machine !== machineId()) return undefined;
  if (began !== "") return beginningOf(String(pid)) === began;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    const { code } = error as { code?: string };
    if (code === "ESRCH") return false;
    // EPERM means that the process of another user exists; any other error says nothing.
    return code === "EPERM" ? true : undefined;
  }
}

/** Start time in clock ticks since boot: the 22nd field, counted after the name in parentheses, which may contain anything. */
function beginningOf(pid: string): string {
  const stat = textOf(() => readFileSync(`/proc/${pid}/stat`, "utf8"));
  return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19] ?? "";
}

/** The scope in which pids are valid: this boot, this host name, this container. */
function machineId(): string {
  const boot = textOf(() => readFileSync("/proc/sys/kernel/random/boot_id", "utf8")).trim();
  const space = textOf(() => readlinkSync("/proc/self/ns/pid"));
  // Deno would ask for a permission to read the host name.
  return [textOf(hostname), boot, space].filter((part) => part !== "").join(" ");
}

function textOf(read: () => string): string {
  try {
    return read();
  } catch {
    return "";
  }
}
