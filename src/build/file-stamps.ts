import type { Host } from "../host/host.ts";

/** Files by path, each with what tells it from another state of itself; "" where there is none. */
export type FileStamps = Readonly<Record<string, string>>;

export async function stampsOf(paths: readonly string[], host: Host): Promise<FileStamps> {
  const stamps = paths.map(async (path) => [path, (await host.stampOf(path))?.text ?? ""] as const);
  return Object.fromEntries(await Promise.all(stamps));
}

/** Those of the files that are not as they were. */
export async function changedPaths(known: FileStamps, host: Host): Promise<string[]> {
  const now = await stampsOf(Object.keys(known), host);
  return Object.keys(known).filter((path) => now[path] !== known[path]);
}
