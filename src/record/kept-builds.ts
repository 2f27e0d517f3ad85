import { promisify } from "node:util";
// By its default export: Deno before 2.9 has no zstd to be named.
import zlib from "node:zlib";
import { type Host, HostError, type Packing } from "../host/host.ts";
import { PACKED_ENDINGS } from "../host/packed-endings.ts";
import { BuildRecord } from "./build-record.ts";
import type { RecordHeader } from "./record-format.ts";
import { recordFolder } from "./record-folder.ts";

/** Builds of a list of which record and text are kept. */
const KEPT = 8;

const FILE = /^(?<stamp>\d{8}T\d{9}Z)\.(?<part>record|list)(?:-\d+)?\.(?:zst|gz)$/;

/** A build of a list that can be looked at again. */
export interface KeptBuild {
  /** When it was written, as its files are named: `20261115T060000000Z`. */
  readonly stamp: string;
  /** Its own files. A build that made the same list as the one before has no text of its own. */
  readonly own: { readonly record?: string; readonly list?: string };
  /** Where its record and its text are. */
  readonly files: { readonly record?: string; readonly list?: string };
}

/** What a file of a build is: its record, or a copy of the list, with the size of that in its name, which is asked for at every publish. */
export type BuildPart = "record" | `list-${number}`;

/** The name of a part of a build, for a list of this name. */
export function partName(list: string, stamp: string, part: BuildPart, packing: Packing): string {
  return `${list}.${stamp}.${part}.${PACKED_ENDINGS[packing]}`;
}

/** By when it is written: the list itself may be dated otherwise. */
export function stampOf(moment: Date): string {
  return moment.toISOString().replace(/[^0-9TZ]/g, "");
}

/** The moment that a stamp stands for, as ISO 8601 has it. */
export function momentOf(stamp: string): string {
  return stamp.replace(
    /^(\d{4})(\d{2})(\d{2})T(\d{2})(\d{2})(\d{2})(\d{3})Z$/,
    "$1-$2-$3T$4:$5:$6.$7Z",
  );
}

/** What is kept of a list, oldest first. */
export async function keptBuilds(list: string, host: Host): Promise<KeptBuild[]> {
  const start = `${host.path.basename(list)}.`;
  const folder = recordFolder(list, host);
  const builds = new Map<string, { record?: string; list?: string }>();
  for (const name of await host.listFolder(folder)) {
    if (!name.startsWith(start)) continue;
    const { stamp, part } = FILE.exec(name.slice(start.length))?.groups ?? {};
    if (stamp === undefined) continue;
    builds.set(stamp, {
      ...builds.get(stamp),
      [part as "record" | "list"]: host.path.join(folder, name),
    });
  }
  let text: string | undefined;
  return [...builds]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([stamp, own]) => {
      text = own.list ?? text;
      return { stamp, own, files: { ...own, ...(text && { list: text }) } };
    });
}

/** Removes all but the newest. A text that one of those still needs goes over to it. */
export async function removeOldBuilds(list: string, host: Host): Promise<void> {
  const builds = await keptBuilds(list, host);
  const [oldest] = builds.slice(-KEPT);
  if (oldest === undefined || builds.length <= KEPT) return;
  const needed = oldest.own.list === undefined ? oldest.files.list : undefined;
  if (needed !== undefined)
    await host.rename(needed, needed.replace(/\.\d{8}T\d{9}Z\.list-/, `.${oldest.stamp}.list-`));
  for (const { own } of builds.slice(0, -KEPT))
    for (const file of Object.values(own))
      if (file !== needed) await host.removeFile(file).catch(() => {});
}

/** The newest record of a list; undefined when there is none that can be read. */
export async function readRecord(list: string, host: Host): Promise<BuildRecord | undefined> {
  const newest = (await keptBuilds(list, host)).at(-1);
  return newest === undefined ? undefined : await recordOf(newest, host);
}

/** The file of the newest record of a list. */
export async function newestRecord(list: string, host: Host): Promise<string | undefined> {
  return (await keptBuilds(list, host)).at(-1)?.own.record;
}

/** Undefined when it cannot be read. */
export async function recordOf({ files }: KeptBuild, host: Host): Promise<BuildRecord | undefined> {
  const bytes = await unpacked(files.record, host);
  return bytes === undefined ? undefined : BuildRecord.read(bytes);
}

/** What stands in its record beside the rows; undefined when it cannot be read. */
export async function headerOf(
  { files }: KeptBuild,
  host: Host,
): Promise<RecordHeader | undefined> {
  const bytes = await unpacked(files.record, host);
  return bytes === undefined ? undefined : BuildRecord.headerIn(bytes);
}

/** The list as it was published; undefined when it cannot be read. */
export async function listOf({ files }: KeptBuild, host: Host): Promise<Uint8Array | undefined> {
  return await unpacked(files.list, host);
}

/** Bytes unpacked at a time: half of the time that it takes with the usual 16 kB, and no copy of what fits. Small files need no more. */
const MOST_UNPACKED = 16 * 1024 * 1024;
const LEAST_UNPACKED = 16_384;

async function unpacked(file: string | undefined, host: Host): Promise<Uint8Array | undefined> {
  if (file === undefined) return undefined;
  try {
    const packed = await host.readFile(file);
    const chunkSize = Math.max(LEAST_UNPACKED, Math.min(packed.length * 3, MOST_UNPACKED));
    // On the thread pool: whoever asks has other things to look at meanwhile.
    return file.endsWith(".zst")
      ? await promisify(zlib.zstdDecompress)(packed, { chunkSize })
      : await promisify(zlib.gunzip)(packed, { chunkSize });
  } catch (error) {
    if (error instanceof HostError || (error as { code?: string }).code !== undefined)
      return undefined;
    throw error;
  }
}
