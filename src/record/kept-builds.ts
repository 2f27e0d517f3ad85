import { promisify } from "node:util";
// Default import: Deno before 2.9 has no zstd export.
import zlib from "node:zlib";
import { type Host, HostError, type Packing } from "../host/host.ts";
import { PACKED_ENDINGS } from "../host/packed-endings.ts";
import { BuildRecord } from "./build-record.ts";
import type { RecordHeader } from "./record-format.ts";
import { recordFolder } from "./record-folder.ts";

/** How long builds of a list stay available: at most so many, and at most so many days. */
export interface KeepLimits {
  readonly builds: number;
  readonly days: number | undefined;
}

/** The published build and the one before are kept at any age. */
const FEWEST = 2;
const DAY_MS = 86_400_000;

const FILE = /^(?<stamp>\d{7}-\d{8}T\d{9}Z)\.(?<part>record|draft|list)(?:-\d+)?\.(?:zst|gz)$/;
const STAMP = /^(?<number>\d{7})-(?<date>\d{8}T\d{9}Z)$/;
const DIGITS = 7;

/** The paths of the parts of a build. */
interface BuildFiles {
  readonly record?: string;
  /** What is needed to publish it again, beside its record and its text. */
  readonly draft?: string;
  readonly list?: string;
}

/** A build of a list that is still available. */
export interface KeptBuild {
  /** Its number in the sequence of builds, and when it was written, as in its file names: `0000042-20261115T060000000Z`. */
  readonly stamp: string;
  /** Its own files. A build with the same list as the one before has no copy of the text. */
  readonly own: BuildFiles;
  /** Where its parts are. */
  readonly files: BuildFiles;
}

/** A file of a build: its record, its draft, or a copy of the list. The size is in the name because every publish needs it. */
export type BuildPart = "record" | "draft" | `list-${number}`;

/** The file name of a part of a build. */
export function partName(list: string, stamp: string, part: BuildPart, packing: Packing): string {
  return `${list}.${stamp}.${part}.${PACKED_ENDINGS[packing]}`;
}

/** The stamp of a new build. The number orders builds: the clock may have been wrong, or be wrong now. */
export function stampOf(number: number, moment: Date): string {
  return `${String(number).padStart(DIGITS, "0")}-${dateOf(moment)}`;
}

/** The time of writing: the date in the list itself may differ. Years beyond four digits are those of a broken clock. */
function dateOf(moment: Date): string {
  const text = moment.toISOString().replace(/[^0-9TZ]/g, "");
  return text.slice(-"00000000T000000000Z".length);
}

/** The number of the build that will be kept next. */
export async function nextNumber(list: string, host: Host): Promise<number> {
  return numberOf((await keptBuilds(list, host)).at(-1)?.stamp) + 1;
}

/** The number in a stamp. */
export function numberOf(stamp = ""): number {
  return Number(STAMP.exec(stamp)?.groups?.["number"] ?? 0);
}

/** The time of a stamp, in ISO 8601. */
export function momentOf(stamp: string): string {
  return stamp.replace(
    /^\d+-(\d{4})(\d{2})(\d{2})T(\d{2})(\d{2})(\d{2})(\d{3})Z$/,
    "$1-$2-$3T$4:$5:$6.$7Z",
  );
}

