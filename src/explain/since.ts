import { Buffer } from "node:buffer";
import { LF } from "../bytes/ascii.ts";
import { bufferOf } from "../bytes/search.ts";

/** How long a rule has been in the list. */
export interface Since {
  /** The time of the first build in an unbroken series with the rule. */
  readonly at: string;
  /** Whether no older build is kept: the rule may be older. */
  readonly isOldest: boolean;
}

/** A build, and access to its list. */
export interface BuildText {
  readonly at: string;
  /** Identifies the text; builds may share one. */
  readonly text: string | undefined;
  list(): Promise<Uint8Array | undefined>;
}

/** How long each rule of the newest build has been in the list. Builds are ordered newest first. */
export async function sinceWhen(
  rules: Iterable<string>,
  builds: readonly BuildText[],
): Promise<Map<string, Since>> {
  const [newest, ...older] = builds;
  const found = new Map<string, Since>();
  if (newest === undefined) return found;
  let open = new Set(rules);
  let last = newest;
  for (const build of older) {
    if (open.size === 0) break;
    if (build.text === last.text && build.text !== undefined) {
      last = build;
      continue;
    }
    const bytes = await build.list();
    if (bytes === undefined) break;
    const still = new Set([...open].filter((rule) => hasLine(bytes, rule)));
    for (const rule of open)
      if (!still.has(rule)) found.set(rule, { at: last.at, isOldest: false });
    open = still;
    last = build;
  }
  for (const rule of open) found.set(rule, { at: last.at, isOldest: true });
  return found;
}

function hasLine(list: Uint8Array, text: string): boolean {
  const buffer = bufferOf(list);
  const wanted = Buffer.from(text);
  for (let at = buffer.indexOf(wanted); at !== -1; at = buffer.indexOf(wanted, at + 1)) {
    const end = at + wanted.length;
    const startsLine = at === 0 || buffer[at - 1] === LF;
    if (startsLine && (end === buffer.length || buffer[end] === LF)) return true;
  }
  return false;
}
