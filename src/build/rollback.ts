import { joinBytes } from "../host/join-bytes.ts";
import { encodeUtf8 } from "../bytes/utf8.ts";
import { type Diagnostic, warningOf } from "../diagnostics/diagnostic.ts";
import { printable } from "../diagnostics/printable.ts";
import { buildTime } from "../engine/build-time.ts";
import { NO_FINDINGS } from "../engine/list-findings.ts";
import { ListHeader } from "../engine/list-header.ts";
import { scratchOf } from "../engine/scratch.ts";
import { NameBuffer } from "../formats/name-buffer.ts";
import type { Host } from "../host/host.ts";
import { type OutputContext, type OutputPlan, planOutputs } from "../publish/output-plan.ts";
import { lastPatch, patchLines } from "../publish/patches.ts";
import { momentOf } from "../record/kept-builds.ts";
import { askedBy } from "./asked-by.ts";
import type { BuildContext } from "./build-context.ts";
import type { ListOutcome } from "./build-outcome.ts";
import { type ChosenBuild, chosenBuild } from "./chosen-build.ts";
import { holdAt, selectedList } from "./hold-list.ts";
import { writeCombined } from "./combined-outputs.ts";
import { planCombined } from "./combined-plan.ts";
import { exitOf } from "./cached-outcome.ts";
import { GUARD_NAMES } from "./guards/names.ts";
import { guardList } from "./guards/registry.ts";
import { finishPublish } from "./finish-publish.ts";
import { ListOutputs } from "./list-outputs.ts";
import type { ListPlan } from "./list-plan.ts";
import { noteHistory, notePublished } from "./note-history.ts";
import { type PublishedConfig, publishList } from "./publish-list.ts";
import { replayNames } from "./recorded-names.ts";
import type { KeptDraft, WholeBuild } from "./state/kept-draft.ts";
import { readHold } from "./state/hold.ts";
import { forgetSince } from "./state/list-memory.ts";
import { readLastPublish } from "./state/last-publish.ts";

export interface RollbackRequest {
  /** The build: `@1`, `@2026-11-14`. The last one with another list by default. */
  readonly build?: string | undefined;
  /** Whether the list stays at this build until the hold ends. A list that is held already stays held. */
  readonly hold?: boolean;
}

/** A build that was published again. */
export interface Rollback extends ListOutcome {
  /** When that build was made. */
  readonly of: string;
  readonly isHeld: boolean;
}

/**
 * Publishes a kept build of one list again: the list, its formats as they were then in the files of today, and the manifest. Dates and serials
 * are new. Guards only warn. Rejects with a `CompilerError`.
 */
export async function rollback(
  { build: operand, hold }: RollbackRequest,
  context: BuildContext,
): Promise<Rollback> {
  const { host, emit } = context;
  const started = host.now().getTime();
  const { plan, file } = await selectedList(context);
  const outputs = new ListOutputs(plan.files, { record: true, isToStdout: false }, host);
  try {
    // Builds can be removed until this run holds the locks.
    await outputs.open(() => finishPublish({ ...plan, config: plan.list.config }, context));
    await outputs.openRecords();
    const { whole, of } = await chosenBuild(operand, file.path, host);
    for (const diagnostic of await objections(plan, whole.draft, host))
      emit({ kind: "diagnostic", diagnostic });
    const isHeld = hold === true || (await readHold(file.path, host)) !== undefined;
    const done = await publishAgain(plan, { whole, of, outputs, isHeld }, context);
    await writeCombined(planCombined(plan.list.project, context.options, host), context);
    const { report } = whole.draft;
    return {
      list: report.name,
      status: done.written.some(({ outcome }) => outcome === "written") ? "published" : "unchanged",
      exit: exitOf(report),
      report,
      diagnostics: [],
      outputs: done.written,
      files: done.names,
      seconds: (host.now().getTime() - started) / 1000,
      isCached: false,
      inputs: [],
      of: momentOf(of),
      isHeld,
    };
  } finally {
    await outputs.close();
  }
}

/** What the guards say about the size of the list. */
async function objections(
  plan: ListPlan,
  { report }: KeptDraft,
  host: Host,
): Promise<Diagnostic[]> {
  const last = await readLastPublish(plan.files[0]!.path, host);
  const found = guardList({ report, findings: NO_FINDINGS, limits: plan.guards, last }, []);
  return found.map(asWarning);
}

function asWarning(found: Diagnostic): Diagnostic {
  const { hint: _hint, ...known } = found;
  return { ...known, severity: "warning", hint: "rollback publishes it anyway" };
}

interface Again extends ChosenBuild {
  readonly outputs: ListOutputs;
  readonly isHeld: boolean;
}

