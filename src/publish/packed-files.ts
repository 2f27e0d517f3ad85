import { decodeUtf8, encodeUtf8 } from "../bytes/utf8.ts";
import { type Host, HostError, type Packing } from "../host/host.ts";
import { ifAvailable } from "../host/if-available.ts";
import { PACKED_ENDINGS } from "../host/packed-endings.ts";
import { temporaryFor, writeWhole } from "../host/write-whole.ts";
import { recordFolder } from "../record/record-folder.ts";
import type { OutputFile } from "./output-file.ts";
import { readStart } from "./read-start.ts";

/** The first bytes of compressed files. */
const MAGIC: Readonly<Record<string, readonly number[]>> = {
  gzip: [0x1f, 0x8b],
  zstd: [0x28, 0xb5, 0x2f, 0xfd],
};

function packedName(path: string, packing: Packing): string {
  return `${path}.${PACKED_ENDINGS[packing]}`;
}

/** The files, followed by their compressed copies. */
export function withPacked(
  files: readonly OutputFile[],
  packings: readonly Packing[],
): OutputFile[] {
  const packed = files.flatMap(({ name, path }) =>
    packings.map((one) => ({ name: packedName(name, one), path: packedName(path, one) })),
  );
  return [...files, ...packed];
}

/** The compressed files of an output. A note lists them, so that later runs can remove those that are no longer configured. */
export class PackedFiles {
  private readonly first: string;
  private readonly host: Host;

  /** `first` is the path of the output, which is its first part. */
  constructor(first: string, host: Host) {
    this.first = first;
    this.host = host;
  }

  /** `taken` are the files of all outputs, which are never removed. Rejects with a `HostError`. */
  async write(
    paths: readonly string[],
    packings: readonly Packing[],
    taken: ReadonlySet<string>,
  ): Promise<void> {
    const note = this.host.path.join(
      recordFolder(this.first, this.host),
      `${this.host.path.basename(this.first)}.packed`,
    );
    const before = await this.readNote(note);
    for (const path of paths) for (const packing of packings) await this.pack(path, packing);
    for (const packing of before.filter((one) => !packings.includes(one)))
      for (const path of paths) await this.removeOld(packedName(path, packing), packing, taken);
    if (before.join(" ") === packings.join(" ")) return;
    await writeWhole(note, this.host, (file) => file.write(encodeUtf8(packings.join(" "))));
  }

  private async readNote(note: string): Promise<Packing[]> {
    if (!(await this.host.exists(note))) return [];
    const words = decodeUtf8(await this.host.readFile(note)).split(" ");
    return words.filter((word): word is Packing => Object.hasOwn(MAGIC, word));
  }

  private async pack(path: string, packing: Packing): Promise<void> {
    const { host, first } = this;
    // The next run removes a file with this name if this run is killed.
    const temporary = temporaryFor(
      host.path.join(host.path.dirname(first), `.${host.path.basename(first)}`),
    );
    const work = host.packFile?.(path, temporary, packing);
    if (work === undefined)
      throw new HostError("ENOSYS", `this runtime does not support ${packing}`);
    try {
      await work;
      await host.rename(temporary, packedName(path, packing));
    } catch (error) {
      await host.removeFile(temporary).catch(() => {});
      throw error;
    }
  }

  /** Checks the contents first: another program may have created a different file with this name. */
  private async removeOld(
    path: string,
    packing: Packing,
    taken: ReadonlySet<string>,
  ): Promise<void> {
    const { host } = this;
    if (taken.has(path) || (await host.kindOf(path)) !== "file") return;
    const magic = MAGIC[packing]!;
    const start = await readStart(path, magic.length, host);
    if (start !== undefined && magic.every((byte, at) => start[at] === byte))
      await ifAvailable(() => host.removeFile(path));
  }
}
