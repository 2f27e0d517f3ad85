import { decodeUtf8, encodeUtf8 } from "../bytes/utf8.ts";
import { type Host, HostError } from "../host/host.ts";
import { writeWhole } from "../host/write-whole.ts";
import { digestOf } from "./source-store.ts";

/** Copies that nobody needs and nobody replaced are left by runs that were killed; they are given this long. */
const ORPHAN_MS = 30 * 86_400_000;
/** A file that was not finished by now never will be. */
const UNFINISHED_MS = 86_400_000;

/** A file outside the cache that needs copies for as long as it is there. */
interface Need {
  readonly path: string;
  /** Digests of copies; without them, all that stand in the file itself. */
  readonly objects?: readonly string[];
}

/**
 * Notes down that a file needs copies: a `rules.lock`, which names them itself, or a list that was made from them. Whoever
 * cannot write to the cache has no copies to lose.
 */
export async function needCopies(folder: string, need: Need, host: Host): Promise<void> {
  const path = host.path.join(folder, "needed", `${await digestOf(need.path)}.json`);
  const text = encodeUtf8(JSON.stringify(need));
  try {
    await writeWhole(path, host, (file) => file.write(text));
  } catch (error) {
    if (!(error instanceof HostError)) throw error;
  }
}

/** Removes the copies that no source, lock or list needs any more. What cannot be read stops it: too much is better than too little. */
export async function collectCopies(folder: string, host: Host): Promise<void> {
  const replaced = new Set(await host.listFolder(host.path.join(folder, "replaced")));
  try {
    const objects = await host.listFolder(host.path.join(folder, "objects"));
    const needed = await neededCopies(folder, host);
    for (const name of objects) {
      if (needed.has(name)) continue;
      const path = host.path.join(folder, "objects", name);
      const mark = host.path.join(folder, "replaced", name);
      const isUnneeded = replaced.has(name)
        ? await host.exists(mark)
        : await isOlder(path, name.endsWith(".tmp") ? UNFINISHED_MS : ORPHAN_MS, host);
      if (isUnneeded) await host.removeFile(path);
    }
    const left = new Set(await host.listFolder(host.path.join(folder, "objects")));
    for (const name of replaced)
      if (!left.has(name)) await host.removeFile(host.path.join(folder, "replaced", name));
  } catch (error) {
    if (!(error instanceof HostError)) throw error;
  }
}

async function isOlder(path: string, ms: number, host: Host): Promise<boolean> {
  const stamp = await host.stampOf(path);
  return stamp !== undefined && host.now().getTime() - stamp.changed > ms;
}

/** All digests that stand in records of sources and in what was noted down. Rejects with a `HostError`. */
async function neededCopies(folder: string, host: Host): Promise<Set<string>> {
  const needed = new Set<string>();
  for (const name of await host.listFolder(host.path.join(folder, "sources")))
    addDigests(await textAt(host.path.join(folder, "sources", name), host), needed);
  for (const name of await host.listFolder(host.path.join(folder, "needed"))) {
    const note = host.path.join(folder, "needed", name);
    const need = parsed(await textAt(note, host));
    if (need === undefined) continue;
    if (!(await host.exists(need.path))) await host.removeFile(note);
    else if (need.objects === undefined) addDigests(await textAt(need.path, host), needed);
    else for (const digest of need.objects) needed.add(digest);
  }
  return needed;
}

function addDigests(text: string, into: Set<string>): void {
  for (const [digest] of text.matchAll(/\b[0-9a-f]{64}\b/g)) into.add(digest);
}

/** "" when it is gone meanwhile. */
async function textAt(path: string, host: Host): Promise<string> {
  try {
    return decodeUtf8(await host.readFile(path));
  } catch (error) {
    if (error instanceof HostError && error.code === "ENOENT") return "";
    throw error;
  }
}

function parsed(text: string): Need | undefined {
  try {
    const need = JSON.parse(text) as Partial<Need> | null;
    const { path, objects } = need ?? {};
    const isNeed = typeof path === "string" && (objects === undefined || Array.isArray(objects));
    return isNeed ? (need as Need) : undefined;
  } catch {
    return undefined;
  }
}
