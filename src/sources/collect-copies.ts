import { decodeUtf8, encodeUtf8 } from "../bytes/utf8.ts";
import { type Host, HostError } from "../host/host.ts";
import { writeWhole } from "../host/write-whole.ts";
import { digestOf } from "./source-store.ts";

/** Killed runs leave unneeded copies that were never marked as replaced. They are removed after this time. */
const ORPHAN_MS = 30 * 86_400_000;
/** A temporary file older than this belongs to a run that was killed. */
const UNFINISHED_MS = 86_400_000;

/** A file outside the cache that needs copies as long as it exists. */
interface Need {
  readonly path: string;
  /** Digests of copies; by default, all that the file itself names. */
  readonly objects?: readonly string[];
}

/**
 * Records that a file needs copies: a `rules.lock`, which names them itself, or a list that was built from them. A cache
 * that cannot be written to has no copies to lose.
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

/** Removes copies that no source, lock or list needs. If a record cannot be read, nothing is removed. */
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

/** All digests in records of sources and in recorded needs. Rejects with a `HostError`. */
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

/** "" if the file was removed meanwhile. */
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
