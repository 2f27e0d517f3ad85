import type { Host } from "../host/host.ts";

/** Stamps of files by path. A stamp changes with the file; it is "" for a missing file. */
export type FileStamps = Readonly<Record<string, string>>;

export async function stampsOf(paths: readonly string[], host: Host): Promise<FileStamps> {
  const stamps = paths.map(async (path) => [path, (await host.stampOf(path))?.text ?? ""] as const);
  return Object.fromEntries(await Promise.all(stamps));
}

/** The files whose stamps have changed. */
export async function changedPaths(known: FileStamps, host: Host): Promise<string[]> {
  const now = await stampsOf(Object.keys(known), host);
  return Object.keys(known).filter((path) => now[path] !== known[path]);
}
