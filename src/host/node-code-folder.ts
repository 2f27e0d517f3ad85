import { lstatSync, mkdirSync, realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import process from "node:process";

const OTHERS_MAY_WRITE = 0o022;
const STICKY = 0o1000;

/**
 * A folder below `cache` for compiled code, made if it is not there; undefined where somebody else could put code into it,
 * which would run as this user. Node itself looks at nothing, and would use a folder that all share.
 */
export function codeFolder(cache: string | undefined): string | undefined {
  if (cache === undefined) return undefined;
  const folder = join(cache, "code");
  for (const path of [dirname(cache), cache, folder]) make(path);
  try {
    const user = process.getuid?.();
    // Windows: what is below the user's own folder is the user's alone.
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
    // It is there, or cannot be made; what is there is looked at.
  }
}

/** Whether nobody but this user and root can replace anything on the way to a folder, which has no links in it. */
function isSafeBelow(folder: string, user: number): boolean {
  const { uid, mode } = lstatSync(folder);
  const isKept = (mode & OTHERS_MAY_WRITE) === 0 || (mode & STICKY) !== 0;
  if (!isKept || (uid !== user && uid !== 0)) return false;
  return dirname(folder) === folder || isSafeBelow(dirname(folder), user);
}
