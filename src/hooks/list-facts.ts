import { type ListOutcome, isDegraded } from "../build/build-outcome.ts";
import { listFiles } from "../build/list-files.ts";
import type { ProjectOptions } from "../build/build-options.ts";
import type { WrittenOutput } from "../build/list-outputs.ts";
import { digestAt } from "../build/state/saved-plan.ts";
import { type ResolverState, isUnproved } from "../resolvers/last-proofs.ts";
import { Exit } from "../diagnostics/exit.ts";
import { changedRules } from "../explain/changed-rules.ts";
import type { Host } from "../host/host.ts";
import { PATCH_FOLDER, patchesOf } from "../publish/patches.ts";
import { keptBuilds, listOf } from "../record/kept-builds.ts";
import type { ListHealth, Told } from "./due-events.ts";
import type { HookFile, ListFacts } from "./hook-message.ts";
import { shortDigest } from "./hook-state.ts";

/** A list after a build, as hooks see it. */
export interface FinishedList {
  readonly outcome: ListOutcome;
  /** The list file; undefined if the list goes to standard output. */
  readonly path: string | undefined;
  /** Its files and those over several lists, as absolute paths; patches are a folder. */
  readonly files: readonly string[];
  readonly now: Told;
  /** The resolvers that do not answer from it. */
  readonly unproved: readonly ResolverState[];
}

/** What a run found beside its lists. */
interface RunFacts {
  readonly resolvers: readonly ResolverState[];
  /** Files over several lists. */
  readonly combined: readonly WrittenOutput[];
}

/** Comparing larger lists would take too much memory. */
const MOST_COMPARED = 64 * 1024 * 1024;

/** Undefined if another run builds the list: that run has its own hooks. */
export async function finishedList(
  outcome: ListOutcome,
  { resolvers, combined }: RunFacts,
  options: ProjectOptions,
  host: Host,
): Promise<FinishedList | undefined> {
  if (outcome.exit === Exit.Locked) return undefined;
  const [list] = listFiles(outcome.list, options, host);
  const pathsOf = (outputs: readonly WrittenOutput[]): string[] =>
    outputs.flatMap(({ file, files }) => files ?? [file]).map(absolute);
  const absolute = (name: string): string => host.path.resolve(host.cwd, name);
  const written = pathsOf(outcome.outputs);
  const files = new Set([...written, ...pathsOf(combined), ...outcome.files.map(absolute)]);
  const stamps: string[] = [];
  // A manifest is new in every run.
  for (const file of written) stamps.push(`${file} ${(await host.stampOf(file))?.text}`);
  const health = healthOf(outcome);
  const isPublished = health === "good" || health === "degraded";
  const isNew = list === undefined && outcome.status === "published";
  const known = stamps.length > 0 || isNew;
  const unproved = resolvers.filter((one) => one.list === outcome.list && isUnproved(one));
  const now = {
    health,
    ...(unproved.length > 0 && { isUnproved: true }),
    ...(isPublished && known && { files: await shortDigest(stamps.join("\n")) }),
  };
  return { outcome, path: list?.path, files: [...files], now, unproved };
}

function healthOf({ status, report }: ListOutcome): ListHealth {
  if (status === "refused" || status === "failed") return status;
  return report?.degraded === true ? "degraded" : "good";
}

/** What a message contains about a list. It reads the list, so it is made only for a hook that runs. */
export async function factsOf(list: FinishedList, host: Host): Promise<ListFacts> {
  const { outcome, path, unproved } = list;
  const { report, diagnostics, status } = outcome;
  const isPublished = status === "published" || status === "unchanged";
  const build = path === undefined ? undefined : await digestAt(path, host);
  const sources = report?.sources.filter(({ state }) => isDegraded(state)) ?? [];
  return {
    list: outcome.list,
    at: host.now().toISOString(),
    ...(path !== undefined && { output: path }),
    files: await publishedFiles(list, host),
    ...(build && { build: build.slice(0, 16) }),
    ...(isPublished && report && { rules: report.rules }),
    ...(isPublished && path !== undefined && (await changeOf(path, host))),
    degraded: sources.map(({ label }) => label),
    unproved: unproved.map(({ resolver, outcome: state }) => ({ resolver, outcome: state! })),
    news: diagnostics
      .filter(({ news, severity }) => news === true && severity !== "error")
      .map(({ code, message }) => ({ code, message })),
    problems: isPublished ? [] : diagnostics.map(({ code, message }) => ({ code, message })),
  };
}

/** The files that exist, with those of the folder of patches. */
async function publishedFiles(list: FinishedList, host: Host): Promise<HookFile[]> {
  const files: HookFile[] = [];
  for (const path of list.files) {
    const isFolder = host.path.basename(path) === PATCH_FOLDER;
    const names = isFolder ? await patchesOf(list.outcome.list, path, host) : [""];
    for (const name of names) {
      const one = host.path.join(path, name);
      const sha256 = await digestAt(one, host);
      if (sha256 !== null) files.push({ path: one, bytes: await host.sizeOf(one), sha256 });
    }
  }
  return files;
}

/** How many rules the last two builds differ by; empty if they are not both kept. */
async function changeOf(
  path: string,
  host: Host,
): Promise<{ readonly added?: number; readonly removed?: number }> {
  const [last, before] = (await keptBuilds(path, host)).toReversed();
  if (last === undefined || before === undefined) return {};
  if ((await host.sizeOf(path)) > MOST_COMPARED) return {};
  const old = await listOf(before, host);
  const fresh = await listOf(last, host);
  if (old === undefined || fresh === undefined) return {};
  const { added, removed } = changedRules(old, fresh);
  return { added: added.length, removed: removed.length };
}
