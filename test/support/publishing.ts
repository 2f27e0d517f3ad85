import assert from "node:assert/strict";
import { FileSet } from "../../src/publish/file-set.ts";
import { ListFile } from "../../src/publish/list-file.ts";
import { CompilerError, type Host, HostError, type MemoryHost, memoryHost } from "./internals.ts";

export const LIST = "/project/l.txt";
export const LOCK = "/project/.l.txt.lock";
export const OLD = "! old\n||old.example^\n";
export const NEW = "! new\n||new.example^\n";

export function bytes(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

export function textAt(host: MemoryHost, path: string): string {
  return new TextDecoder().decode(host.files.get(path));
}

/** Publishes a file that is written. */
export async function publishFile(
  file: ListFile,
  host: Host,
  header?: Uint8Array,
): Promise<string> {
  const set = new FileSet(LIST, "/project", host);
  try {
    const outcome = await file.stage(set, header);
    await set.commit();
    return outcome;
  } finally {
    await set.close();
  }
}

/** Publishes the new list; resolves to what came of it. */
export async function publish(host: Host): Promise<string> {
  const file = new ListFile(LIST, host);
  await file.open();
  try {
    file.write(bytes(NEW));
    return await publishFile(file, host);
  } finally {
    await file.close();
  }
}

export async function codeOf(work: Promise<unknown>): Promise<string> {
  try {
    await work;
    return "none";
  } catch (error) {
    assert.ok(error instanceof CompilerError, String(error));
    return error.diagnostics[0]!.code;
  }
}

export function seeded(files: Record<string, string> = {}): MemoryHost {
  return memoryHost({ files: { "l.txt": OLD, ...files } });
}

export const HOLDER = {
  pid: 7,
  began: "",
  machine: "elsewhere 1 2",
  token: "t",
  since: "2026-01-01",
};

/** A folder in which somebody's lock stands. */
export function held(
  running: boolean | undefined,
  silenceMs = 0,
  lock: string = JSON.stringify(HOLDER),
): { host: MemoryHost; real: Host } {
  const host = seeded({ ".l.txt.lock": lock });
  const real: Host = {
    ...host,
    isRunning: () => running,
    stampOf: async (path) => {
      const stamp = await host.stampOf(path);
      return stamp === undefined
        ? undefined
        : { ...stamp, changed: host.now().getTime() - silenceMs };
    },
  };
  return { host, real };
}

/** A call that the system, or a bug, refuses. */
export function refusing(error: Error): () => Promise<never> {
  return () => Promise.reject(error);
}

export function systemError(code: string): HostError {
  return new HostError(code, code.toLowerCase());
}
