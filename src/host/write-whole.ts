import type { Host, NewFile } from "./host.ts";

/** What makes the name of a temporary file unique. */
export function newToken(): string {
  return Math.random().toString(36).slice(2, 10);
}

export function isToken(value: unknown): value is string {
  return typeof value === "string" && /^[a-z0-9]{1,12}$/.test(value);
}

/** A temporary name beside a path. */
export function temporaryFor(path: string): string {
  return `${path}.${newToken()}.tmp`;
}

/** The temporary name, which is hidden, of a file that is published. */
export function temporaryOf(path: string, token: string, host: Pick<Host, "path">): string {
  return host.path.join(host.path.dirname(path), `.${host.path.basename(path)}.${token}.tmp`);
}

/** Removes temporary files of killed runs. The caller must know that no other run uses the path. */
export async function removeLeftovers(path: string, host: Host): Promise<void> {
  const name = host.path.basename(path);
  await removeLeftoversIn(host.path.dirname(path), (file) => file === name, host);
}

/** The same for all files of a folder that `isOwn` accepts by their name, which begins with a dot for files that are published. */
export async function removeLeftoversIn(
  folder: string,
  isOwn: (name: string) => boolean,
  host: Host,
): Promise<void> {
  for (const name of await host.listFolder(folder)) {
    const file = /^(?<file>.+)\.[a-z0-9]{1,12}\.tmp$/s.exec(name)?.groups?.["file"];
    if (file !== undefined && isOwn(file))
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
