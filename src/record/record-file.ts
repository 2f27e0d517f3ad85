import { basename, dirname, join } from "node:path";
// By its default export: Deno before 2.9 has no zstd to be named.
import zlib from "node:zlib";
import { encodeUtf8 } from "../bytes/utf8.ts";
import { type Host, HostError, type NewFile } from "../host/host.ts";
import { removeLeftovers, temporaryFor } from "../host/write-whole.ts";
import { BuildRecord } from "./build-record.ts";
import { recordFolder } from "./record-folder.ts";
import { LENGTH_BYTES, type RecordHeader } from "./record-format.ts";

/** Records of a list that are kept. */
const KEPT = 8;
const ENDINGS = { zstd: "zst", gzip: "gz" } as const;

/** A record on its way: frames first, because the header is known last. */
export class RecordFile {
  private readonly list: string;
  private readonly host: Host;
  private readonly frames: string;
  private file: NewFile | undefined;

  constructor(list: string, host: Host) {
    this.list = join(recordFolder(list), basename(list));
    this.host = host;
    this.frames = temporaryFor(`${this.list}.frames`);
  }

  /** Throws a `HostError`, as all of this does; a list can do without its record. */
  async open(): Promise<void> {
    await this.host.makeFolder(dirname(this.list));
    await removeLeftovers(`${this.list}.frames`, this.host);
    await removeLeftovers(`${this.list}.record`, this.host);
    this.file = this.host.createFile(this.frames);
  }

  write(bytes: Uint8Array): void {
    try {
      this.file?.write(bytes);
    } catch (error) {
      if (!(error instanceof HostError)) throw error;
      // A full disk is the list's to complain about.
      this.file?.abandon();
      this.file = undefined;
    }
  }

  async finish(header: RecordHeader): Promise<void> {
    const { host, file } = this;
    if (file === undefined || host.packFile === undefined) return;
    this.file = undefined;
    // Behind the frames, because it is known last; readers look for it at the end.
    file.write(headerBytes(header));
    // Not flushed to the disk: it is read at once, and gone then.
    file.abandon();
    const packed = temporaryFor(`${this.list}.record`);
    // By when it is written: the list may be dated otherwise.
    const stamp = host
      .now()
      .toISOString()
      .replace(/[^0-9TZ]/g, "");
    for (const packing of ["zstd", "gzip"] as const) {
      const work = host.packFile(this.frames, packed, packing, "quick");
      if (work === undefined) continue;
      await work;
      await host.rename(packed, `${this.list}.${stamp}.record.${ENDINGS[packing]}`);
      break;
    }
    await host.removeFile(this.frames);
    await this.removeOld();
  }

  async close(): Promise<void> {
    this.file?.abandon();
    this.file = undefined;
    await this.host.removeFile(this.frames).catch(() => {});
  }

  private async removeOld(): Promise<void> {
    const names = await recordNames(this.list, this.host);
    for (const name of names.slice(0, -KEPT))
      await this.host.removeFile(join(dirname(this.list), name)).catch(() => {});
  }
}

/** What ends a record: the header, and its length. */
export function headerBytes(header: RecordHeader): Uint8Array {
  const text = encodeUtf8(JSON.stringify(header));
  const bytes = new Uint8Array(text.length + LENGTH_BYTES);
  bytes.set(text);
  new DataView(bytes.buffer).setUint32(text.length, text.length, true);
  return bytes;
}

/** Names of the records of a list, oldest first. */
async function recordNames(list: string, host: Host): Promise<string[]> {
  const start = `${basename(list)}.`;
  const names = await host.listFolder(dirname(list));
  return names
    .filter(
      (name) =>
        name.startsWith(start) &&
        /^\d{8}T\d{9}Z\.record\.(?:zst|gz)$/.test(name.slice(start.length)),
    )
    .toSorted();
}

/** The newest record of a list; undefined when there is none that can be read. */
export async function readRecord(list: string, host: Host): Promise<BuildRecord | undefined> {
  const folder = recordFolder(list);
  const name = (await recordNames(join(folder, basename(list)), host)).at(-1);
  if (name === undefined) return undefined;
  try {
    const packed = await host.readFile(join(folder, name));
    const bytes = name.endsWith(".zst") ? zlib.zstdDecompressSync(packed) : zlib.gunzipSync(packed);
    return BuildRecord.read(bytes);
  } catch (error) {
    if (error instanceof HostError || (error as { code?: string }).code !== undefined)
      return undefined;
    throw error;
  }
}
