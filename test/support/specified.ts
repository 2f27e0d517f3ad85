import { run } from "../../src/cli/main.ts";
import { type MemoryHost, type MemoryHostOptions, memoryHost } from "./internals.ts";

/** A name, text, variable, default, path or command that users were promised, and the test that holds the promise. */
export interface Specified {
  /** As users write or read it. */
  readonly item: string;
  readonly meaning: string;
  /** Of which door it is, where it was promised for one implementation only: .NET, Rust, Python, PowerShell. */
  readonly door?: string;
  /** How it is met; undefined when the very same thing is there. */
  readonly met?: string;
  /** Fails when the promise is broken. Without it, the test of the door holds the promise (`doors.ts`). */
  readonly check?: () => void | Promise<void>;
}

export interface SpecifiedSection {
  readonly title: string;
  readonly items: readonly Specified[];
}

export interface Ended {
  readonly exit: number;
  readonly stdout: string;
  readonly stderr: string;
  readonly host: MemoryHost;
}

/** Runs a command in a folder in memory. */
export async function ended(words: string, options: MemoryHostOptions): Promise<Ended> {
  const host = memoryHost({ now: new Date("2026-01-02T03:04:05Z"), ...options });
  const exit = await run(words === "" ? [] : words.split(" "), host, new AbortController().signal);
  return { exit, ...host.output, host };
}

export function written(host: MemoryHost, path: string): string {
  return new TextDecoder().decode(host.files.get(path));
}

/** The title of the test for an item. */
export function titleOf(section: SpecifiedSection, { item, door }: Specified): string {
  return `${section.title}: ${item}${door === undefined ? "" : ` (${door})`}`;
}
