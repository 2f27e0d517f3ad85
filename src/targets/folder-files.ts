import type { ProjectOptions } from "../build/build-options.ts";
import type { BuildOutcome } from "../build/build-outcome.ts";
import { planCombined } from "../build/combined-plan.ts";
import { type ListPlan, planList } from "../build/list-plan.ts";
import type { ListConfig, Project } from "../build/project.ts";
import { type Host } from "../host/host.ts";
import { ifAvailable } from "../host/if-available.ts";
import { releasePaths } from "../publish/manifest.ts";
import { PATCH_FOLDER } from "../publish/patches.ts";
import { PlannedNames } from "./planned-names.ts";
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
 * has. Without it, they have those that the configuration gives them.
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
  const pathOf = (name: string): string => host.path.resolve(root, name);
  const isThere = async (name: string): Promise<boolean> =>
    (await ifAvailable(() => host.stampOf(pathOf(name)))) !== undefined;
  // A copy elsewhere does not change what is in the folder.
  const here = { ...options, output: undefined };
  const plans = lists.map((list) => planList(list, here, host));
  const known = plans.map(({ list }) => list.config.name);
  state.keepOnly(known);

  const own: string[] = [];
  const missing: string[] = [];
  let isWhole = true;
  for (const plan of plans) {
    const list = plan.list.config.name;
    const planned = new PlannedNames(plan, nameOf);
    const done = outputNames(outcome, list, nameOf);
    const before = state.lists[list] ?? (await planned.all(host));
    const kept = await filtered(before, async (name) => {
      const isOurs = done.length === 0 || planned.isLeftAlone(name, done);
      return isOurs && (await isThere(name));
    });
    // What is only assumed is not recorded.
    if (done.length > 0) state.lists[list] = [...new Set([...done, ...kept])];
    const names = state.lists[list] ?? kept;
    own.push(...names);
    const needed = state.lists[list]?.filter((name) => isInside(name) && planned.has(name));
    const lost = await filtered(
      needed ?? plan.files.map(({ path }) => nameOf(path)),
      async (name) => !(await isThere(name)),
    );
    if (names.length === 0 || lost.length > 0) missing.push(list);
    if (state.lists[list] === undefined) isWhole = false;
  }

  const combined = planCombined(project, here, host)
    .flatMap((plan) => plan.files)
    .map(({ path }) => nameOf(path));
  const manifests = new Set(
    plans.flatMap(({ list }) => releasePaths(list.config, options.rulesDir, host).map(nameOf)),
  );
  const patches = await patchFiles(plans, root, host);
  const names = new Set([...own, ...combined, ...patches, ...manifests]);
  const files: FolderFile[] = [];
  const outside: string[] = [];
  for (const name of await filtered([...names].toSorted(), isThere)) {
    const path = pathOf(name);
    if (!isInside(name)) outside.push(path);
    else
      files.push({ name, path, bytes: await host.sizeOf(path), isManifest: manifests.has(name) });
  }
  const sent = new Set(files.map(({ name }) => name));
  return {
    path: root,
    files,
    outside,
    lists: known.filter((list) => !missing.includes(list)),
    missing,
    isWhole:
      isWhole &&
      missing.length === 0 &&
      combined.every((name) => sent.has(name) || !isInside(name)),
  };
}

/** The files of a list in the outcome of a run; empty if the run did not publish it. */
function outputNames(
  { lists }: BuildOutcome,
  name: string,
  nameOf: (path: string) => string,
): string[] {
  const outputs = lists.find(({ list }) => list === name)?.outputs ?? [];
  // The file of `-o` is a copy of the list, which is in the folder, too.
  return outputs
    .filter(({ format, file }) => format !== undefined || isInside(nameOf(file)))
    .flatMap(({ file, files }) => files ?? [file])
    .map(nameOf);
}

async function filtered(
  names: readonly string[],
  isWanted: (name: string) => Promise<boolean>,
): Promise<string[]> {
  const wanted: string[] = [];
  for (const name of names) if (await isWanted(name)) wanted.push(name);
  return wanted;
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
