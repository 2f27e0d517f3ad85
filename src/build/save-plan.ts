import { planCombined } from "./combined-plan.ts";
import type { DryRun } from "./dry-run.ts";
import type { Lockfile } from "./lockfile.ts";
import type { BuildSession } from "./session.ts";
import { plannedDigests } from "./planned-files.ts";
import { type PlannedList, digestAt, writePlans } from "./state/saved-plan.ts";

/** SHA-256 of the lists that a plan would replace, computed before the dry run; null if there is no list. */
export async function digestsBefore(session: BuildSession): Promise<Map<string, string | null>> {
  const paths = session.plans.flatMap(({ files }) => files.map(({ path }) => path));
  const digests = paths.map(async (path) => [path, await digestAt(path, session.host)] as const);
  return new Map(await Promise.all(digests));
}

/** Saves the results of dry runs, so that `apply` publishes exactly those. */
export async function savePlan(
  path: string,
  runs: readonly DryRun[],
  before: ReadonlyMap<string, string | null>,
  session: BuildSession,
): Promise<void> {
  const { host, options } = session;
  const { configPath, isFound, output, rulesDir } = options;
  const lock = await lockOf(runs);
  const lists: PlannedList[] = [];
  for (const { plan, compiled, violations, warnings, header, saved } of runs) {
    const { sources: _sources, ...config } = plan.list.config;
    const saving = {
      report: compiled.report,
      refused: violations,
      warnings: [...compiled.diagnostics, ...warnings],
      files: plan.files.map((file) => ({ ...file, was: before.get(file.path) ?? null })),
      record: header,
      config,
      rulesDir: host.path.resolve(host.cwd, rulesDir),
      shape: compiled.shape,
      timelessHead: compiled.timelessHead,
      runs: saved.runs,
      about: (await session.sourcesFile(plan, compiled.report))?.text,
      lock,
      folder: plan.list.project.folder,
      learned: compiled.learned,
      combined: planCombined(plan.list.project, options, host),
      place: { configPath, ...(isFound && { isFound }), output },
      digests: await plannedDigests({ plan, compiled, saved }, rulesDir, host),
    };
    lists.push({ plan: saving, bytes: saved });
  }
  await writePlans(path, lists, host);
}

/** Lists of one configuration share their lock. */
async function lockOf(runs: readonly DryRun[]): Promise<Lockfile | undefined> {
  const locks: Lockfile[] = [];
  for (const { lock, compiled } of runs) {
    const renewed = await lock.renewed(compiled);
    if (renewed !== undefined) locks.push(renewed);
  }
  const [first] = runs;
  const hasOthers = first?.plan.list.project.config.lists !== undefined;
  return hasOthers ? first.lock.joined(locks) : locks[0];
}
