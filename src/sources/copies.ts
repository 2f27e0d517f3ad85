import { DAY_MS } from "../diagnostics/text.ts";
import { ByteBuffer, LF, decodeUtf8, encodeUtf8 } from "../bytes/text.ts";
import {
  StateFile,
  type TypeCheck,
  either,
  isDigest,
  isNumber,
  isText,
  arrayOf,
  objectOf,
  oneOf,
  readFully,
  mapOf,
  writeWhole,
} from "../host/files.ts";
import { type Host, HostError, type OpenFile } from "../host/host.ts";
import { inLedgerOrder, ledgerHash } from "./kept-limits.ts";
import { DownloadedBody } from "./limits.ts";
import { type SourceMeasure, isMeasure } from "./names-of-source.ts";

/** Killed runs leave unneeded copies that were never marked as replaced. They are removed after this time. */
const ORPHAN_MS = 30 * DAY_MS;
/** A temporary file older than this belongs to a run that was killed. */
const UNFINISHED_MS = DAY_MS;

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

/** A file of a source. */
export interface StoredFile {
  /** SHA-256 of its id; URLs may contain passwords and are not stored. */
  readonly key: string;
  /** Whether another URL answered than the one in its id. */
  readonly isMoved?: true;
  /** Whether the response may be truncated within a line. */
  readonly isCut?: true;
  /** For a source that keeps rules: when they were seen, or those that it no longer has. */
  readonly role?: "ledger" | "kept";
  readonly validators: Validators;
  readonly sha256: string;
  readonly size: number;
}

/** The stored state of a source: the files that were fetched last and passed all checks. */
export interface SourceRecord {
  readonly version: 2;
  /** For people: the URL without secrets. */
  readonly source: string;
  readonly files: readonly StoredFile[];
  /** Bytes of all files together. */
  readonly size: number;
  /** When its server last confirmed this version, in milliseconds. */
  readonly goodAt: number;
  /** Since when mirrors answer instead of its server. */
  readonly mirrorSince?: number | undefined;
  /** Absent in records of earlier versions. */
  readonly measure?: SourceMeasure | undefined;
  /** What was checked when it was stored; other commands and settings check less. */
  readonly checks?: readonly PassedCheck[] | undefined;
}

/** `public`: it came from a public IP address. `complete`: it has as many entries as its header names. */
export type PassedCheck = "public" | "complete";

/** A source whose files are kept. */
export interface KeptSource {
  readonly url: string;
  /** For people: the URL without secrets. */
  readonly shown: string;
}

const BLOCK = 1024 * 1024;

/**
 * Last good copies of remote sources: objects named by their digest, and one record per source. A corrupt record or object
 * counts as missing. Files are written atomically, so any number of runs may share the store.
 */
export class SourceStore {
  private readonly folder: string;
  private readonly host: Host;

  constructor(folder: string, host: Host) {
    this.folder = folder;
    this.host = host;
  }

  async recordOf(source: string): Promise<SourceRecord | undefined> {
    const path = this.host.path.join(this.folder, "sources", `${await digestOf(source)}.json`);
    const record = await new StateFile(path, isRecord, this.host, 2).read();
    if (record === undefined) return undefined;
    const { measure, checks, mirrorSince, ...rest } = record;
    return {
      ...rest,
      version: 2,
      files: await Promise.all(record.files.map(currentForm)),
      ...(typeof mirrorSince === "number" && { mirrorSince }),
      ...(Array.isArray(checks) && { checks }),
      ...(isMeasure(measure) && { measure }),
    };
  }

  /** A file of a record, if its bytes are intact. */
  async textOf(
    { files }: Pick<SourceRecord, "files">,
    { url, id }: WebAddress,
  ): Promise<WebText | undefined> {
    const key = await digestOf(id);
    const file = files.find((one) => one.key === key);
    const kept = file && (await this.open(file));
    if (kept === undefined) return undefined;
    const { validators, isMoved = false, isCut = false } = file!;
    const text = { ...kept, key, url, isMoved, isCut, validators };
    if ((await digestOfOpen(await text.open())) === file!.sha256) return text;
    text.close();
    return undefined;
  }

  /** The bytes of a file, which stay readable if another run removes the copy. Undefined if there is no copy. */
  async open({
    sha256,
    size,
  }: StoredFile): Promise<Pick<WebText, "sha256" | "size" | "open" | "close"> | undefined> {
    let file: OpenFile;
    try {
      file = await this.host.openFile(this.objectPath(sha256));
    } catch (error) {
      if (error instanceof HostError) return undefined;
      throw error;
    }
    if (file.size !== size) {
      await file.close();
      return undefined;
    }
    return {
      sha256,
      size,
      open: async () =>
        openAgain(size, async (from, into) => void (await readFully(file, into, from))),
      close: () => void file.close().catch(() => {}),
    };
  }

