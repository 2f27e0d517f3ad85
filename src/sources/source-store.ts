import { join } from "node:path";
import { decodeUtf8, encodeUtf8 } from "../bytes/utf8.ts";
import { withoutCredentials } from "../diagnostics/printable.ts";
import { type Host, HostError, type OpenFile } from "../host/host.ts";
import { writeWhole } from "../host/write-whole.ts";
import type { Validators, WebText } from "./web-text.ts";

/** A file of a source as it was when the source was last good. */
export interface StoredFile {
  /** SHA-256 of the address that was asked for; addresses may carry passwords, so they are not written down. */
  readonly key: string;
  /** The address that answered, without credentials. */
  readonly url: string;
  readonly validators: Validators;
  readonly sha256: string;
  readonly size: number;
}

/** What is remembered of a source: the files of its last good state. */
export interface SourceRecord {
  readonly version: 1;
  /** For people. */
  readonly source: string;
  readonly files: readonly StoredFile[];
  /** Bytes of all files together. */
  readonly size: number;
  /** When its server last said that this is the list, in milliseconds. */
  readonly goodAt: number;
}

const BLOCK = 1024 * 1024;

/**
 * Last good copies of remote sources: objects named by what is in them, and one record a source. Whatever is wrong with
 * what is found there, it then never was; files are written whole or not at all, so any number of runs may share it.
 */
export class SourceStore {
  private readonly folder: string;
  private readonly host: Host;

  constructor(folder: string, host: Host) {
    this.folder = folder;
    this.host = host;
  }

  async recordOf(source: string): Promise<SourceRecord | undefined> {
    const path = join(this.folder, "sources", `${await digestOf(source)}.json`);
    try {
      const record: unknown = JSON.parse(decodeUtf8(await this.host.readFile(path)));
      return isRecord(record) ? record : undefined;
    } catch (error) {
      if (error instanceof HostError || error instanceof SyntaxError) return undefined;
      throw error;
    }
  }

  /** A file of a record, if its bytes are still what they were. */
  async textOf(record: Pick<SourceRecord, "files">, url: string): Promise<WebText | undefined> {
    const key = await digestOf(url);
    const file = record.files.find((one) => one.key === key);
    if (file === undefined) return undefined;
    const path = this.objectPath(file.sha256);
    if ((await this.host.sizeOf(path)) !== file.size) return undefined;
    if ((await digestOfFile(path, this.host)) !== file.sha256) return undefined;
    return {
      url: withCredentialsOf(url, file.url),
      size: file.size,
      validators: file.validators,
      sha256: file.sha256,
      open: () => this.host.openFile(path),
      close() {},
    };
  }

  /** Keeps the files of a source that is good now, and says what they are. Rejects with a `HostError`. */
  async keep(
    source: string,
    files: readonly { readonly asked: string; readonly text: WebText }[],
  ): Promise<StoredFile[]> {
    const stored: StoredFile[] = [];
    for (const { asked, text } of files) {
      const { validators, size, url } = text;
      const sha256 = text.sha256 ?? (await this.keepObject(text));
      const key = await digestOf(asked);
      stored.push({ key, url: withoutCredentials(url), validators, sha256, size });
    }
    const record: SourceRecord = {
      version: 1,
      source: withoutCredentials(source),
      files: stored,
      size: stored.reduce((sum, { size }) => sum + size, 0),
      goodAt: this.host.now().getTime(),
    };
    const path = join(this.folder, "sources", `${await digestOf(source)}.json`);
    const text = encodeUtf8(JSON.stringify(record));
    await writeWhole(path, this.host, (file) => file.write(text));
    return stored;
  }

  private async keepObject(text: WebText): Promise<string> {
    const { createHash } = await import("node:crypto");
    const hash = createHash("sha256");
    const opened = await text.open();
    try {
      return await writeWhole(
        this.objectPath("new"),
        this.host,
        async (file) => {
          for await (const piece of blocksOf(opened)) {
            hash.update(piece);
            file.write(piece);
          }
          return hash.digest("hex");
        },
        (digest) => this.objectPath(digest),
      );
    } finally {
      await opened.close();
    }
  }

  private objectPath(sha256: string): string {
    return join(this.folder, "objects", sha256);
  }
}

/** What files are, without keeping them. */
export async function describeFiles(
  files: readonly { readonly asked: string; readonly text: WebText }[],
): Promise<StoredFile[]> {
  const stored: StoredFile[] = [];
  for (const { asked, text } of files) {
    const { url, size, validators } = text;
    const opened = await text.open();
    try {
      const sha256 = text.sha256 ?? (await digestOfOpen(opened));
      stored.push({
        key: await digestOf(asked),
        url: withoutCredentials(url),
        validators,
        sha256,
        size,
      });
    } finally {
      await opened.close();
    }
  }
  return stored;
}

async function digestOfOpen(file: OpenFile): Promise<string> {
  const { createHash } = await import("node:crypto");
  const hash = createHash("sha256");
  for await (const piece of blocksOf(file)) hash.update(piece);
  return hash.digest("hex");
}

/** SHA-256 of a file; undefined when it cannot be read. */
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

async function* blocksOf(file: OpenFile): AsyncGenerator<Uint8Array> {
  const buffer = new Uint8Array(BLOCK);
  for (let count = await file.read(buffer); count > 0; count = await file.read(buffer))
    yield buffer.subarray(0, count);
}

/** The address that answered last time; if it is on the same server, with the credentials of the one that is asked for. */
function withCredentialsOf(asked: string, answered: string): string {
  const [from, to] = [new URL(asked), new URL(answered)];
  if (from.origin !== to.origin) return answered;
  to.username = from.username;
  to.password = from.password;
  return to.href;
}

export async function digestOf(text: string): Promise<string> {
  const { createHash } = await import("node:crypto");
  return createHash("sha256").update(text).digest("hex");
}

/** Somebody else may have written to it. */
function isRecord(record: unknown): record is SourceRecord {
  if (typeof record !== "object" || record === null) return false;
  const { version, files, size, goodAt } = record as Partial<SourceRecord>;
  return (
    version === 1 &&
    typeof size === "number" &&
    typeof goodAt === "number" &&
    Array.isArray(files) &&
    files.every(isStoredFile)
  );
}

export function isStoredFile(file: unknown): file is StoredFile {
  if (typeof file !== "object" || file === null) return false;
  const { key, sha256, url, size, validators } = file as Partial<StoredFile>;
  return (
    typeof key === "string" &&
    /^[0-9a-f]{64}$/.test(sha256 ?? "") &&
    URL.canParse(url ?? "") &&
    typeof size === "number" &&
    typeof validators === "object"
  );
}
