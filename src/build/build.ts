import type { BuildContext } from "./build-context.ts";
import { type BuildOutcome, type ListOutcome, statusOf } from "./build-outcome.ts";
import { BuildCache } from "./state/build-cache.ts";

/**
 * Builds all lists that the options ask for and publishes them. Rejects with a `CompilerError` when the configuration is
 * invalid; everything that happens to a list is in its outcome.
 */
export async function build(context: BuildContext): Promise<BuildOutcome> {
  const { options, host, signal, emit } = context;
  const started = host.now().getTime();
  const outcomes: ListOutcome[] = [];
  const secondsSoFar = (): number => (host.now().getTime() - started) / 1000;
  // Without a filter: whether there is a list of that name is for the configuration to decide.
  const cache =
    options.filter.length > 0 ? undefined : await BuildCache.open(undefined, options, host);
  const cached = await cache?.get();
  // Nothing is from the web, and all files are as they were.
  if (cached?.web === "") {
    const { cachedOutcome } = await import("./cached-outcome.ts");
    const outcome = cachedOutcome(cached, cached.report.name, secondsSoFar());
    emit({ kind: "list-done", outcome, lists: 1 });
    return { status: "unchanged", lists: [outcome], seconds: secondsSoFar() };
  }
  // The compiler is loaded only when there is something to compile.
  emit({ kind: "started" });
  const { openProject } = await import("./project.ts");
  const { project, lists } = await openProject(options, host);
  for (const diagnostic of project.warnings) emit({ kind: "diagnostic", diagnostic });
  const { buildLists } = await import("./build-lists.ts");
  try {
    await buildLists(lists, context, outcomes);
  } catch (error) {
    if (!signal.aborted) throw error;
    return { status: "interrupted", lists: outcomes, seconds: secondsSoFar() };
  } finally {
    if (options.cacheDir !== undefined && !signal.aborted) {
      const { collectCopies } = await import("../sources/collect-copies.ts");
      await collectCopies(options.cacheDir, host);
    }
  }
  return { status: statusOf(outcomes), lists: outcomes, seconds: secondsSoFar() };
}
