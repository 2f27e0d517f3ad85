import { equalBytes } from "../bytes/search.ts";
import { CompilerError, errorOf } from "../diagnostics/diagnostic.ts";
import { countText } from "../diagnostics/number-text.ts";
import { printable } from "../diagnostics/printable.ts";
import type { Host } from "../host/host.ts";
import { type KeptBuild, headerOf, keptBuilds, listOf, momentOf } from "../record/kept-builds.ts";
import { isComplete } from "./state/builds-of.ts";
import { buildMissing, selected } from "./state/kept-build.ts";
import { type WholeBuild, wholeBuild } from "./state/kept-draft.ts";

/** A kept build with its parts, and the stamp of the build that was compiled: a build may repeat another. */
export interface ChosenBuild {
  readonly whole: WholeBuild;
  readonly of: string;
}

/** The build of a list to publish again. Without an operand, the last one with another list. Rejects with a `CompilerError`. */
export async function chosenBuild(
  operand: string | undefined,
  path: string,
  host: Host,
): Promise<ChosenBuild> {
  return await opened(await chosen(operand, path, host), path, host);
}

async function chosen(operand: string | undefined, path: string, host: Host): Promise<KeptBuild> {
  const builds = (await keptBuilds(path, host)).toReversed();
  const build =
    operand === undefined ? await lastOther(builds, path, host) : selected(operand, builds);
  if (build !== undefined) return build;
  throw operand === undefined ? noOther(path, builds) : buildMissing(operand, path, builds);
}

/**
 * The last build with another list than the published one. If that is itself the result of a rollback, the search goes on before
 * the build that it repeats, so that two rollbacks go back two lists.
 */
async function lastOther(
  builds: readonly KeptBuild[],
  path: string,
  host: Host,
): Promise<KeptBuild | undefined> {
  const [newest] = builds;
  if (newest === undefined) return undefined;
  const text = await listOf(newest, host);
  const isPublished =
    text !== undefined && (await host.exists(path)) && equalBytes(text, await host.readFile(path));
  // A list may have been published without a record, or removed.
  if (!isPublished) return builds.find(isComplete);
  const start = (await headerOf(newest, host))?.of ?? newest.stamp;
  const own = builds.find(({ stamp }) => stamp <= start)?.files.list;
  return builds.find(
    (build) =>
      build.stamp < start &&
      isComplete(build) &&
      build.files.list !== own &&
      build.files.list !== newest.files.list,
  );
}

function noOther(path: string, builds: readonly KeptBuild[]): CompilerError {
  const message = `No earlier build of ${printable(path)} with another list is stored`;
  const cause =
    builds.length === 0 ? "no build is stored" : `${countText(builds.length, "build")} stored`;
  return new CompilerError([
    errorOf("build-missing", message, { cause, hint: "rules-compiler log lists them" }),
  ]);
}

async function opened(build: KeptBuild, path: string, host: Host): Promise<ChosenBuild> {
  const whole = await wholeBuild(build, host);
  if (whole !== undefined) return { whole, of: whole.header.of ?? build.stamp };
  const cause = isComplete(build)
    ? "its files are damaged"
    : "an earlier version kept it, or a run was stopped meanwhile";
  const name = momentOf(build.stamp);
  throw new CompilerError([
    errorOf("build-missing", `Cannot publish the build of ${name} of ${printable(path)} again`, {
      cause,
      hint: "Select another one; rules-compiler log lists them",
    }),
  ]);
}
