import { decodeUtf8, encodeUtf8 } from "../bytes/utf8.ts";
import { type Host, HostError, type Packing } from "../host/host.ts";
import { ifAvailable } from "../host/if-available.ts";
import { PACKED_ENDINGS } from "../host/packed-endings.ts";
import { newToken, temporaryOf, writeWhole } from "../host/write-whole.ts";
import { recordFolder } from "../record/record-folder.ts";
import type { FileSet } from "./file-set.ts";
import { isSameButDate } from "./list-file.ts";
import type { OutputFile } from "./output-file.ts";
import { readStart } from "./read-start.ts";

/** The first bytes of compressed files. */
const MAGIC: Readonly<Record<string, readonly number[]>> = {
  gzip: [0x1f, 0x8b],
  zstd: [0x28, 0xb5, 0x2f, 0xfd],
};

const NO_HEADER: Uint8Array = new Uint8Array(0);

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
  private readonly note: string;
  private readonly host: Host;

  /** `first` is the path of the output, which is its first part. */
  constructor(first: string, host: Host) {
    this.note = host.path.join(recordFolder(first, host), `${host.path.basename(first)}.packed`);
    this.host = host;
  }

  /** Hands the files to a set. `taken` are the files of all outputs, which are never removed. Rejects with a `HostError`. */
  async stage(
    paths: readonly string[],
    packings: readonly Packing[],
    taken: ReadonlySet<string>,
    set: FileSet,
  ): Promise<void> {
    const before = await this.readNote();
    for (const path of paths) for (const packing of packings) await this.pack(path, packing, set);
    for (const packing of before.filter((one) => !packings.includes(one)))
      for (const path of paths)
        await this.removeOld(packedName(path, packing), packing, taken, set);
    // If this run is killed, the next one looks for all that there may be.
    await this.writeNote(before, [...new Set([...before, ...packings])]);
  }

  /** Notes which files there are. Call it when the set is published. */
  async settle(packings: readonly Packing[]): Promise<void> {
    await this.writeNote(await this.readNote(), packings);
  }

  private async readNote(): Promise<Packing[]> {
    const bytes = await ifAvailable(() => this.host.readFile(this.note));
    const words = bytes === undefined ? [] : decodeUtf8(bytes).split(" ");
    return words.filter((word): word is Packing => Object.hasOwn(MAGIC, word));
  }

  private async writeNote(before: readonly Packing[], now: readonly Packing[]): Promise<void> {
    if (before.join(" ") === now.join(" ")) return;
    await writeWhole(this.note, this.host, (file) => file.write(encodeUtf8(now.join(" "))));
  }

  private async pack(path: string, packing: Packing, set: FileSet): Promise<void> {
    const { host } = this;
    const packed = packedName(path, packing);
    const token = newToken();
    const temporary = temporaryOf(packed, token, host);
    const work = host.packFile?.(set.placeOf(path), temporary, packing);
    if (work === undefined)
      throw new HostError("ENOSYS", `this runtime does not support ${packing}`);
    try {
      await work;
      if (!(await isSameButDate([packed, temporary], NO_HEADER, host)))
        return set.stage(packed, token);
    } catch (error) {
      await host.removeFile(temporary).catch(() => {});
      throw error;
    }
    await host.removeFile(temporary).catch(() => {});
  }

  /** Checks the contents first: another program may have created a different file with this name. */
  private async removeOld(
    path: string,
    packing: Packing,
    taken: ReadonlySet<string>,
    set: FileSet,
  ): Promise<void> {
    const { host } = this;
    if (taken.has(path) || (await host.kindOf(path)) !== "file") return;
    const magic = MAGIC[packing]!;
    const start = await readStart(path, magic.length, host);
    if (start !== undefined && magic.every((byte, at) => start[at] === byte))
      await set.remove(path);
  }
}
