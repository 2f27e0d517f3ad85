import type { ProjectOptions } from "../build/build-options.ts";
import type { BuildOutcome } from "../build/build-outcome.ts";
import { planCombined } from "../build/combined-plan.ts";
import { type ListPlan, planList } from "../build/list-plan.ts";
import type { ListConfig, Project } from "../build/project.ts";
import { type Host } from "../host/host.ts";
import { ifAvailable } from "../host/if-available.ts";
import { PATCH_FOLDER } from "../publish/patches.ts";
import type { PublishedFolder } from "./target.ts";
import type { PublishState } from "./publish-state.ts";

/** A published file. */
export interface FolderFile {
  /** Relative to the folder, with `/`. */
  readonly name: string;
  readonly path: string;
  readonly bytes: number;
  /** Whether it lists the digests of the others, or signs that. */
  readonly isManifest: boolean;
}

interface FoundFolder extends PublishedFolder {
  /** Files that are outside the folder. */
  readonly outside: readonly string[];
}

/** Which lists to look for, and where. */
export interface FolderRequest {
  readonly project: Project;
  /** All lists of the configuration, whatever was built. */
  readonly lists: readonly ListConfig[];
  readonly options: ProjectOptions;
}

/**
 * The published files of all lists. Lists that this run did not publish have the files of the last run that did, which the state
 * has.
 */
export async function folderFiles(
  outcome: BuildOutcome,
  { project, lists, options }: FolderRequest,
  state: PublishState,
  host: Host,
): Promise<FoundFolder> {
  const root = host.path.resolve(host.cwd, options.rulesDir);
  const nameOf = (path: string): string =>
    host.path.relative(root, host.path.resolve(host.cwd, path)).replaceAll(host.path.sep, "/");
  for (const { list, outputs } of outcome.lists) {
    // The file of `-o` is a copy of the list, which is in the folder, too.
    const own = outputs.filter(
      ({ format, file }) => format !== undefined || isInside(nameOf(file)),
    );
    if (own.length > 0)
      state.lists[list] = own.flatMap(({ file, files }) => files ?? [file]).map(nameOf);
  }
  const plans = lists.map((list) => planList(list, options, host));
  const known = plans.map(({ list }) => list.config.name);
  state.keepOnly(known);

  const manifests = new Set(plans.flatMap(({ manifest }) => manifest.map(nameOf)));
  const names = new Set([
    ...Object.values(state.lists).flat(),
    ...planCombined(project, options, host).flatMap((plan) =>
      plan.files.map(({ path }) => nameOf(path)),
    ),
    ...(await patchFiles(plans, root, host)),
    ...manifests,
  ]);
  const files: FolderFile[] = [];
  const outside: string[] = [];
  for (const name of [...names].toSorted()) {
    const path = host.path.resolve(root, name);
    const stamp = await ifAvailable(() => host.stampOf(path));
    if (stamp === undefined) continue;
    if (!isInside(name)) outside.push(path);
    else
      files.push({ name, path, bytes: await host.sizeOf(path), isManifest: manifests.has(name) });
  }
  const there = new Set(files.map(({ name }) => name));
  const has = (list: string): boolean => state.lists[list]?.some((one) => there.has(one)) ?? false;
  return {
    path: root,
    files,
    outside,
    lists: known.filter(has),
    missing: known.filter((list) => !has(list)),
  };
}

/** On Windows, the name of a file on another drive is its whole path. */
function isInside(name: string): boolean {
  return !/^(?:\.\.(?:\/|$)|[a-z]:|\/)/i.test(name);
}

async function patchFiles(plans: readonly ListPlan[], root: string, host: Host): Promise<string[]> {
  if (plans.every(({ list }) => list.config.patches === undefined)) return [];
  const names = await host.listFolder(host.path.join(root, PATCH_FOLDER));
  return names.filter((name) => name.endsWith(".patch")).map((name) => `${PATCH_FOLDER}/${name}`);
}
