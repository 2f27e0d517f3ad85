import type { CompileReport, WrittenOutput, FileChange } from "../../documents/facts.ts";
import { equalBytes } from "../../bytes/text.ts";
import { CODES, Exit } from "../../diagnostics/codes.ts";
import { CompilerError, type Diagnostic } from "../../diagnostics/render.ts";
import { VERSION } from "../../diagnostics/version.ts";
import { scratchOf } from "../../engine/compile-options.ts";
import type { ListShape } from "../../formats/list-model.ts";
import { NameBuffer } from "../../formats/names.ts";
import type { Host } from "../../host/host.ts";
import { shadowHost } from "../../host/memory-files.ts";
import type { OutputFile } from "../../publish/list-file.ts";
import { isManifestDue, pathOfManifest, withPacked } from "../../publish/manifest.ts";
import {
  type OutputPlan,
  blocksNamesAlone,
  luaName,
  planOutputs,
  plannedFiles,
} from "../../publish/output-plan.ts";
import { nameDifference } from "../../publish/patches.ts";
import { digestOfFile } from "../../sources/copies.ts";
import type { DryRun } from "../apply-plan.ts";
import { type SourceRuns, replayNames } from "../draft/recorded-names.ts";
import type { ListPlan } from "../plan/list-plan.ts";
import type { WholeBuild } from "../state/kept-builds.ts";
import { ListOutputs, type Published, type PublishedConfig, publishList } from "./publish-list.ts";

/** A kept build was published, whatever guards said. */
const ACCEPTED = ["blocks-protected", "empty-output", "too-few-rules"];

interface PlannedPlace {
  /** The name of the list's file. */
  readonly name: string;
  readonly rulesDir: string;
}

/** The files that differ between two kept builds. Both are written again in memory, under other names. */
export async function changedFiles(
  before: WholeBuild,
  after: WholeBuild,
  place: PlannedPlace,
  host: Host,
): Promise<FileChange[]> {
  if (isAlike(before, after)) return [];
  const old = shadowHost(host);
  const fresh = shadowHost(old);
  try {
    await publishTrial(keptTrial(before, place, host), place.rulesDir, old);
    const trial = keptTrial(after, place, host);
    const { written } = await publishTrial(trial, place.rulesDir, fresh);
    return await fileChanges(written, trial.outputs, old, fresh);
  } catch (error) {
    // Formats of plugins cannot be written again.
    if (error instanceof CompilerError) return [];
    throw error;
  }
}

function isAlike(before: WholeBuild, after: WholeBuild): boolean {
  const [old, fresh] = [before, after].map(({ draft }) =>
    JSON.stringify([draft.config.outputs, draft.shape]),
  );
  return (
    equalBytes(before.list, after.list) &&
    equalBytes(before.covered, after.covered) &&
    old === fresh
  );
}

/** Outputs of two configurations are compared in the order of their formats, whatever their names are. */
function keptTrial(
  { draft, header, list, covered }: WholeBuild,
  { name, rulesDir }: PlannedPlace,
  host: Host,
): TrialDraft {
  const folder = host.path.resolve(host.cwd, rulesDir, ".compared");
  const seen = new Map<string, number>();
  const outputs = planOutputs(draft.config, { folder: rulesDir, host }).map((output) => {
    const number = (seen.get(output.formatName) ?? 0) + 1;
    seen.set(output.formatName, number);
    const path = host.path.join(folder, `${output.formatName}-${number}`);
    return { ...output, path, allowPath: `${path}.allow` };
  });
  return {
    ...draft,
    files: [{ name, path: host.path.join(folder, "list") }],
    outputs,
    builtAt: new Date(header.builtAt),
    list,
    covered,
    accept: ACCEPTED,
    folder: host.cwd,
  };
}

/** What would be published besides the rules of the list. */
export interface PlannedFiles {
  /** The files that would change; the list itself only if it has the same rules. */
  readonly files: readonly FileChange[];
  /** Why its files would be refused. */
  readonly violations: readonly Diagnostic[];
}

/** Publishes a draft in a shadow of the host, to see which files would change. */
export async function plannedFilesOf(
  run: DryRun,
  { rulesDir, accept }: { readonly rulesDir: string; readonly accept: readonly string[] },
  shadow: Host,
  host: Host,
): Promise<PlannedFiles> {
  const { plan } = run;
  const trial = trialOf(run, accept);
  let published: Published;
  try {
    published = await publishTrial(trial, rulesDir, shadow);
  } catch (error) {
    if (!(error instanceof CompilerError) || error.exit !== Exit.Guard) throw error;
    return { files: [], violations: error.diagnostics };
  }
  const files = await fileChanges(published.written, plan.outputs, host, shadow);
  for (const output of plan.outputs)
    if (files.every(({ file }) => file !== output.name) && !(await areThere(output, host)))
      files.push({ file: output.name, format: output.formatName });
  const { config } = plan.list;
  if (config.manifest !== undefined && files.length === 0) {
    const path = pathOfManifest(config, rulesDir, host);
    if (await isManifestDue(config, path, releasedFiles(plan, published, host), host))
      files.push({ file: host.path.relative(host.cwd, path) });
  }
  return { files, violations: [] };
}

