import { DAY_MS } from "../diagnostics/text.ts";
import { promisify } from "node:util";
import zlib from "node:zlib";
import { BytesEnd, LF, decodeUtf8, encodeUtf8 } from "../bytes/text.ts";
import {
  PACKED_ENDINGS,
  StateFile,
  isDate,
  isText,
  isWhole,
  arrayOf,
  objectOf,
  oneOf,
  removeLeftoversIn,
  temporaryFor,
  writeWhole,
} from "../host/files.ts";
import { type Host, HostError, type NewFile, type Packing } from "../host/host.ts";
import { BuildRecord, LENGTH_BYTES, type RecordHeader } from "./build-record.ts";
import type { HistoryEntry, HistoryEvent } from "../documents/facts.ts";

/** A published list, to be kept. */
interface KeptList {
  readonly header: RecordHeader;
  /** Whether it differs from the list before. */
  readonly isNew: boolean;
  readonly keep: KeepLimits;
  /** Writes what is needed to publish it again. */
  readonly writeDraft: (file: Pick<NewFile, "write">) => void;
}

/** The temporary files of a record. */
const PARTS: ReadonlySet<string> = new Set(["frames", "record", "draft", "draft-text", "list"]);

/** A record in progress. Frames come first, because the header is known last. */
export class RecordFile {
  private readonly list: string;
  /** Path prefix of its files. */
  private readonly stem: string;
  private readonly host: Host;
  private readonly frames: string;
  private file: NewFile | undefined;

  constructor(list: string, host: Host) {
    this.list = list;
    this.stem = host.path.join(recordFolder(list, host), host.path.basename(list));
    this.host = host;
    this.frames = temporaryFor(`${this.stem}.frames`);
  }

  /** All methods may throw a `HostError`; the list does not need its record. */
  async open(): Promise<void> {
    await this.host.makeFolder(this.host.path.dirname(this.stem));
    const folder = this.host.path.dirname(this.stem);
    const start = `${this.host.path.basename(this.stem)}.`;
    const isOwn = (name: string): boolean =>
      name === IGNORE_FILE || (name.startsWith(start) && PARTS.has(name.slice(start.length)));
    await removeLeftoversIn(folder, isOwn, this.host);
    this.file = this.host.createFile(this.frames);
  }

  write(bytes: Uint8Array): void {
    try {
      this.file?.write(bytes);
    } catch (error) {
      if (!(error instanceof HostError)) throw error;
      // The list itself reports a full disk.
      this.file?.abandon();
      this.file = undefined;
    }
  }

  /** Call when the list is published. Keeps the record, the draft and, if the list is new, a copy. */
  async finish({ header, isNew, keep, writeDraft }: KeptList): Promise<void> {
    const { host, file, list } = this;
    if (file === undefined || host.packFile === undefined) return;
    this.file = undefined;
    // The header comes last, because it is known last. Readers start at the end.
    file.write(headerBytes(header));
    // No flush to disk: the file is read and deleted at once.
    file.abandon();
    // Must run before the new build is added.
    const newest = (await keptBuilds(list, host)).at(-1);
    const stamp = stampOf(numberOf(newest?.stamp) + 1, host.now());
    const last = isNew ? undefined : newest;
    const keepCopy = async (): Promise<void> => {
      const part = `list-${header.bytes}` as const;
      if (last?.files.list?.includes(`.${part}.`) !== true) await this.pack(list, stamp, part);
    };
    await Promise.all([
      this.pack(this.frames, stamp, "record"),
      this.keepDraft(stamp, writeDraft),
      keepCopy(),
    ]);
    await host.removeFile(this.frames);
    await removeOldBuilds(list, keep, host);
  }

  async close(): Promise<void> {
    this.file?.abandon();
    this.file = undefined;
    await this.host.removeFile(this.frames).catch(() => {});
  }

  private async keepDraft(stamp: string, write: KeptList["writeDraft"]): Promise<void> {
    const { host } = this;
    const text = temporaryFor(`${this.stem}.draft-text`);
    try {
      const file = host.createFile(text);
      try {
        write(file);
      } finally {
        file.abandon();
      }
      await this.pack(text, stamp, "draft");
    } finally {
      await host.removeFile(text).catch(() => {});
    }
  }

  private async pack(from: string, stamp: string, part: BuildPart): Promise<void> {
    const packed = temporaryFor(`${this.stem}.${part.replace(/-\d+$/, "")}`);
    for (const packing of ["zstd", "gzip"] as const) {
      const work = this.host.packFile!(from, packed, packing, "quick");
      if (work === undefined) continue;
      await work;
      await this.host.rename(packed, partName(this.stem, stamp, part, packing));
      return;
    }
  }
}

/** The end of a record: the header and its length. */
export function headerBytes(header: RecordHeader): Uint8Array {
  const text = encodeUtf8(JSON.stringify(header));
  const bytes = new Uint8Array(text.length + LENGTH_BYTES);
  bytes.set(text);
  new DataView(bytes.buffer).setUint32(text.length, text.length, true);
  return bytes;
}

/** How long builds of a list stay available: at most so many, and at most so many days. */
export interface KeepLimits {
  readonly builds: number;
  readonly days: number | undefined;
}

/** The published build and the one before are kept at any age. */
const FEWEST = 2;

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
type BuildPart = "record" | "draft" | `list-${number}`;

/** The file name of a part of a build. */
function partName(list: string, stamp: string, part: BuildPart, packing: Packing): string {
  return `${list}.${stamp}.${part}.${PACKED_ENDINGS[packing]}`;
}

/** The stamp of a new build. The number orders builds: the clock may have been wrong, or be wrong now. */
function stampOf(number: number, timestamp: Date): string {
  return `${String(number).padStart(DIGITS, "0")}-${dateOf(timestamp)}`;
}

