import type { Host, NewFile } from "./host.ts";

/** A temporary name beside a path. */
export function temporaryFor(path: string): string {
  return `${path}.${Math.random().toString(36).slice(2, 10)}.tmp`;
}

/** Removes temporary files of killed runs. The caller must know that no other run uses the path. */
export async function removeLeftovers(path: string, host: Host): Promise<void> {
  await removeLeftoversOf([path], host);
}

/** The same for several paths of one folder, which may contain files of hundreds of lists. */
export async function removeLeftoversOf(paths: readonly string[], host: Host): Promise<void> {
  const folder = host.path.dirname(paths[0]!);
  const starts = paths.map((path) => `${host.path.basename(path)}.`);
  for (const name of await host.listFolder(folder)) {
    if (!name.endsWith(".tmp")) continue;
    if (
      starts.some(
        (one) => name.startsWith(one) && /^[a-z0-9]{1,12}\.tmp$/.test(name.slice(one.length)),
      )
    )
      await host.removeFile(host.path.join(folder, name)).catch(() => {});
  }
}

/**
 * Writes a file under a temporary name and renames it when it is complete; the name may depend on the content. Any number of
 * runs may write the same file. Rejects with a `HostError`, and leaves nothing behind.
 */
export async function writeWhole<T>(
  path: string,
  host: Host,
  write: (file: NewFile) => T | Promise<T>,
  nameOf: (written: T) => string | Promise<string> = () => path,
): Promise<T> {
  const temporary = temporaryFor(path);
  let file: NewFile | undefined;
  try {
    await host.makeFolder(host.path.dirname(path));
    file = host.createFile(temporary, path);
    const written = await write(file);
    await file.finish();
    file = undefined;
    await host.rename(temporary, await nameOf(written));
    return written;
  } catch (error) {
    file?.abandon();
    await host.removeFile(temporary).catch(() => {});
    throw error;
  }
}
