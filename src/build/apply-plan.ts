import { createHash } from "node:crypto";
import { CompilerError, errorOf } from "../diagnostics/diagnostic.ts";
import { printable } from "../diagnostics/printable.ts";
import { scratchOf } from "../engine/scratch.ts";
import { NameBuffer } from "../formats/name-buffer.ts";
import type { Host } from "../host/host.ts";
import { manifestPaths } from "../publish/manifest.ts";
import { type OutputPlan, plannedFiles, planOutputs } from "../publish/output-plan.ts";
import type { BuildContext } from "./build-context.ts";
import type { ListOutcome } from "./build-outcome.ts";
import { exitOf } from "./cached-outcome.ts";
import { writeCombined } from "./combined-outputs.ts";
import { finishPublish } from "./finish-publish.ts";
import { ListOutputs } from "./list-outputs.ts";
import { saveLock } from "./lock-session.ts";
import { LOCKFILE } from "./lockfile.ts";
import { sourcesPath } from "../sources/published-sources.ts";
import { VERSION } from "../diagnostics/version.ts";
import { askedBy } from "./asked-by.ts";
import { type Publication, publishList, publishedConfig } from "./publish-list.ts";
import { notePublished, publishedFact } from "./note-history.ts";
import { refusePlaces } from "./refuse-places.ts";
import { replayNames } from "./recorded-names.ts";
import { Conditions } from "./state/conditions.ts";
import { holdCommandLine, holdText, readHold } from "./state/hold.ts";
import { type PlannedList, type SavedPlan, digestAt, readPlans } from "./state/saved-plan.ts";

/**
 * Publishes exactly the bytes of a saved plan, if the published lists have not changed since. Nothing is fetched. Of several lists, one that
 * is refused does not stop the others. Rejects with a `CompilerError`.
 */
export async function applyPlan(path: string, context: BuildContext): Promise<ListOutcome[]> {
  const lists = await readPlans(path, context.host);
  const outcomes: ListOutcome[] = [];
  for (const list of lists)
    try {
      outcomes.push(await applyList(list, context));
    } catch (error) {
      if (lists.length === 1 || !(error instanceof CompilerError) || context.signal.aborted)
        throw error;
      outcomes.push(failedOutcome(list.plan, error));
    }
  const { plan } = lists[0]!;
  const isPublished = outcomes.some(
    ({ status }) => status === "published" || status === "unchanged",
  );
  if (isPublished) {
    await saveLock(plan.folder, plan.lock, context);
    await writeCombined(plan.combined, context);
  }
  return outcomes;
}

function failedOutcome({ report, refused }: SavedPlan, error: CompilerError): ListOutcome {
  const isRefused = refused.length > 0;
  return {
    list: report.name,
    status: isRefused ? "refused" : "failed",
    exit: error.exit,
    ...(isRefused && { report }),
    diagnostics: error.diagnostics,
    outputs: [],
    files: [],
    seconds: 0,
    isCached: false,
    inputs: [],
  };
}