/** The available builds of a list, oldest first. */
export async function keptBuilds(list: string, host: Host): Promise<KeptBuild[]> {
  const start = `${host.path.basename(list)}.`;
  const folder = recordFolder(list, host);
  const builds = new Map<string, BuildFiles>();
  for (const name of await host.listFolder(folder)) {
    if (!name.startsWith(start)) continue;
    const { stamp, part } = FILE.exec(name.slice(start.length))?.groups ?? {};
    if (stamp === undefined) continue;
    builds.set(stamp, {
      ...builds.get(stamp),
      [part as keyof BuildFiles]: host.path.join(folder, name),
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

/** Removes builds beyond the limits. A text that a newer build still needs is renamed for it. */
export async function removeOldBuilds(list: string, keep: KeepLimits, host: Host): Promise<void> {
  const builds = await keptBuilds(list, host);
  const { builds: most, days } = keep;
  // The clock may be wrong now, so ages are also measured from the build before, and those from the future are young.
  const before = Date.parse(momentOf(builds.at(-2)?.stamp ?? ""));
  const now = Math.min(host.now().getTime(), Number.isNaN(before) ? Infinity : before);
  const since = days === undefined ? "" : dateOf(new Date(now - days * DAY_MS));
  const first = builds.findIndex(({ stamp }) => stamp.slice(DIGITS + 1) >= since);
  const young = first === -1 ? 0 : builds.length - first;
  const kept = Math.max(FEWEST, Math.min(most, young));
  const [oldest] = builds.slice(-kept);
  if (oldest === undefined || builds.length <= kept) return;
  const needed = oldest.own.list === undefined ? oldest.files.list : undefined;
  if (needed !== undefined)
    await host.rename(
      needed,
      needed.replace(/\.\d+-\d{8}T\d{9}Z\.list-/, `.${oldest.stamp}.list-`),
    );
  for (const { own } of builds.slice(0, -kept))
    for (const file of Object.values(own))
      if (file !== needed) await host.removeFile(file).catch(() => {});
}

/** The newest record of a list; undefined if it is missing or unreadable. */
export async function readRecord(list: string, host: Host): Promise<BuildRecord | undefined> {
  const newest = (await keptBuilds(list, host)).at(-1);
  return newest === undefined ? undefined : await recordOf(newest, host);
}

/** The file of the newest record. */
export async function newestRecord(list: string, host: Host): Promise<string | undefined> {
  return (await keptBuilds(list, host)).at(-1)?.own.record;
}

/** Undefined if it is unreadable. */
export async function recordOf({ files }: KeptBuild, host: Host): Promise<BuildRecord | undefined> {
  const bytes = await unpacked(files.record, host);
  return bytes === undefined ? undefined : BuildRecord.read(bytes);
}

/** The header of its record; undefined if it is unreadable. */
export async function headerOf(
  { files }: KeptBuild,
  host: Host,
): Promise<RecordHeader | undefined> {
  const bytes = await unpacked(files.record, host);
  return bytes === undefined ? undefined : BuildRecord.headerIn(bytes);
}

/** Its record as written; undefined if it is unreadable. */
export async function recordBytesOf(
  { files }: KeptBuild,
  host: Host,
): Promise<Uint8Array | undefined> {
  return await unpacked(files.record, host);
}

/** Its draft as written; undefined if it is unreadable. */
export async function draftBytesOf(
  { files }: KeptBuild,
  host: Host,
): Promise<Uint8Array | undefined> {
  return await unpacked(files.draft, host);
}

/** The list as published; undefined if it is unreadable. */
export async function listOf({ files }: KeptBuild, host: Host): Promise<Uint8Array | undefined> {
  return await unpacked(files.list, host);
}

/** Unpacking buffer. It halves the time compared to the default 16 kB and avoids a copy if the output fits. Small files need 16 kB. */
const MOST_UNPACKED = 16 * 1024 * 1024;
const LEAST_UNPACKED = 16_384;

async function unpacked(file: string | undefined, host: Host): Promise<Uint8Array | undefined> {
  if (file === undefined) return undefined;
  try {
    const packed = await host.readFile(file);
    const chunkSize = Math.max(LEAST_UNPACKED, Math.min(packed.length * 3, MOST_UNPACKED));
    // Uses the thread pool, so that the caller is not blocked.
    return file.endsWith(".zst")
      ? await promisify(zlib.zstdDecompress)(packed, { chunkSize })
      : await promisify(zlib.gunzip)(packed, { chunkSize });
  } catch (error) {
    if (error instanceof HostError || (error as { code?: string }).code !== undefined)
      return undefined;
    throw error;
  }
}
