import type { BuildContext } from "./build-context.ts";
import { type BuildOutcome, type ListOutcome, statusOf } from "./build-outcome.ts";
import type { Project } from "./project.ts";
import { BuildCache } from "./state/build-cache.ts";

/**
 * Builds and publishes all lists that the options select. Rejects with a `CompilerError` if the configuration is invalid. The
 * outcome of each list contains its problems.
 */
export async function build(context: BuildContext): Promise<BuildOutcome> {
  const { options, host, signal, emit } = context;
  const started = host.now().getTime();
  const outcomes: ListOutcome[] = [];
  const secondsSoFar = (): number => (host.now().getTime() - started) / 1000;
  // Only without a filter: the configuration must be read to find out whether a list with that name exists.
  const cache =
    options.filter.length > 0 ? undefined : await BuildCache.open(undefined, options, host);
  const cached = await cache?.get();
  // Nothing comes from the web, and no file has changed.
  if (cached?.web === "") {
    const { cachedOutcome } = await import("./cached-outcome.ts");
    const { Conditions } = await import("./state/conditions.ts");
    const diagnostics = await new Conditions(cached.outputs[0]?.path, host).last();
    for (const diagnostic of diagnostics) emit({ kind: "diagnostic", diagnostic });
    const known = { ...cached, diagnostics };
    const outcome = cachedOutcome(known, cached.report.name, secondsSoFar());
    emit({ kind: "list-done", outcome, lists: 1 });
    return { status: "unchanged", lists: [outcome], seconds: secondsSoFar() };
  }
  // Load the compiler only if there is something to compile.
  emit({ kind: "started" });
  const { openProject } = await import("./project.ts");
  const { project, lists } = await openProject(options, host);
  const { buildLists } = await import("./build-lists.ts");
  let combined: BuildOutcome["combined"];
  try {
    await buildLists(lists, context, outcomes);
    combined = await combine(project, context);
  } catch (error) {
    if (!signal.aborted) throw error;
    return { status: "interrupted", lists: outcomes, seconds: secondsSoFar() };
  } finally {
    if (options.cacheDir !== undefined && !signal.aborted) {
      const { collectCopies } = await import("../sources/collect-copies.ts");
      await collectCopies(options.cacheDir, host);
    }
  }
  return {
    status: statusOf(outcomes),
    lists: outcomes,
    ...(combined !== undefined && { combined }),
    seconds: secondsSoFar(),
  };
}

async function combine(project: Project, context: BuildContext): Promise<BuildOutcome["combined"]> {
  if (project.config.combined === undefined) return undefined;
  const { planCombined } = await import("./combined-plan.ts");
  const { writeCombined } = await import("./combined-outputs.ts");
  return await writeCombined(planCombined(project, context.options, context.host), context);
}
