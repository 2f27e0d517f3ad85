import { decodeUtf8 } from "../bytes/utf8.ts";
import type { ProjectOptions } from "../build/build-options.ts";
import type { BuildOutcome } from "../build/build-outcome.ts";
import { openProject } from "../build/project.ts";
import { durationMs } from "../config/duration.ts";
import type { TargetConfig } from "../config/config.ts";
import { codeEntry } from "../diagnostics/codes.ts";
import { CompilerError, type Diagnostic, errorOf, warningOf } from "../diagnostics/diagnostic.ts";
import { Exit } from "../diagnostics/exit.ts";
import { countText } from "../diagnostics/number-text.ts";
import { printable } from "../diagnostics/printable.ts";
import { someOf } from "../diagnostics/some-of.ts";
import type { Host } from "../host/host.ts";
import { ifAvailable } from "../host/if-available.ts";
import { type FolderRequest, folderFiles } from "./folder-files.ts";
import { PublishState } from "./publish-state.ts";
import { TARGETS, type TargetKind, kindOf } from "./registry.ts";
import type { PublishedFolder, TargetEnd, TargetSetting } from "./target.ts";
import { TargetFailure } from "./target-failure.ts";

export interface TargetsContext {
  readonly options: ProjectOptions;
  /** Whether targets may be used. */
  readonly isAllowed: boolean;
  readonly host: Host;
  readonly signal: AbortSignal;
  readonly report: (diagnostic: Diagnostic) => void;
}

/** How publishing to one target ended. */
export interface TargetOutcome extends Partial<Omit<TargetEnd, "outcome">> {
  readonly target: TargetKind;
  /** Its place, safe to print. */
  readonly to: string;
  readonly outcome: "published" | "unchanged" | "failed";
  readonly seconds: number;
  readonly problem?: Diagnostic;
}

const DEFAULT_MS = 600_000;

/** Copies the published files to the targets of a configuration. One that fails is an error, and the next run tries it again. */
export async function publishTargets(
  outcome: BuildOutcome,
  context: TargetsContext,
): Promise<TargetOutcome[]> {
  const { options, isAllowed, host } = context;
  if (outcome.status === "interrupted" || options.inputs.length > 0) return [];
  // Saves most runs from reading the configuration twice.
  if (!isAllowed && !(await mayHaveTargets(options, host))) return [];
  const request = await requestOf(options, host);
  const targets = request?.project.config.publish ?? [];
  if (request === undefined || targets.length === 0) return [];
  // Another run replaces files now, and publishes them itself.
  if (outcome.lists.some(({ exit }) => exit === Exit.Locked)) return [];
  const skipped = `${countText(targets.length, "target")} of publish skipped`;
  if (!isAllowed) return noteSkipped(skipped, context);
  if (isElsewhere(outcome, options, host)) {
    const hint = "Remove -o, or add -r to write the list into the rules directory, too";
    return noteSkipped(`${skipped}: the list is not in the rules directory`, context, hint);
  }
  const stateFolder = host.path.resolve(host.cwd, options.rulesDir, ".rules-compiler");
  const state = await PublishState.open(stateFolder, host);
  const folder = await folderFiles(outcome, request, state, host);
  await state.store();
  if (folder.outside.length > 0) {
    const { hint } = codeEntry("target-incomplete");
    const files = folder.outside.map((path) => host.path.relative(host.cwd, path));
    const message = `Outside the rules directory, and not sent to targets: ${someOf(files)}`;
    context.report(warningOf("target-incomplete", message, { hint }));
  }
  const outcomes: TargetOutcome[] = [];
  for (const target of targets) {
    if (folder.files.length === 0) break;
    const { folder: own, config } = request.project;
    const setting = { folder: own, name: config.name, stateFolder };
    outcomes.push(await publishOne(target, folder, setting, context));
  }
  return outcomes;
}

async function mayHaveTargets({ configPath }: ProjectOptions, host: Host): Promise<boolean> {
  const bytes = await ifAvailable(() => host.readFile(host.path.resolve(host.cwd, configPath)));
  return bytes !== undefined && decodeUtf8(bytes).includes("publish");
}

/** All lists of the configuration, without the filter of this run. */
async function requestOf(options: ProjectOptions, host: Host): Promise<FolderRequest | undefined> {
  const all = { ...options, filter: [] };
  try {
    return { ...(await openProject(all, host)), options };
  } catch (error) {
    // The file changed after the build read it; the next run reports its problems.
    if (error instanceof CompilerError) return undefined;
    throw error;
  }
}

/** Whether a list went only to standard output, or to a file that `-o` or a saved plan names. */
function isElsewhere(
  { lists }: BuildOutcome,
  { output, copyToRules, rulesDir }: ProjectOptions,
  { path, cwd }: Host,
): boolean {
  if (output !== undefined && !copyToRules) return true;
  const root = path.resolve(cwd, rulesDir);
  return lists.some(({ outputs }) => {
    const own = outputs.filter(({ format }) => format === undefined);
    return (
      own.length > 0 && own.every(({ file }) => path.dirname(path.resolve(cwd, file)) !== root)
    );
  });
}

function noteSkipped(message: string, { report }: TargetsContext, hint?: string): [] {
  const code = "targets-skipped";
  report({ code, severity: "note", message, hint: hint ?? codeEntry(code).hint });
  return [];
}

async function publishOne(
  config: TargetConfig,
  folder: PublishedFolder,
  places: Pick<TargetSetting, "folder" | "name" | "stateFolder">,
  { host, signal, report }: TargetsContext,
): Promise<TargetOutcome> {
  const kind = kindOf(config);
  const target = TARGETS[kind];
  const to = printable(target.titleOf(config));
  const began = host.now().getTime();
  const seconds = (): number => (host.now().getTime() - began) / 1000;
  const timeoutMs = durationMs(config.timeout ?? "") ?? DEFAULT_MS;
  try {
    if (signal.aborted) throw new TargetFailure("stopped");
    const end = await target.publish(config, folder, { host, signal, timeoutMs, ...places });
    return { target: kind, to, ...end, seconds: seconds() };
  } catch (error) {
    if (!(error instanceof TargetFailure)) throw error;
    const { message: cause, hint } = error;
    const problem = errorOf("target-failed", `Not published: ${to}`, {
      cause,
      ...(hint !== undefined && { hint }),
    });
    report(problem);
    return { target: kind, to, outcome: "failed", seconds: seconds(), problem };
  }
}