type Trialled = Pick<DryRun, "plan" | "compiled" | "saved">;

function trialOf({ plan, compiled, saved }: Trialled, accept: readonly string[]): TrialDraft {
  const { files, outputs, list } = plan;
  const { folder } = list.project;
  return { ...compiled, ...saved, files, outputs, config: list.config, accept, folder };
}

/** SHA-256 of the list and its formats as they would be published, even if a guard refuses them, by their paths below the rules directory. */
export async function plannedDigests(
  run: Trialled,
  rulesDir: string,
  host: Host,
): Promise<Record<string, string>> {
  const shadow = shadowHost(host);
  const all = Object.keys(CODES);
  const { files } = await publishTrial(trialOf(run, all), rulesDir, shadow);
  const copies = new Set(run.plan.files.slice(1).map(({ path }) => path));
  const digests: Record<string, string> = {};
  for (const { path } of files)
    if (!copies.has(path))
      digests[relativeName(rulesDir, path, host)] = (await digestOfFile(path, shadow)) ?? "";
  return digests;
}

/** The path of a file as a plan has it. */
export function relativeName(
  rulesDir: string,
  path: string,
  host: Pick<Host, "path" | "cwd">,
): string {
  const root = host.path.resolve(host.cwd, rulesDir);
  return host.path.relative(root, path).replaceAll(host.path.sep, "/");
}

/** The files of a release: the list without its copies, and the outputs with their compressed files. */
function releasedFiles(
  { files, outputs }: ListPlan,
  { written }: Published,
  { cwd, path }: Host,
): OutputFile[] {
  const own = written.flatMap((one) => {
    const names = (one.format === undefined ? [] : (one.files ?? [])).map((name) => ({
      name,
      path: path.resolve(cwd, name),
    }));
    const packings = outputs.find(({ name }) => name === one.file)?.packings ?? [];
    const [plain, lua] = [false, true].map((isLua) =>
      names.filter(({ name }) => (name === luaName(one.file)) === isLua),
    ) as [OutputFile[], OutputFile[]];
    return [...withPacked(plain, packings), ...lua];
  });
  return [...files.slice(0, 1), ...own];
}

/** Whether all files of an output exist: a compressed copy may be new in the configuration. */
async function areThere(output: OutputPlan, host: Host): Promise<boolean> {
  const { updates: _, ...lasting } = output;
  for (const { path } of plannedFiles(lasting)) if (!(await host.exists(path))) return false;
  return true;
}

/** What is published for a trial. */
export interface TrialDraft {
  readonly files: readonly OutputFile[];
  readonly outputs: readonly OutputPlan[];
  readonly config: PublishedConfig;
  readonly shape: ListShape;
  readonly timelessHead: string;
  readonly runs: SourceRuns;
  readonly report: CompileReport;
  readonly builtAt: Date;
  readonly list: Uint8Array;
  readonly covered: Uint8Array;
  readonly accept: readonly string[];
  /** The folder of the configuration. */
  readonly folder: string;
}

/** Publishes a list and its outputs in a shadow of the host. Rejects with a `CompilerError`. */
export async function publishTrial(
  trial: TrialDraft,
  rulesDir: string,
  shadow: Host,
): Promise<Published> {
  // Nothing is signed, patched or compressed to compare it. Updates stay, because the serial of a zone depends on them.
  const { manifest: _manifest, notice: _notice, patches: _patches, ...config } = trial.config;
  const { shape, accept, builtAt, timelessHead } = trial;
  const outputs = new ListOutputs(trial.files, { record: false, isToStdout: false }, shadow);
  const nameBuffer = new NameBuffer(() => scratchOf(shadow), false);
  try {
    await outputs.open();
    outputs.write(trial.list);
    if (trial.outputs.length > 0) replayNames(trial.runs, trial, nameBuffer);
    const publication = {
      config,
      outputPlans: trial.outputs.map((one) => ({ ...one, packings: [] })),
      nameBuffer: trial.outputs.length === 0 ? undefined : nameBuffer,
      shape,
      accept,
      builtAt,
      timelessHead,
      tool: VERSION,
      sources: trial.report.sources,
      configFolder: trial.folder,
      rulesDir,
    };
    return await publishList(outputs, publication, shadow);
  } finally {
    nameBuffer.close();
    await outputs.close();
  }
}

/** The files that a trial has changed from one host to another. */
async function fileChanges(
  written: readonly WrittenOutput[],
  outputs: readonly OutputPlan[],
  before: Host,
  after: Host,
): Promise<FileChange[]> {
  const files: FileChange[] = [];
  for (const { file, outcome, format } of written) {
    if (outcome === "unchanged") continue;
    const output = outputs.find(({ name }) => name === file);
    const names =
      output && blocksNamesAlone(output) && (await nameDifference(output, before, after));
    const what = format === undefined ? { isList: true as const } : { format };
    files.push({ file, ...what, ...names });
  }
  return files;
}