  /** Stores the files of an accepted source and returns their descriptions. Rejects with a `HostError`. */
  async keep(
    source: KeptSource,
    texts: readonly WebText[],
    known: Pick<SourceRecord, "measure" | "checks" | "mirrorSince"> = {},
  ): Promise<StoredFile[]> {
    const before = await this.recordOf(source.url);
    const stored: StoredFile[] = [];
    for (const text of texts)
      stored.push(describe(text, text.sha256 ?? (await this.keepObject(text))));
    const record: SourceRecord = {
      version: 2,
      source: source.shown,
      files: stored,
      size: stored.reduce((sum, { size }) => sum + size, 0),
      goodAt: this.host.now().getTime(),
      ...known,
    };
    await this.write(source.url, record);
    const now = new Set(stored.map(({ sha256 }) => sha256));
    for (const { sha256 } of before?.files ?? []) if (!now.has(sha256)) await this.replace(sha256);
    return stored;
  }

  private async write(url: string, record: SourceRecord): Promise<void> {
    const path = this.host.path.join(this.folder, "sources", `${await digestOf(url)}.json`);
    const text = encodeUtf8(JSON.stringify(record));
    await writeWhole(path, this.host, (file) => file.write(text));
  }

  /** Marks a replaced copy; `collectCopies` removes it once it is no longer needed. */
  private async replace(sha256: string): Promise<void> {
    await writeWhole(this.markPath(sha256), this.host, () => {});
  }

  private async keepObject(text: WebText): Promise<string> {
    const opened = await text.open();
    try {
      const { sha256 } = await this.add(async (write) => {
        for await (const piece of blocksOf(opened)) write(piece);
      });
      return sha256;
    } finally {
      await opened.close();
    }
  }

  /** Stores a text that `fill` writes. Rejects with a `HostError`. */
  async add(
    fill: (write: (bytes: Uint8Array) => void) => Promise<void>,
  ): Promise<Pick<StoredFile, "sha256" | "size">> {
    const { createHash } = await import("node:crypto");
    const hash = createHash("sha256");
    let size = 0;
    return await writeWhole(
      this.objectPath("new"),
      this.host,
      async (file) => {
        await fill((piece) => {
          hash.update(piece);
          size += piece.length;
          file.write(piece);
        });
        return { sha256: hash.digest("hex"), size };
      },
      async ({ sha256 }) => {
        // First, so that a concurrent collection does not remove the new copy.
        await this.host.removeFile(this.markPath(sha256));
        return this.objectPath(sha256);
      },
    );
  }

  private markPath(sha256: string): string {
    return this.host.path.join(this.folder, "replaced", sha256);
  }

  private objectPath(sha256: string): string {
    return this.host.path.join(this.folder, "objects", sha256);
  }
}

/** Describes files without storing them. */
export async function describeFiles(texts: readonly WebText[]): Promise<StoredFile[]> {
  const stored: StoredFile[] = [];
  for (const text of texts)
    stored.push(describe(text, text.sha256 ?? (await digestOfOpen(await text.open()))));
  return stored;
}

function describe({ key, isMoved, isCut, validators, size }: WebText, sha256: string): StoredFile {
  return {
    key,
    ...(isMoved ? { isMoved } : {}),
    ...(isCut ? { isCut } : {}),
    validators,
    sha256,
    size,
  };
}

async function digestOfOpen(file: OpenFile): Promise<string> {
  const { createHash } = await import("node:crypto");
  const hash = createHash("sha256");
  for await (const piece of blocksOf(file)) hash.update(piece);
  return hash.digest("hex");
}

/** SHA-256 of a file; undefined if it cannot be read. */
export async function digestOfFile(path: string, host: Host): Promise<string | undefined> {
  let file: OpenFile | undefined;
  try {
    file = await host.openFile(path);
    return await digestOfOpen(file);
  } catch (error) {
    if (error instanceof HostError) return undefined;
    throw error;
  } finally {
    await file?.close();
  }
}

/** Size and CRC-32 of a file, which tell whether it is whole; undefined if it cannot be read. */
export async function checksumOfFile(path: string, host: Host): Promise<string | undefined> {
  let file: OpenFile | undefined;
  try {
    file = await host.openFile(path);
    return `${file.size}-${(await crc32Of(blocksOf(file))).toString(16)}`;
  } catch (error) {
    if (error instanceof HostError) return undefined;
    throw error;
  } finally {
    await file?.close();
  }
}

/** The checksum of zip: where SHA-256 takes 70 ms for 26 MB, it takes 3. */
export async function crc32Of(
  pieces: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
): Promise<number> {
  const { crc32 } = await import("node:zlib");
  // Deno 2.0 does not have it.
  const step = typeof crc32 === "function" ? crc32 : slowCrc32;
  let crc = 0;
  for await (const piece of pieces) crc = step(piece, crc);
  return crc;
}

const CRC_POLYNOMIAL = 0xedb88320;

/** The same in JavaScript. */
export function slowCrc32(bytes: Uint8Array, before: number): number {
  let crc = ~before;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? CRC_POLYNOMIAL : 0);
  }
  return ~crc >>> 0;
}

async function* blocksOf(file: OpenFile): AsyncGenerator<Uint8Array> {
  const buffer = new Uint8Array(Math.min(BLOCK, Math.max(4096, file.size)));
  for (let count = await file.read(buffer); count > 0; count = await file.read(buffer))
    yield buffer.subarray(0, count);
}

