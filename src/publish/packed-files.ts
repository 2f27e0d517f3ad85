import { decodeUtf8, encodeUtf8 } from "../bytes/utf8.ts";
import { type Host, HostError, type Packing } from "../host/host.ts";
import { PACKED_ENDINGS } from "../host/packed-endings.ts";
import { temporaryFor, writeWhole } from "../host/write-whole.ts";
import { recordFolder } from "../record/record-folder.ts";

/** How packed files begin. */
const MAGIC: Readonly<Record<string, readonly number[]>> = {
  gzip: [0x1f, 0x8b],
  zstd: [0x28, 0xb5, 0x2f, 0xfd],
};

export function packedName(path: string, packing: Packing): string {
  return `${path}.${PACKED_ENDINGS[packing]}`;
}

/** Packed forms of an output's files. Which ones there are is noted, so that those that are no longer wanted can go. */
export class PackedFiles {
  private readonly first: string;
  private readonly host: Host;

  /** `first` is the output's path, also where it has several parts. */
  constructor(first: string, host: Host) {
    this.first = first;
    this.host = host;
  }

  /** `taken` are the files of all outputs, which stay whatever a note says. Rejects with a `HostError`. */
  async write(
    paths: readonly string[],
    packings: readonly Packing[],
    taken: ReadonlySet<string>,
  ): Promise<void> {
    const note = this.host.path.join(
      recordFolder(this.first, this.host),
      `${this.host.path.basename(this.first)}.packed`,
    );
    const before = await this.noted(note);
    for (const path of paths) for (const packing of packings) await this.pack(path, packing);
    for (const packing of before.filter((one) => !packings.includes(one)))
      for (const path of paths) await this.removeOld(packedName(path, packing), packing, taken);
    if (before.join(" ") === packings.join(" ")) return;
    await writeWhole(note, this.host, (file) => file.write(encodeUtf8(packings.join(" "))));
  }

  private async noted(note: string): Promise<Packing[]> {
    if (!(await this.host.exists(note))) return [];
    const words = decodeUtf8(await this.host.readFile(note)).split(" ");
    return words.filter((word): word is Packing => Object.hasOwn(MAGIC, word));
  }

  private async pack(path: string, packing: Packing): Promise<void> {
    const { host, first } = this;
    // By such a name, the next run removes it if this one is killed.
    const temporary = temporaryFor(
      host.path.join(host.path.dirname(first), `.${host.path.basename(first)}`),
    );
    const work = host.packFile?.(path, temporary, packing);
    if (work === undefined) throw new HostError("ENOSYS", `this runtime cannot pack ${packing}`);
    try {
      await work;
      await host.rename(temporary, packedName(path, packing));
    } catch (error) {
      await host.removeFile(temporary).catch(() => {});
      throw error;
    }
  }

  /** Only what is packed that way: somebody else may have put another file there since. */
  private async removeOld(
    path: string,
    packing: Packing,
    taken: ReadonlySet<string>,
  ): Promise<void> {
    const { host } = this;
    if (taken.has(path) || (await host.kindOf(path)) !== "file") return;
    try {
      const file = await host.openFile(path);
      const start = new Uint8Array(MAGIC[packing]!.length);
      const count = await file.read(start);
      await file.close();
      if (count === start.length && MAGIC[packing]!.every((byte, at) => start[at] === byte))
        await host.removeFile(path);
    } catch (error) {
      if (!(error instanceof HostError)) throw error;
    }
  }
}