async function publishAgain(
  plan: ListPlan,
  { whole, of, outputs, isHeld }: Again,
  context: BuildContext,
): ReturnType<typeof publishList> {
  const { options, host, signal, emit } = context;
  const { draft, header, frames } = whole;
  const { report, shape } = draft;
  const { project, plugins } = plan.list;
  const { rulesDir } = options;
  const paths = plan.files.map(({ path }) => path);
  const labels = report.sources.map(({ label }) => label);
  const where = { folder: rulesDir, host, taken: paths, plugins };
  const config = configuredNow(draft.config, plan, where);
  const outputPlans = planOutputs(config, where);
  for (const diagnostic of leftAlone(plan, outputPlans)) emit({ kind: "diagnostic", diagnostic });
  const builtAt = buildTime(host);
  const dated = await withNewDates(whole, paths, builtAt, host);
  const nameBuffer = new NameBuffer(() => scratchOf(host), false);
  try {
    outputs.write(dated.list);
    outputs.writeRecord(frames);
    if (outputPlans.length > 0) replayNames(draft.runs, whole, nameBuffer);
    signal.throwIfAborted();
    emit({ kind: "publishing", list: report.name });
    const publication = {
      config,
      outputPlans,
      nameBuffer: outputPlans.length === 0 ? undefined : nameBuffer,
      shape,
      // A rollback is a decision against what the guards would say.
      accept: [...GUARD_NAMES, "limit-too-small", "format-loss"],
      builtAt,
      timelessHead: dated.timelessHead,
      tool: header.tool,
      sources: labels,
      configFolder: project.folder,
      rulesDir,
      sourcesFile:
        plan.sourcesFile === undefined || draft.about === undefined
          ? undefined
          : { path: plan.sourcesFile, text: draft.about },
    };
    const published = await publishList(outputs, publication, host);
    // Now, because a scheduled run would undo the rollback if this run were killed.
    if (isHeld) await holdAt(plan, { whole, of, published }, context);
    const fact = { rules: report.rules, of: momentOf(of) };
    await notePublished(plan.files, { event: "rolled-back", ...fact }, undefined, context);
    if (isHeld) await noteHistory(plan.files, { event: "held", ...fact }, context);
    emit({ kind: "published", list: report.name, file: plan.files[0] });
    for (const found of published.overruled)
      emit({ kind: "diagnostic", diagnostic: asWarning(found) });
    const moment = Date.parse(momentOf(of));
    for (const { path } of plan.files) await forgetSince(path, moment, host);
    await outputs.remember(
      { ...draft, config, timelessHead: dated.timelessHead },
      { ...header, builtAt: builtAt.toISOString(), by: askedBy(options, host), of },
      () => [whole.covered],
    );
    return published;
  } finally {
    nameBuffer.close();
  }
}

/**
 * The settings of a kept build, with the files, addresses and programs of today's configuration: what is stored may have been
 * changed by others.
 */
function configuredNow(
  then: PublishedConfig,
  { list, outputs: today }: ListPlan,
  where: OutputContext,
): PublishedConfig {
  const { manifest, patches } = list.config;
  const outputs = (then.outputs ?? []).flatMap((output) => {
    const { updates: _updates, pack: _pack, ...own } = output;
    const [planned] = planOutputs({ name: then.name, outputs: [own] }, where);
    const now = today.find(({ path }) => path === planned?.path);
    if (now === undefined) return [];
    const { updates, packings, formatName } = now;
    const isZone = updates !== undefined && formatName === own.format;
    return [{ ...own, pack: packings, ...(isZone && { updates }) }];
  });
  const { manifest: _manifest, patches: _patches, ...settings } = then;
  return {
    ...settings,
    outputs,
    ...(manifest !== undefined && { manifest }),
    ...(patches !== undefined && { patches }),
  };
}

/** Warns of outputs that the build does not have. */
function leftAlone(plan: ListPlan, outputPlans: readonly OutputPlan[]): Diagnostic[] {
  const paths = new Set(outputPlans.map(({ path }) => path));
  return plan.outputs
    .filter(({ path }) => !paths.has(path))
    .map(({ name }) =>
      warningOf(
        "not-rolled-back",
        `${printable(name)} is not part of that build and stays as it is`,
      ),
    );
}

/** The list with a header of today. Its size stays the same, because the record refers to rules by their offset. */
async function withNewDates(
  { draft, header, list }: WholeBuild,
  paths: readonly string[],
  builtAt: Date,
  host: Host,
): Promise<{ readonly list: Uint8Array; readonly timelessHead: string }> {
  const { config, report, timelessHead } = draft;
  const last = config.patches === undefined ? 0 : await lastPatch(paths, host);
  const head = new ListHeader(config, builtAt, patchLines(config, builtAt, last), header.tool);
  const bytes = encodeUtf8(head.lines(report.rules).join("\n"));
  const size = encodeUtf8(timelessHead).length;
  if (bytes.length !== size) return { list, timelessHead };
  const rest = list.subarray(size);
  return {
    list: joinBytes([bytes, rest], list.length),
    timelessHead: head.timeless(report.rules),
  };
}
