import type { Config } from "../config/config.ts";
import type { Host } from "../host/host.ts";
import { PACKED_ENDING } from "../host/packed-endings.ts";
import { removeLeftoversIn } from "../host/write-whole.ts";
import { recordFolder } from "../record/record-folder.ts";
import type { OutputFile } from "./output-file.ts";
import { type OutputPlan, plannedFiles } from "./output-plan.ts";
import { isPatchOf, patchFolder } from "./patches.ts";
import { isPartOf } from "./split-file.ts";

/** What a configuration says about the files of a list. */
export interface ReleaseNames {
  readonly config: Pick<Config, "name" | "patches">;
  readonly files: readonly OutputFile[];
  readonly outputs: readonly OutputPlan[];
  /** Paths of the manifest and its signature. */
  readonly manifest: readonly string[];
}

/** What is noted about a file in the folder of records. */
const NOTE = /\.(?:journal|json|packed|parts)$/;

/** The files that a configuration names for one list: no other file is written, removed or completed. */
export class NamedFiles {
  private readonly release: ReleaseNames;
  private readonly host: Host;
  private readonly paths: ReadonlySet<string>;
  /** The outputs that have parts now, and all outputs. */
  private readonly split: readonly string[];
  private readonly plain: readonly string[];

  constructor(release: ReleaseNames, host: Host) {
    const { files, outputs, manifest } = release;
    this.release = release;
    this.host = host;
    this.plain = firstFiles(outputs);
    this.split = firstFiles(
      outputs.filter(({ limits }) => Math.min(limits.names, limits.bytes) < Infinity),
    );
    const planned = outputs.flatMap(plannedFiles);
    this.paths = new Set([...[...files, ...planned].map(({ path }) => path), ...manifest]);
  }

  has(path: string): boolean {
    return (
      this.paths.has(path) ||
      this.isPatch(path) ||
      this.split.some((first) => isPartOf(first, path, this.host))
    );
  }

  /** Removes the temporary files that killed runs left. The caller holds the lock of the list, and has finished its journal. */
  async removeLeftovers(): Promise<void> {
    const { host, paths, release } = this;
    const folders = new Set([...paths].map((path) => host.path.dirname(path)));
    for (const folder of folders) {
      const isNote = (name: string): boolean =>
        paths.has(host.path.join(folder, name.replace(NOTE, "")));
      await removeLeftoversIn(recordFolder(host.path.join(folder, "x"), host), isNote, host);
    }
    const [list] = release.files;
    if (list !== undefined && release.config.patches !== undefined)
      folders.add(patchFolder(list.path, host));
    for (const folder of folders)
      await removeLeftoversIn(
        folder,
        (name) => name.startsWith(".") && this.isKin(host.path.join(folder, name.slice(1))),
        host,
      );
  }

  /** The same as `has`, also for parts and compressed copies that the configuration had before. */
  private isKin(path: string): boolean {
    return (
      this.has(path) ||
      this.paths.has(path.replace(PACKED_ENDING, "")) ||
      this.plain.some((first) => isPartOf(first, path, this.host))
    );
  }

  private isPatch(path: string): boolean {
    const { config, files } = this.release;
    const [list] = files;
    if (list === undefined || config.patches === undefined) return false;
    const { path: paths } = this.host;
    return (
      paths.dirname(path) === patchFolder(list.path, this.host) &&
      isPatchOf(paths.basename(path), config.name)
    );
  }
}

/** The files of outputs that may have further parts. */
function firstFiles(outputs: readonly OutputPlan[]): string[] {
  return outputs.flatMap(({ path, allowPath }) => [path, allowPath]);
}
