import { encodeUtf8 } from "../bytes/utf8.ts";
import { type Host, HostError, type NewFile } from "../host/host.ts";
import { removeLeftoversIn, temporaryFor } from "../host/write-whole.ts";
import {
  type BuildPart,
  type KeepLimits,
  keptBuilds,
  numberOf,
  partName,
  removeOldBuilds,
  stampOf,
} from "./kept-builds.ts";
import { recordFolder } from "./record-folder.ts";
import { LENGTH_BYTES, type RecordHeader } from "./record-format.ts";

/** A published list, to be kept. */
export interface KeptList {
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
      name.startsWith(start) && PARTS.has(name.slice(start.length));
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
