import { lstatSync, mkdirSync, realpathSync } from "node:fs";
import { homedir, platform } from "node:os";
import { dirname, join } from "node:path";
import process from "node:process";

const OTHERS_MAY_WRITE = 0o022;
const STICKY = 0o1000;

/**
 * A folder beside `cache` for compiled code, created if missing; undefined if other users could put code into it, which
 * would run as this user. Node itself does not check, and would use a shared folder. It is not in the cache, which is restored from
 * elsewhere in CI.
 */
export function codeFolder(cache: string | undefined): string | undefined {
  if (cache === undefined) return undefined;
  const folder = `${cache}-code`;
  for (const path of [dirname(cache), cache, folder]) make(path);
  try {
    const user = process.getuid?.();
    // On Windows, only the user can write below the user's own folder.
    if (user === undefined) return folder;
    const info = lstatSync(folder);
    const isOurs = info.isDirectory() && info.uid === user && (info.mode & 0o077) === 0;
    return isOurs && isSafeBelow(dirname(realpathSync(folder)), user) ? folder : undefined;
  } catch {
    return undefined;
  }
}

function make(path: string): void {
  try {
    mkdirSync(path, 0o700);
  } catch {
    // It exists or cannot be created; the caller checks it.
  }
}

/** Whether only this user and root can replace a part of the path to a folder. The path must not contain links. */
function isSafeBelow(folder: string, user: number): boolean {
  const { uid, mode } = lstatSync(folder);
  const isKept = (mode & OTHERS_MAY_WRITE) === 0 || (mode & STICKY) !== 0;
  if (!isKept || (uid !== user && uid !== 0)) return false;
  return dirname(folder) === folder || isSafeBelow(dirname(folder), user);
}

/** `$XDG_CACHE_HOME` or `~/.cache`; `~/Library/Caches` on macOS, `%LOCALAPPDATA%` on Windows. */
export function cacheDir(): string | undefined {
  const { env } = process;
  try {
    if (platform() === "win32") {
      const local = env["LOCALAPPDATA"] ?? join(homedir(), "AppData", "Local");
      return join(local, "rules-compiler", "cache");
    }
    const named = env["XDG_CACHE_HOME"];
    if (named !== undefined && named.startsWith("/")) return join(named, "rules-compiler");
    const home = homedir();
    if (home === "" || home === "/") return undefined;
    return platform() === "darwin"
      ? join(home, "Library", "Caches", "rules-compiler")
      : join(home, ".cache", "rules-compiler");
  } catch {
    return undefined;
  }
}
