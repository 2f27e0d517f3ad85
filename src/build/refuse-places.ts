import { CompilerError, type Diagnostic, errorOf } from "../diagnostics/diagnostic.ts";
import { printable } from "../diagnostics/printable.ts";
import { type Host, HostError } from "../host/host.ts";
import { isBelow } from "../sources/location.ts";
import { plannedFiles } from "../publish/output-plan.ts";
import type { OutputFile } from "../publish/output-file.ts";
import { PATCH_FOLDER } from "../publish/patches.ts";
import { recordFolder } from "../record/record-folder.ts";
import type { ProjectOptions } from "./build-options.ts";
import type { CombinedPlan } from "./combined-plan.ts";
import type { ListPlan } from "./list-plan.ts";
import type { Project } from "./project.ts";
import { isFolderName } from "./with-output-target.ts";

/** A file that a run would write. */
export interface WantedFile extends OutputFile {
  /** The name in the configuration; undefined if the program chose it. */
  readonly given?: string | undefined;
}

/** Every file that these lists and the files over several lists have, except parts, compressed files and patches beside them. */
export function wantedFiles(
  plans: readonly ListPlan[],
  combined: readonly CombinedPlan[],
): WantedFile[] {
  return [
    ...plans.flatMap(({ files, outputs, manifest, list }) => [
      ...files,
      ...outputs.flatMap((plan, index) =>
        plannedFiles(plan).map((file) => ({ ...file, given: list.config.outputs?.[index]?.file })),
      ),
      ...manifest.map((path) => ({ name: path, path, given: list.config.manifest?.file })),
    ]),
    ...combined.flatMap(({ files, config }) =>
      files.map((file) => ({ ...file, given: config.file })),
    ),
  ];
}

/**
 * A configuration, and what is stored, may come from elsewhere: without permission they write only into the rules directory, and
 * never dot files or through symbolic links. The file of `-o` is the user's own choice. Rejects with a `CompilerError`.
 */
export async function refusePlaces(
  files: readonly WantedFile[],
  options: Pick<ProjectOptions, "permit" | "output" | "rulesDir">,
  host: Host,
  locate?: Project["locate"],
): Promise<void> {
  const check = new PlaceCheck(options, host);
  // An output may have several files with the same problem.
  const found = new Map<string, Diagnostic>();
  for (const file of files) {
    const { given = file.path } = file;
    const problem = found.has(given) ? undefined : await check.problemOf(file);
    if (problem === undefined) continue;
    const at = locate?.(given);
    found.set(given, at === undefined ? problem : { ...problem, at });
  }
  if (found.size > 0) throw new CompilerError([...found.values()]);
}

class PlaceCheck {
  private readonly host: Host;
  private readonly root: string;
  /** The file that the user named. */
  private readonly typed: string | undefined;
  /** The folder that the user named. With `-r`, the list is copied into it; otherwise it is the rules directory. */
  private readonly folder: string | undefined;
  private readonly mayLeave: boolean;
  private readonly real = new Map<string, Promise<string | undefined>>();

  constructor(
    { permit, output, rulesDir }: Pick<ProjectOptions, "permit" | "output" | "rulesDir">,
    host: Host,
  ) {
    this.host = host;
    this.root = host.path.resolve(host.cwd, rulesDir);
    this.mayLeave = permit.includes("paths");
    const path = output === undefined ? undefined : host.path.resolve(host.cwd, output);
    const isFolder = output !== undefined && isFolderName(output, host);
    this.typed = isFolder ? undefined : path;
    this.folder = isFolder ? path : undefined;
  }

  async problemOf({ name, path }: WantedFile): Promise<Diagnostic | undefined> {
    const { host } = this;
    if (path === this.typed) return undefined;
    const isInside = isBelow(path, this.root, host);
    const parts = isInside
      ? host.path.relative(this.root, path).split(host.path.sep)
      : [host.path.basename(path)];
    if (parts.some((part) => part.startsWith(".")))
      return errorOf("path-unsafe", `${printable(name)} is a hidden file, or in a hidden folder`, {
        hint: "Choose a name that does not begin with a dot",
      });
    const isCopy = this.folder !== this.root && host.path.dirname(path) === this.folder;
    const mayBeThere = this.mayLeave || isCopy || (isInside && (await this.isReallyInside(path)));
    if (!mayBeThere)
      return errorOf("path-outside", `${printable(name)} is outside the rules directory`);
    const kind = await host.kindOf(path);
    if (kind === undefined || kind === "file") return undefined;
    const what = kind === "link" ? "a symbolic link" : "not a regular file";
    return errorOf("path-unsafe", `${printable(name)} is ${what}`, {
      hint: "Remove it; the file is then written there",
    });
  }

  /** Whether no folder on the way is a link to outside: neither that of the file nor those that are written beside it. */
  private async isReallyInside(path: string): Promise<boolean> {
    const { host, root } = this;
    const realRoot = await this.realFolder(root);
    if (realRoot === undefined) return false;
    // A folder that the user named may be anywhere. One in a checkout may be a link that the user has not seen.
    const isOwn = this.folder !== root && isBelow(root, host.cwd, host);
    const realCwd = isOwn ? await this.realFolder(host.cwd) : undefined;
    if (realCwd !== undefined && !isBelow(realRoot, realCwd, host)) return false;
    const folder = host.path.dirname(path);
    for (const one of [folder, recordFolder(path, host), host.path.join(folder, PATCH_FOLDER)]) {
      const real = await this.realFolder(one);
      if (real === undefined || !(real === realRoot || isBelow(real, realRoot, host))) return false;
    }
    return true;
  }

  /** The folder with every link resolved, although its end may not exist yet; undefined for a link to nowhere. */
  private realFolder(folder: string): Promise<string | undefined> {
    let known = this.real.get(folder);
    if (known === undefined) this.real.set(folder, (known = this.resolved(folder)));
    return known;
  }

  private async resolved(folder: string): Promise<string | undefined> {
    const { host } = this;
    try {
      return await host.realPath(folder);
    } catch (error) {
      if (!(error instanceof HostError)) throw error;
      if ((await host.kindOf(folder)) === "link") return undefined;
      const parent = host.path.dirname(folder);
      if (parent === folder) return folder;
      const real = await this.realFolder(parent);
      return real && host.path.join(real, host.path.basename(folder));
    }
  }
}
