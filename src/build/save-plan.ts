import { planCombined } from "./combined-plan.ts";
import type { DryRun } from "./dry-run.ts";
import type { Lockfile } from "./lockfile.ts";
import type { BuildSession } from "./session.ts";
import { digestAt, writePlan } from "./state/saved-plan.ts";

/** SHA-256 of the lists that a plan would replace, computed before the dry run; null if there is no list. */
export async function digestsBefore(session: BuildSession): Promise<Map<string, string | null>> {
  const paths = session.plans.flatMap(({ files }) => files.map(({ path }) => path));
  const digests = paths.map(async (path) => [path, await digestAt(path, session.host)] as const);
  return new Map(await Promise.all(digests));
}

/** Saves the result of a dry run, so that `apply` publishes exactly that. */
export async function savePlan(
  path: string,
  run: DryRun,
  before: ReadonlyMap<string, string | null>,
  session: BuildSession,
): Promise<void> {
  const { plan, compiled, violations, warnings } = run;
  const { host, options } = session;
  const { sources: _sources, ...config } = plan.list.config;
  const { configPath, isFound, output } = options;
  await writePlan(
    path,
    {
      report: compiled.report,
      refused: violations,
      warnings: [...compiled.diagnostics, ...warnings],
      files: plan.files.map((file) => ({ ...file, was: before.get(file.path) ?? null })),
      record: run.header,
      config,
      rulesDir: host.path.resolve(host.cwd, options.rulesDir),
      shape: compiled.shape,
      timelessHead: compiled.timelessHead,
      runs: run.saved.runs,
      lock: await lockOf(run),
      folder: plan.list.project.folder,
      learned: compiled.learned,
      combined: planCombined(plan.list.project, options, host),
      place: { configPath, ...(isFound && { isFound }), output },
    },
    run.saved,
    host,
  );
}

/** One of several lists shares its lock with the others. */
async function lockOf({ plan, lock, compiled }: DryRun): Promise<Lockfile | undefined> {
  const renewed = await lock.renewed(compiled);
  const hasOthers = plan.list.project.config.lists !== undefined;
  return renewed === undefined || !hasOthers ? renewed : lock.joined([renewed]);
}
