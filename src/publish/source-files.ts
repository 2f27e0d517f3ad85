import { decodeUtf8, encodeUtf8 } from "../bytes/utf8.ts";
import type { Host } from "../host/host.ts";
import { writeWhole } from "../host/write-whole.ts";
import { recordFolder } from "../record/record-folder.ts";
import type { WriteOutcome } from "./list-file.ts";
import type { SourceFile } from "./output-plan.ts";
import { type PartHeader, type PartLayout, SplitFile } from "./split-file.ts";

/** The header of a file with this many entries. */
export type HeaderOf = (count: number, source: string) => PartHeader;

/**
 * One file for each source. The file of a source that has left the configuration stays as an empty list, so that subscribers unload
 * its rules; without the file, most would keep them. It is left alone once the operator has removed it.
 */
export class SourceFiles {
  /** `path` with `{source}`; notes are kept under this name. */
  readonly path: string;
  readonly isTorn: boolean = false;
  private readonly sources: readonly SourceFile[];
  private readonly layout: PartLayout;
  private readonly host: Host;
  private readonly files: SplitFile[] = [];
  /** Files of sources that have left the configuration. */
  private retired: readonly string[] = [];

  constructor(path: string, sources: readonly SourceFile[], layout: PartLayout, host: Host) {
    this.path = path;
    this.sources = sources;
    this.layout = layout;
    this.host = host;
  }

  /** `taken` are the paths of other outputs. */
  async open(taken: ReadonlySet<string>): Promise<void> {
    this.retired = await this.findRetired(taken);
    for (const path of [...this.sources.map((one) => one.path), ...this.retired]) {
      const file = new SplitFile(path, this.layout, this.host);
      this.files.push(file);
      await file.open();
    }
  }

  start(headerOf: HeaderOf, entries: ReadonlyMap<number, number>): void {
    for (const [index, file] of this.files.entries()) {
      const source = this.sources[index]?.source ?? "no longer in use";
      file.start(headerOf(entries.get(index) ?? 0, source));
    }
  }

  write(bytes: Uint8Array, names: number, source: number): void {
    this.files[source]!.write(bytes, names);
  }

  get bytes(): number {
    return this.files.reduce((sum, { bytes }) => sum + bytes, 0);
  }

  get paths(): string[] {
    return this.files.flatMap(({ paths }) => paths);
  }

  get emptied(): readonly string[] {
    return this.retired;
  }

  async publish(): Promise<WriteOutcome> {
    let outcome: WriteOutcome = "unchanged";
    for (const file of this.files) if ((await file.publish()) === "written") outcome = "written";
    const names = this.paths.map((path) => this.host.path.basename(path)).join("\n");
    if (names !== (await this.readNote()))
      await writeWhole(this.note, this.host, (file) => file.write(encodeUtf8(names)));
    return outcome;
  }

  async close(): Promise<void> {
    for (const file of this.files.toReversed()) await file.close();
  }

  private get note(): string {
    const { path } = this.host;
    return path.join(recordFolder(this.path, this.host), `${path.basename(this.path)}.sources`);
  }

  private async readNote(): Promise<string> {
    return (await this.host.exists(this.note))
      ? decodeUtf8(await this.host.readFile(this.note))
      : "";
  }

  /** Only files that this output has written and that still exist. */
  private async findRetired(taken: ReadonlySet<string>): Promise<string[]> {
    const { host } = this;
    const [before = "", after = ""] = host.path.basename(this.path).split("{source}");
    const own = new Set(this.sources.map((one) => one.path));
    const found: string[] = [];
    for (const name of (await this.readNote()).split("\n")) {
      const isNamed = name.startsWith(before) && name.endsWith(after);
      if (name === "" || !isNamed || host.path.basename(name) !== name) continue;
      const path = host.path.join(host.path.dirname(this.path), name);
      if (own.has(path) || taken.has(path) || (await host.kindOf(path)) !== "file") continue;
      found.push(path);
    }
    return found;
  }
}
