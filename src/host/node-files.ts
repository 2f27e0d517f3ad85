import {
  type Stats,
  closeSync,
  constants,
  chmodSync,
  fdatasync,
  fsync,
  openSync,
  readSync,
  statSync,
  unlinkSync,
  writeSync,
} from "node:fs";
import { open, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import {
  type FileStamp,
  HostError,
  type NewFile,
  type OpenFile,
  type Scratch,
  toHostError,
} from "./host.ts";

export function stampOf({ size, mtimeMs, ctimeMs, ino }: Stats): FileStamp {
  return { text: `${size} ${mtimeMs} ${ctimeMs} ${ino}`, changed: Math.max(mtimeMs, ctimeMs) };
}

/** Folders, pipes and devices are rejected: reading one could block for ever. */
export async function openFile(path: string): Promise<OpenFile> {
  try {
    const info = await stat(path);
    if (info.isDirectory()) throw new HostError("EISDIR", "is a folder");
    if (!info.isFile()) throw new HostError("EINVAL", "is not a regular file");
    const file = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
    let position = 0;
    return {
      size: info.size,
      stamp: stampOf(info),
      async read(into, from = position) {
        try {
          const { bytesRead } = await file.read(into, 0, into.length, from);
          position = from + bytesRead;
          return bytesRead;
        } catch (error) {
          throw toHostError(error);
        }
      },
      close: () => file.close(),
    };
  } catch (error) {
    throw toHostError(error);
  }
}

export function createFile(path: string, like?: string, mode = 0o644): NewFile {
  const flags =
    constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | (constants.O_NOFOLLOW ?? 0);
  const file = attempt(() => openSync(path, flags, mode));
  const old = like === undefined ? undefined : statSync(like, { throwIfNoEntry: false });
  if (old !== undefined) attempt(() => chmodSync(path, old.mode & 0o777));
  return {
    write: (bytes) => attempt(() => writeAll(file, bytes)),
    rewrite: (position, bytes) => attempt(() => writeAll(file, bytes, position)),
    // Asynchronous, so that another list can be compiled meanwhile.
    async finish() {
      try {
        await promisify(fsync)(file);
      } catch (error) {
        throw toHostError(error);
      } finally {
        attempt(() => closeSync(file));
      }
    },
    abandon() {
      try {
        closeSync(file);
      } catch {
        // Ignored: the caller has a more important error to report.
      }
    },
  };
}

export async function appendFile(path: string, bytes: Uint8Array): Promise<void> {
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_APPEND;
  const file = attempt(() => openSync(path, flags | (constants.O_NOFOLLOW ?? 0), 0o644));
  try {
    writeAll(file, bytes);
    await promisify(fsync)(file);
  } catch (error) {
    throw toHostError(error);
  } finally {
    attempt(() => closeSync(file));
  }
}

const FLUSH_STEP = 32 * 1024 * 1024;

/** The name is removed at once if the system allows it (not on Windows), so that a killed run leaves nothing. */
export function openScratch(): Scratch {
  const random = Math.random().toString(36).slice(2, 12);
  const path = join(tmpdir(), `rules-compiler-${random}.scratch`);
  const flags = constants.O_RDWR | constants.O_CREAT | constants.O_EXCL;
  const file = attempt(() => openSync(path, flags, 0o600));
  let isNamed = !remove(path);
  let end = 0;
  let flushed = 0;
  let isFlushing = false;
  /** Flushes in the background: unwritten pages count towards the memory limit of a container. */
  function flushAside(): void {
    if (isFlushing || end - flushed < FLUSH_STEP) return;
    isFlushing = true;
    flushed = end;
    fdatasync(file, () => {
      isFlushing = false;
    });
  }
  return {
    append(bytes) {
      attempt(() => writeAll(file, bytes, end));
      end += bytes.length;
      flushAside();
      return end - bytes.length;
    },
    rewrite: (position, bytes) => attempt(() => writeAll(file, bytes, position)),
    read(position, into) {
      attempt(() => {
        let at = 0;
        while (at < into.length) {
          const count = readSync(file, into, at, into.length - at, position + at);
          if (count === 0) throw new HostError("EIO", "the scratch file ends early");
          at += count;
        }
      });
    },
    close() {
      attempt(() => closeSync(file));
      if (isNamed) isNamed = !remove(path);
    },
  };
}

function remove(path: string): boolean {
  try {
    unlinkSync(path);
    return true;
  } catch {
    return false;
  }
}

/** A write may be partial: a full disk is reported only by the next one. */
function writeAll(file: number, bytes: Uint8Array, position?: number): void {
  let at = 0;
  while (at < bytes.length) {
    const from = position === undefined ? null : position + at;
    at += writeSync(file, bytes, at, bytes.length - at, from);
  }
}

function attempt<T>(action: () => T): T {
  try {
    return action();
  } catch (error) {
    throw toHostError(error);
  }
}