/** The time of writing: the date in the list itself may differ. Years beyond four digits are those of a broken clock. */
function dateOf(timestamp: Date): string {
  const text = timestamp.toISOString().replace(/[^0-9TZ]/g, "");
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
export function timestampOf(stamp: string): string {
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
async function removeOldBuilds(list: string, keep: KeepLimits, host: Host): Promise<void> {
  const builds = await keptBuilds(list, host);
  const { builds: most, days } = keep;
  // The clock may be wrong now, so ages are also measured from the build before, and those from the future are young.
  const before = Date.parse(timestampOf(builds.at(-2)?.stamp ?? ""));
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

/** The last 4 kB of a list as published, without the whole in memory; undefined if it is unreadable. */
export async function listEndOf({ files }: KeptBuild, host: Host): Promise<Uint8Array | undefined> {
  if (files.list === undefined) return undefined;
  try {
    const packed = await host.readFile(files.list);
    const unpacker = files.list.endsWith(".zst")
      ? zlib.createZstdDecompress()
      : zlib.createGunzip();
    const end = new BytesEnd();
    unpacker.end(packed);
    for await (const piece of unpacker) end.push(piece as Uint8Array);
    return end.bytes;
  } catch (error) {
    return unreadable(error);
  }
}

/** Undefined for an error that says that a file is missing or damaged; others are thrown. */
function unreadable(error: unknown): undefined {
  if (error instanceof HostError || (error as { code?: string }).code !== undefined)
    return undefined;
  throw error;
}

/** Buffer for decompressing. It halves the time compared to the default 16 kB and avoids a copy if the output fits. Small files need 16 kB. */
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
    return unreadable(error);
  }
}

/** The folder for the records of lists, next to the lists. */
export function recordFolder(list: string, host: Pick<Host, "path">): string {
  return host.path.join(host.path.dirname(list), ".rules-compiler");
}

/** Git ignores this folder and this file, except for what guards compare with in a fresh clone. */
const IGNORED = "*\n!*.txt.json\n";
const IGNORE_FILE = ".gitignore";

/** Hides the folder of records from Git, once. A file of the user stays. Rejects with a `HostError`. */
export async function ignoreRecords(list: string, host: Host): Promise<void> {
  const folder = recordFolder(list, host);
  const path = host.path.join(folder, IGNORE_FILE);
  if ((await host.listFolder(folder)).length === 0 || (await host.exists(path))) return;
  await writeWhole(path, host, (file) => file.write(encodeUtf8(IGNORED)));
}

/** A state of the list at a path, in the folder of records: `my-list.txt.hold.json`. */
export function stateOf<T extends object>(
  list: string,
  ending: string,
  isValid: (value: unknown) => value is T,
  host: Host,
): StateFile<T> {
  const name = `${host.path.basename(list)}.${ending}`;
  return new StateFile(host.path.join(recordFolder(list, host), name), isValid, host);
}

/** The journal of a set of files that are published together; `home` is the first of them. */
export function journalPath(home: string, host: Pick<Host, "path">): string {
  return host.path.join(recordFolder(home, host), `${host.path.basename(home)}.journal`);
}

/** Whether a file in the folder of records is a journal. */
export function isJournal(name: string): boolean {
  return name.endsWith(".journal");
}

/** What happened to a list. */
const HISTORY_EVENTS: readonly HistoryEvent[] = [
  "published",
  "accepted",
  "refused",
  "rolled-back",
  "held",
  "hold-ended",
  "began",
  "ended",
];

/** The log of a list: one line of JSON per event, only ever appended to. The caller holds the lock of the list. */
export class HistoryLog {
  private readonly path: string;
  private readonly host: Host;

  constructor(list: string, host: Host) {
    this.path = host.path.join(recordFolder(list, host), `${host.path.basename(list)}.log.jsonl`);
    this.host = host;
  }

  /** The digest of the list that was published last; undefined if unknown. */
  async lastDigest(): Promise<string | undefined> {
    return (await this.entries()).findLast(({ to }) => to !== undefined)?.to;
  }

  /** The entries, oldest first. Lines that are damaged or cut are skipped. Rejects with a `HostError`. */
  async entries(): Promise<HistoryEntry[]> {
    const bytes = await this.bytes();
    return decodeUtf8(bytes, 0, bytes.length).split("\n").flatMap(readEntry);
  }

  /** Appends an entry. It begins on a new line, also after a run that was killed while it wrote. Rejects with a `HostError`. */
  async append(entry: HistoryEntry): Promise<void> {
    const { host, path } = this;
    await host.makeFolder(host.path.dirname(path));
    const last = (await this.bytes()).at(-1);
    const isCut = last !== undefined && last !== LF;
    await host.appendFile(path, encodeUtf8(`${isCut ? "\n" : ""}${JSON.stringify(entry)}\n`));
  }

  private async bytes(): Promise<Uint8Array> {
    try {
      return await this.host.readFile(this.path);
    } catch (error) {
      if (error instanceof HostError && error.code === "ENOENT") return new Uint8Array(0);
      throw error;
    }
  }
}

function readEntry(line: string): HistoryEntry[] {
  try {
    const entry = JSON.parse(line) as unknown;
    return isEntry(entry) ? [entry] : [];
  } catch {
    return [];
  }
}

const isEntry = objectOf<HistoryEntry>(
  { at: isDate, build: isWhole, by: isText, event: oneOf(HISTORY_EVENTS) },
  {
    rules: isWhole,
    to: isText,
    of: isText,
    what: isText,
    guards: arrayOf(isText),
    from: arrayOf(objectOf<{ source: string }>({ source: isText })),
  },
);
