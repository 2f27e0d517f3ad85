import { encodeUtf8 } from "../bytes/utf8.ts";
import { type Host, HostError, type NewFile } from "../host/host.ts";
import { removeLeftoversOf, temporaryFor } from "../host/write-whole.ts";
import { type BuildPart, keptBuilds, partName, removeOldBuilds, stampOf } from "./kept-builds.ts";
import { recordFolder } from "./record-folder.ts";
import { LENGTH_BYTES, type RecordHeader } from "./record-format.ts";

/** A record on its way: frames first, because the header is known last. */
export class RecordFile {
  private readonly list: string;
  /** What its files in the record folder begin with. */
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

  /** Throws a `HostError`, as all of this does; a list can do without its record. */
  async open(): Promise<void> {
    await this.host.makeFolder(this.host.path.dirname(this.stem));
    await removeLeftoversOf(
      ["frames", "record", "list"].map((part) => `${this.stem}.${part}`),
      this.host,
    );
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

  /** Once the list is published: keeps the record, and, if the list is new, a copy of it for later comparisons. */
  async finish(header: RecordHeader, isNew: boolean): Promise<void> {
    const { host, file, list } = this;
    if (file === undefined || host.packFile === undefined) return;
    this.file = undefined;
    // Behind the frames, because it is known last; readers look for it at the end.
    file.write(headerBytes(header));
    // Not flushed to the disk: it is read at once, and gone then.
    file.abandon();
    const stamp = stampOf(host.now());
    // Before the new one is among them.
    const last = isNew ? undefined : (await keptBuilds(list, host)).at(-1);
    const keepCopy = async (): Promise<void> => {
      const part = `list-${header.bytes}` as const;
      if (last?.files.list?.includes(`.${part}.`) !== true) await this.pack(list, stamp, part);
    };
    await Promise.all([this.pack(this.frames, stamp, "record"), keepCopy()]);
    await host.removeFile(this.frames);
    await removeOldBuilds(list, host);
  }

  async close(): Promise<void> {
    this.file?.abandon();
    this.file = undefined;
    await this.host.removeFile(this.frames).catch(() => {});
  }

  private async pack(from: string, stamp: string, part: BuildPart): Promise<void> {
    const packed = temporaryFor(`${this.stem}.${part === "record" ? part : "list"}`);
    for (const packing of ["zstd", "gzip"] as const) {
      const work = this.host.packFile!(from, packed, packing, "quick");
      if (work === undefined) continue;
      await work;
      await this.host.rename(packed, partName(this.stem, stamp, part, packing));
      return;
    }
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