async function applyList(
  { plan, bytes }: PlannedList,
  context: BuildContext,
): Promise<ListOutcome> {
  const { options, host, signal, emit } = context;
  const started = host.now().getTime();
  const { accept } = options;
  const refused = plan.refused.filter(({ code }) => !accept.includes(code));
  if (refused.length > 0) throw new CompilerError(refused);
  const { config, folder, record, report } = plan;
  const rulesDir = shownFolder(plan.rulesDir, host);
  const labels = report.sources.map(({ label }) => label);
  const outputPlans = planOutputs(config, { folder: rulesDir, host });
  await refusePlan(plan, outputPlans, context);
  const outputs = new ListOutputs(
    plan.files,
    {
      record: true,
      isToStdout: false,
      config: host.path.resolve(host.cwd, plan.place.configPath),
    },
    host,
  );
  // Covered names are saved only if a format needs them.
  const nameBuffer = new NameBuffer(() => scratchOf(host), false);
  try {
    const about = sourcesFileOf(plan);
    const manifest = [...manifestPaths(config, rulesDir, host), ...(about ? [about.path] : [])];
    const named = { config, files: plan.files, outputs: outputPlans, manifest };
    await outputs.open(() => finishPublish(named, context));
    // This check is safe only now, while this run holds the locks.
    await refuseIfHeld(plan, host);
    await refuseIfOutdated(plan, bytes.list, host);
    await outputs.openRecords();
    outputs.write(bytes.list);
    outputs.writeRecord(bytes.frames);
    signal.throwIfAborted();
    if (outputPlans.length > 0) replayNames(plan.runs, bytes, nameBuffer);
    const publication = {
      config,
      outputPlans,
      nameBuffer: outputPlans.length === 0 ? undefined : nameBuffer,
      shape: plan.shape,
      accept,
      builtAt: new Date(record.builtAt),
      timelessHead: plan.timelessHead,
      tool: VERSION,
      sources: labels,
      configFolder: folder,
      rulesDir,
      sourcesFile: about,
      planned: new Map(
        Object.entries(plan.digests).map(([file, sha256]) => [
          host.path.resolve(plan.rulesDir, file),
          sha256,
        ]),
      ),
    };
    emit({ kind: "publishing", list: report.name });
    const { written, names } = await publishList(outputs, publication, host);
    emit({ kind: "published", list: report.name, file: plan.files[0] });
    await notePublished(plan.files, publishedFact(report, options), record, context);
    const isWritten = written.some(({ outcome }) => outcome === "written");
    const header = {
      ...record,
      ...(isWritten && { hasChanged: true as const }),
      by: askedBy(options, host),
    };
    await outputs.remember({ ...plan, config: publishedConfig(config) }, header, () => [
      bytes.covered,
    ]);
    const found = { finder: "build", diagnostics: plan.warnings } as const;
    const diagnostics = await new Conditions(plan.files[0]?.path, host).settle(found);
    for (const diagnostic of diagnostics) emit({ kind: "diagnostic", diagnostic });
    return {
      list: report.name,
      status: isWritten ? "published" : "unchanged",
      exit: exitOf(report),
      report,
      diagnostics,
      outputs: written,
      files: names,
      seconds: (host.now().getTime() - started) / 1000,
      isCached: false,
      inputs: [],
      lastByte: bytes.list.at(-1),
    };
  } finally {
    nameBuffer.close();
    await outputs.close();
  }
}

/** What is published about the sources, beside the list. */
function sourcesFileOf({ about, files }: SavedPlan): Publication["sourcesFile"] {
  const [list] = files;
  if (about === undefined || list === undefined) return undefined;
  return { path: sourcesPath(list.path), text: about };
}

/** A plan is a file that others may have changed. Rejects with a `CompilerError` if it writes where today's options do not permit it. */
async function refusePlan(
  plan: SavedPlan,
  outputPlans: readonly OutputPlan[],
  { options, host }: BuildContext,
): Promise<void> {
  const { files, config, rulesDir, combined, lock, folder } = plan;
  const { path, cwd } = host;
  const about = sourcesFileOf(plan);
  const names = [
    ...files.map((file) => file.path),
    ...outputPlans.flatMap(plannedFiles).map((file) => file.path),
    ...manifestPaths(config, rulesDir, host),
    ...(about ? [about.path] : []),
    ...combined.flatMap((one) => [one.name, ...one.files.map((file) => file.path)]),
  ];
  const wanted = names.map((name) => ({ name, path: path.resolve(cwd, name) }));
  await refusePlaces(wanted, options, host);
  const own = path.dirname(path.resolve(cwd, options.configPath));
  if (lock === undefined || folder === own || options.permit.includes("paths")) return;
  throw new CompilerError([
    errorOf("path-outside", `The plan has ${LOCKFILE} of another folder: ${printable(folder)}`, {
      hint: "Use the same -c as plan, or add --permit paths",
    }),
  ]);
}

async function refuseIfHeld({ files, report, place }: SavedPlan, host: Host): Promise<void> {
  for (const { path } of files) {
    const hold = await readHold(path, host);
    if (hold !== undefined)
      throw new CompilerError([
        errorOf("list-held", holdText(report.name, hold), {
          hint: `End the hold with ${holdCommandLine("hold --end", report.name, place)}`,
        }),
      ]);
  }
}

async function refuseIfOutdated({ files }: SavedPlan, list: Uint8Array, host: Host): Promise<void> {
  for (const { name, path, was } of files) {
    const now = await digestAt(path, host);
    if (now === was) continue;
    const isDone = now === createHash("sha256").update(list).digest("hex");
    throw new CompilerError([
      isDone
        ? errorOf("plan-outdated", `${printable(name)} is already the list of this plan`, {
            hint: "There is nothing to apply; run plan again for newer changes",
          })
        : errorOf("plan-outdated", `${printable(name)} has changed since the plan was saved`),
    ]);
  }
}

/** Relative to the current folder if it is inside, as in the messages of `compile`. */
function shownFolder(folder: string, { path, cwd }: Pick<Host, "path" | "cwd">): string {
  const relative = path.relative(cwd, folder);
  const isInside = !path.isAbsolute(relative) && relative.split(path.sep)[0] !== "..";
  return isInside ? relative : folder;
}
