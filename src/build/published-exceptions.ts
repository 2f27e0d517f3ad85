import { AT, LF } from "../bytes/ascii.ts";
import { decodeUtf8 } from "../bytes/utf8.ts";
import type { PublishedExceptions, PublishedRules } from "../engine/compile-options.ts";
import { type Host, HostError } from "../host/host.ts";
import { readMemory } from "./state/list-memory.ts";
import { readLastPublish } from "./state/last-publish.ts";

const BLOCK = 1024 * 1024;

/** Exceptions in the published list. Undefined if there is no list, or if its sources are unknown. */
export async function publishedExceptions(
  path: string | undefined,
  host: Host,
): Promise<PublishedExceptions | undefined> {
  const last = path === undefined ? undefined : await readLastPublish(path, host);
  if (path === undefined || last === undefined) return undefined;
  try {
    const texts = await exceptionsIn(path, host);
    const { freed } = await readMemory(path, host);
    return { texts, sources: new Set(last.sources.map(({ source }) => source)), freed };
  } catch (error) {
    if (error instanceof HostError) return undefined;
    throw error;
  }
}

/** The file of a list and its sources, if it was published. */
export async function publishedList(
  path: string | undefined,
  host: Host,
): Promise<Pick<PublishedRules, "path" | "sources" | "kinds" | "blockedLately">> {
  const last = path === undefined ? undefined : await readLastPublish(path, host);
  if (path === undefined || last === undefined) return {};
  const { blocked } = await readMemory(path, host);
  return {
    path,
    sources: new Set(last.sources.map(({ source }) => source)),
    kinds: new Map(last.sources.map(({ source, kinds = {} }) => [source, kinds])),
    blockedLately: blocked.map(([name]) => name),
  };
}

/** Reads in blocks, because a list may be larger than the free memory. */
async function exceptionsIn(path: string, host: Host): Promise<Set<string>> {
  const texts = new Set<string>();
  const file = await host.openFile(path);
  try {
    let rest = new Uint8Array(0);
    const block = new Uint8Array(BLOCK);
    for (let length = await file.read(block); length > 0; length = await file.read(block)) {
      const bytes = new Uint8Array(rest.length + length);
      bytes.set(rest);
      bytes.set(block.subarray(0, length), rest.length);
      rest = bytes.slice(takeLines(bytes, texts));
    }
    if (rest[0] === AT && rest[1] === AT) texts.add(decodeUtf8(rest, 0, rest.length));
  } finally {
    await file.close();
  }
  return texts;
}

/** Returns where the last line begins. It may continue in the next block. */
function takeLines(bytes: Uint8Array, texts: Set<string>): number {
  let start = 0;
  for (let end = bytes.indexOf(LF); end !== -1; end = bytes.indexOf(LF, start)) {
    if (bytes[start] === AT && bytes[start + 1] === AT) texts.add(decodeUtf8(bytes, start, end));
    start = end + 1;
  }
  return start;
}
