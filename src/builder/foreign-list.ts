import { type Config, listsOf } from "../config/lists.ts";
import { loadConfigFile } from "../config/validate.ts";
import { CompilerError, type Diagnostic, errorOf, warningOf } from "../diagnostics/render.ts";
import { printable, shellWord } from "../diagnostics/text.ts";
import { contextWith, slugOf } from "../engine/plan.ts";
import { NO_PLUGINS } from "../engine/plugins.ts";
import { StateFile, isText, mapOf, objectOf, oneOf } from "../host/files.ts";
import { type Host, HostError, ReadOnce } from "../host/host.ts";
import { isAddress } from "../sources/limits.ts";
import type { BuildOptions, ProjectOptions } from "./plan/build-options.ts";
import type { ListPlan } from "./plan/list-plan.ts";
import { configPath } from "./plan/project.ts";
import { readLastPublish } from "./state/list-state.ts";

/**
 * A list must not replace that of another configuration. Rejects with a `CompilerError` if the configuration that published the
 * file still exists, still has a list of that name, and the two lists have different sources. A configuration that was renamed,
 * moved, copied or mounted elsewhere is the same one. A file that the user named with `-o` is the user's own choice.
 */
export async function refuseForeignList(
  { list, files }: ListPlan,
  options: ProjectOptions,
  host: Host,
): Promise<void> {
  const { config, project } = list;
  const own = configPath(project, host);
  const typed = options.output === undefined ? "" : host.path.resolve(host.cwd, options.output);
  for (const { name, path } of files) {
    if (path === typed) continue;
    const last = await readLastPublish(path, host);
    if (last?.config === undefined) continue;
    const other = host.path.resolve(host.path.dirname(path), last.config);
    if (other === own || (await isSameFile(other, own, host))) continue;
    const theirs = (await listsAt(other, host)).find(
      (one) => slugOf(one.name) === slugOf(config.name),
    );
    const them = theirs && { ...theirs, folder: host.path.dirname(other) };
    if (them === undefined || (await isSameList({ ...config, folder: project.folder }, them, host)))
      continue;
    const shown = printable(shownPath(other, host));
    const mine = own === undefined ? "this run" : printable(shownPath(own, host));
    throw new CompilerError([
      errorOf("same-file", `${printable(name)} is the list of ${shown}; ${mine} would replace it`, {
        hint: `Give one of the lists another name, or use -o or RULES_DIR to write it elsewhere. If ${shown} is no longer used, delete it`,
      }),
    ]);
  }
}

/** Where the lists of a configuration were published last, by their file names. */
interface LastPlaces {
  readonly version: 1;
  readonly lists: Readonly<Record<string, string>>;
}

const isLastPlaces = objectOf<LastPlaces>({ version: oneOf([1]), lists: mapOf(isText) });

/** In the cache, because every folder has its own state. It is shown to the user, and never used. */
async function placesFile(
  plans: readonly ListPlan[],
  { cacheDir }: Pick<BuildOptions, "cacheDir">,
  host: Host,
): Promise<StateFile<LastPlaces> | undefined> {
  const path = plans[0] && configPath(plans[0].list.project, host);
  if (path === undefined || cacheDir === undefined) return undefined;
  const { createHash } = await import("node:crypto");
  const key = createHash("sha256").update(path).digest("hex").slice(0, 16);
  const file = host.path.resolve(host.cwd, cacheDir, `place-${key}.json`);
  return new StateFile(file, isLastPlaces, host);
}

/** A warning if the user did not choose the place of the lists, and they were last published elsewhere and still are there. */
export async function otherPlace(
  plans: readonly ListPlan[],
  options: BuildOptions,
  host: Host,
): Promise<Diagnostic[]> {
  if (options.isUsualPlace !== true) return [];
  const places = (await (await placesFile(plans, options, host))?.read())?.lists ?? {};
  for (const { list, files } of plans) {
    const path = files[0]?.path;
    const name = slugOf(list.config.name);
    const last = Object.hasOwn(places, name) ? places[name] : undefined;
    if (path === undefined || last === undefined || last === path) continue;
    if (!host.path.isAbsolute(last) || (await host.kindOf(last)) !== "file") continue;
    const message = `${printable(list.config.name)} was last published as ${printable(last)}; this run writes ${printable(path)}`;
    const hint = `If that is wrong, run it again with RULES_DIR=${shellWord(printable(host.path.dirname(last)))}, or in the same folder as before`;
    return [{ ...warningOf("other-place", message, { hint }), news: true }];
  }
  return [];
}

/** Remembers where lists are. If that fails, there is no warning later. */
export async function rememberPlaces(
  plans: readonly ListPlan[],
  options: BuildOptions,
  host: Host,
): Promise<void> {
  const file = await placesFile(plans, options, host);
  const before = (await file?.read())?.lists ?? {};
  const lists = { ...before };
  for (const { list, files } of plans)
    if (files[0] !== undefined) lists[slugOf(list.config.name)] = files[0].path;
  if (JSON.stringify(lists) !== JSON.stringify(before))
    await file?.tryReplace({ version: 1, lists });
}

type Placed = Pick<Config, "sources"> & { readonly folder: string };

/**
 * In one folder, two configurations are two lists unless they have the same sources. A copy elsewhere has the same sources, too; one that was
 * edited still shares half of them, and a path counts only if it leads to the same file.
 */
async function isSameList(mine: Placed, theirs: Placed, host: Host): Promise<boolean> {
  const isBeside = host.path.resolve(host.cwd, mine.folder) === theirs.folder;
  const [own, others] = [mine, theirs].map(
    ({ sources }) => new Set(sources.map(({ source }) => source)),
  );
  const most = Math.max(own!.size, others!.size);
  if (sharedBy(own!, others!) === most) return true;
  const shared = sharedBy(await placesOf(own!, mine, host), await placesOf(others!, theirs, host));
  return isBeside ? shared === most : shared * 2 >= most;
}

function sharedBy(one: ReadonlySet<string>, other: ReadonlySet<string>): number {
  return [...one].filter((entry) => other.has(entry)).length;
}

/** Where sources are: URLs, and paths as a build looks them up. */
async function placesOf(
  sources: ReadonlySet<string>,
  { folder }: Placed,
  host: Host,
): Promise<Set<string>> {
  const places = [...sources].map(async (source) => {
    if (isAddress(source)) return source;
    const path = host.path.resolve(host.cwd, folder, source);
    return (await host.exists(path)) ? path : host.path.resolve(host.cwd, source);
  });
  return new Set(await Promise.all(places));
}

/** The lists of a configuration; none if it is gone or invalid. */
async function listsAt(path: string, host: Host): Promise<readonly Config[]> {
  try {
    const { config } = await loadConfigFile(
      new ReadOnce(path, host),
      host,
      contextWith(NO_PLUGINS),
    );
    return listsOf(config).map((list) => list.config);
  } catch (error) {
    if (error instanceof CompilerError) return [];
    throw error;
  }
}

async function isSameFile(one: string, other: string | undefined, host: Host): Promise<boolean> {
  if (other === undefined) return false;
  try {
    return (await host.realPath(one)) === (await host.realPath(other));
  } catch (error) {
    if (error instanceof HostError) return false;
    throw error;
  }
}

/** Relative to the working directory, if that is shorter. */
function shownPath(path: string, { cwd, path: paths }: Host): string {
  const relative = paths.relative(cwd, path);
  return relative.length < path.length ? relative : path;
}
