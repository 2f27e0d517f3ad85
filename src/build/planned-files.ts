import { CompilerError, type Diagnostic } from "../diagnostics/diagnostic.ts";
import { Exit } from "../diagnostics/exit.ts";
import { VERSION } from "../diagnostics/version.ts";
import { scratchOf } from "../engine/scratch.ts";
import type { FileChange } from "../explain/list-change.ts";
import { NameBuffer } from "../formats/name-buffer.ts";
import type { Host } from "../host/host.ts";
import { luaName } from "../publish/cdb-file.ts";
import { isManifestDue, manifestPath } from "../publish/manifest.ts";
import { nameDifference } from "../publish/name-difference.ts";
import type { OutputFile } from "../publish/output-file.ts";
import { type OutputPlan, blocksNamesAlone, plannedFiles } from "../publish/output-plan.ts";
import { withPacked } from "../publish/packed-files.ts";
import type { DryRun } from "./dry-run.ts";
import { ListOutputs } from "./list-outputs.ts";
import type { ListPlan } from "./list-plan.ts";
import { type Published, publishList } from "./publish-list.ts";
import { replayNames } from "./recorded-names.ts";

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
  let published: Published;
  try {
    published = await publishDraft(run, { rulesDir, accept }, shadow);
  } catch (error) {
    if (!(error instanceof CompilerError) || error.exit !== Exit.Guard) throw error;
    return { files: [], violations: error.diagnostics };
  }
  const { plan } = run;
  const files: FileChange[] = [];
  for (const { file, outcome, format } of published.written) {
    const output = plan.outputs.find(({ name }) => name === file);
    const isComplete = output === undefined || (await areThere(output, host));
    if (outcome === "unchanged" && isComplete) continue;
    const names =
      output && blocksNamesAlone(output) && (await nameDifference(output, host, shadow));
    const what = format === undefined ? { isList: true as const } : { format };
    files.push({ file, ...what, ...names });
  }
  const { config } = plan.list;
  if (config.manifest !== undefined && files.length === 0) {
    const path = manifestPath(config, rulesDir, host);
    if (await isManifestDue(config, path, releasedFiles(plan, published, host), host))
      files.push({ file: host.path.relative(host.cwd, path) });
  }
  return { files, violations: [] };
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

async function publishDraft(
  { plan, compiled, saved }: DryRun,
  { rulesDir, accept }: { readonly rulesDir: string; readonly accept: readonly string[] },
  shadow: Host,
): Promise<Published> {
  // Nothing is signed, patched or compressed to compare it.
  const { manifest: _manifest, patches: _patches, ...config } = plan.list.config;
  const outputs = new ListOutputs(plan.files, { record: false, isToStdout: false }, shadow);
  const nameBuffer = new NameBuffer(() => scratchOf(shadow), false);
  try {
    await outputs.open();
    outputs.write(saved.list);
    if (plan.outputs.length > 0) replayNames(saved.runs, saved, nameBuffer);
    const publication = {
      config,
      outputPlans: plan.outputs.map((one) => ({ ...one, packings: [], updates: undefined })),
      nameBuffer: plan.outputs.length === 0 ? undefined : nameBuffer,
      shape: compiled.shape,
      accept,
      builtAt: compiled.builtAt,
      timelessHead: compiled.timelessHead,
      tool: VERSION,
      sources: compiled.report.sources.map(({ label }) => label),
      configFolder: plan.list.project.folder,
      rulesDir,
    };
    return await publishList(outputs, publication, shadow);
  } finally {
    nameBuffer.close();
    await outputs.close();
  }
}