export async function digestOf(text: string): Promise<string> {
  const { createHash } = await import("node:crypto");
  return createHash("sha256").update(text).digest("hex");
}

export const isStoredFile: TypeCheck<StoredFile> = objectOf<StoredFile>({
  key: isText,
  sha256: isDigest,
  size: isNumber,
  validators: mapOf(either(isText, oneOf([undefined]))),
});

/** Checks every field, because other programs may have changed the file. */
const isRecord = objectOf<SourceRecord>({
  version: oneOf([1, 2]),
  files: arrayOf(isStoredFile),
  size: isNumber,
  goodAt: isNumber,
});

/** The first version of the program stored the URL that answered. */
async function currentForm(file: StoredFile & { readonly url?: string }): Promise<StoredFile> {
  const { url, ...rest } = file;
  if (url === undefined || (await digestOf(url)) === file.key) return rest;
  return { ...rest, isMoved: true };
}

/** Whether a copy was stored without the check that refuses the source now. */
export function lacksCheck(code: string, record: SourceRecord | undefined): boolean {
  const { checks = [] } = record ?? {};
  if (code === "private-address") return !checks.includes("public");
  return code === "source-truncated" && !checks.includes("complete");
}

/** HTTP validators of a version. */
export interface Validators {
  readonly etag?: string | undefined;
  readonly lastModified?: string | undefined;
}

/** A file of a source: the URL that is requested, and an id that does not depend on it. */
export interface WebAddress {
  readonly url: string;
  /** The URL as the configuration or an include names it, before redirects and mirrors. */
  readonly id: string;
}

/** The text of a file from the web, stored outside memory. */
export interface WebText {
  /** The URL that answered, after redirects, if known. Relative includes are resolved against it. */
  readonly url: string;
  /** SHA-256 of its id. */
  readonly key: string;
  /** Whether another URL answered than the one in its id. */
  readonly isMoved: boolean;
  /** Whether the response may be truncated within a line. */
  readonly isCut: boolean;
  readonly size: number;
  readonly validators: Validators;
  /** SHA-256 of the bytes, if known. */
  readonly sha256?: string | undefined;
  open(): Promise<OpenFile>;
  close(): void;
}

/** Servers reject requests with longer validators, and the source could never be fetched again. */
const LONGEST_VALIDATOR = 1024;

/** The validators that can be sent back. */
export function usableValidators({ etag, lastModified }: Validators): Validators {
  return { etag: usable(etag), lastModified: usable(lastModified) };
}

function usable(text: string | undefined): string | undefined {
  return text !== undefined && text.length <= LONGEST_VALIDATOR ? text : undefined;
}

/** An independent reader of shared bytes; closing it does not close them. */
export function openAgain(
  size: number,
  read: (position: number, into: Uint8Array) => void | Promise<void>,
): OpenFile {
  let next = 0;
  return {
    size,
    stamp: { text: "", changed: 0 },
    async read(into, position = next) {
      const count = Math.max(0, Math.min(into.length, size - position));
      if (count > 0) await read(position, into.subarray(0, count));
      next = position + count;
      return count;
    },
    close: async () => {},
  };
}

/** Texts are sorted in this many parts, so that memory holds one part of them. */
const PARTS = 64;
const BUFFER = 64 * 1024;

interface Extent {
  readonly start: number;
  readonly end: number;
}

/** Collects texts in any order and returns them in the order of ledgers, each once. Most of them are in a temporary file. */
export class SeenTexts {
  private readonly host: Host;
  private readonly buffers = Array.from({ length: PARTS }, () => new ByteBuffer());
  private readonly extents: Extent[][] = Array.from({ length: PARTS }, () => []);
  private body: DownloadedBody | undefined;

  constructor(host: Host) {
    this.host = host;
  }

  add(bytes: Uint8Array, start: number, end: number): void {
    const part = ledgerHash(bytes, start, end) >>> 26;
    const buffer = this.buffers[part]!;
    buffer.append(bytes, start, end);
    buffer.push(LF);
    if (buffer.length >= BUFFER) this.flush(part, buffer);
  }

  *inOrder(): Generator<string> {
    for (let part = 0; part < PARTS; part++) {
      const texts = new Set(this.textOf(part).split("\n"));
      texts.delete("");
      yield* inLedgerOrder(texts);
    }
  }

  close(): void {
    this.body?.close();
    this.body = undefined;
  }

  private flush(part: number, buffer: ByteBuffer): void {
    this.body ??= new DownloadedBody(this.host);
    const start = this.body.size;
    this.body.append(buffer.view());
    this.extents[part]!.push({ start, end: start + buffer.length });
    buffer.length = 0;
  }

  private textOf(part: number): string {
    const texts = this.extents[part]!.map(({ start, end }) => {
      const bytes = new Uint8Array(end - start);
      this.body!.read(start, bytes);
      return decodeUtf8(bytes);
    });
    return texts.join("") + decodeUtf8(this.buffers[part]!.view());
  }
}
