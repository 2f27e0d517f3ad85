import { dirname } from "node:path";
import type { Host, NewFile } from "./host.ts";

/**
 * Writes a file beside its place and gives it its name when it is whole; the name may depend on what was written. For files
 * that any number of runs may write at a time. Rejects with a `HostError`, and leaves nothing behind.
 */
export async function writeWhole<T>(
  path: string,
  host: Host,
  write: (file: NewFile) => T | Promise<T>,
  nameOf: (written: T) => string = () => path,
): Promise<T> {
  const temporary = `${path}.${Math.random().toString(36).slice(2, 10)}.tmp`;
  let file: NewFile | undefined;
  try {
    await host.makeFolder(dirname(path));
    file = host.createFile(temporary);
    const written = await write(file);
    await file.finish();
    file = undefined;
    await host.rename(temporary, nameOf(written));
    return written;
  } catch (error) {
    file?.abandon();
    await host.removeFile(temporary).catch(() => {});
    throw error;
  }
}
