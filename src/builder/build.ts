import type { CompileReport, WrittenOutput } from "../documents/facts.ts";
import type { Exit } from "../diagnostics/codes.ts";
import type { Diagnostic } from "../diagnostics/render.ts";
import type { ProgressEvent } from "../engine/compile-options.ts";
import type { Host } from "../host/host.ts";
import type { OutputFile } from "../publish/list-file.ts";
import type { InputFile } from "../sources/source-list.ts";
import type { BuildOptions } from "./plan/build-options.ts";
import type { ListPlan } from "./plan/list-plan.ts";
import type { Project } from "./plan/project.ts";
import { BuildCache } from "./state/list-state.ts";

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
    const { cachedOutcome } = await import("./draft/prepare.ts");
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
  const { openProject } = await import("./plan/project.ts");
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
      const { collectCopies } = await import("../sources/copies.ts");
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
  const { planCombined } = await import("./plan/list-plan.ts");
  const { writeCombined } = await import("./publish/combined-outputs.ts");
  return await writeCombined(planCombined(project, context.options, context.host), context);
}

/** The options, host and callbacks that all parts of a build share. */
export interface BuildContext {
  readonly options: BuildOptions;
  readonly host: Host;
  readonly signal: AbortSignal;
  readonly emit: (event: BuildEvent) => void;
  /** Called before a list with another canary replaces the published one, whose canary is given. */
  readonly beforePublish?: ((plan: ListPlan, canary: string) => Promise<void>) | undefined;
}

/** Runs a phase of the build, and reports its result and duration. */
export async function phase<T>(
  name: string,
  { emit }: BuildContext,
  work: () => Promise<T>,
  textOf: (result: T) => string | undefined,
): Promise<T> {
  const started = performance.now();
  const result = await work();
  const text = textOf(result);
  if (text !== undefined) emit({ kind: "phase", name, text, ms: performance.now() - started });
  return result;
}

export type { ProgressEvent } from "../engine/compile-options.ts";
export type { OutputFile } from "../publish/list-file.ts";

/** The events of a build, in the order in which they occur. */
export type BuildEvent =
  /** There is something to compile. A build without changes ends without this event. */
  | { readonly kind: "started" }
  /** A warning or note about one list or about the whole configuration. */
  | { readonly kind: "diagnostic"; readonly diagnostic: Diagnostic }
  /** The build reads sources: those of one list, or those of several lists in advance. */
  | { readonly kind: "reading"; readonly sources: number; readonly lists: number }
  | { readonly kind: "progress"; readonly event: ProgressEvent }
  /** The end of `reading`. */
  | { readonly kind: "read" }
  /** A phase of the build has ended. Shown in verbose output. */
  | { readonly kind: "phase"; readonly name: string; readonly text: string; readonly ms: number }
  /** The build starts to replace files. */
  | { readonly kind: "publishing"; readonly list: string }
  /** The files of a list are published. The build record follows. */
  | { readonly kind: "published"; readonly list: string; readonly file: OutputFile | undefined }
  /** The build of a list has ended, with any outcome. `lists` is the total. */
  | { readonly kind: "list-done"; readonly outcome: ListOutcome; readonly lists: number }
  /** A file over several lists was written, or need not be. */
  | { readonly kind: "combined"; readonly output: WrittenOutput };

export { isDegraded } from "../sources/acquire.ts";

/**
 * How a build ended. `published`: at least one list was written. `unchanged`: no list changed. `held`: a list is held at an earlier
 * build, and no other was written. `refused`: a guard refused a list. `failed`: a list could not be built. The last two take
 * precedence. Lists are independent: others may have been published.
 */
export type BuildStatus = "published" | "unchanged" | "held" | "refused" | "failed" | "interrupted";

/** How a build ended: as a whole, and for each list. */
export interface BuildOutcome {
  readonly status: BuildStatus;
  readonly lists: readonly ListOutcome[];
  /** Files over several lists. */
  readonly combined?: readonly WrittenOutput[];
  readonly seconds: number;
}

/** How the build of one list ended. */
export interface ListOutcome {
  /** The name of the list. */
  readonly list: string;
  readonly status: Exclude<BuildStatus, "interrupted">;
  /** The exit code of a command that builds only this list. */
  readonly exit: Exit;
  /** Whether it is the first list, and lacks sources or files of names: hooks do not run. */
  readonly isIncomplete?: true;
  /** Absent if the list could not be compiled. For a held list, that of the build it is held at. */
  readonly report?: CompileReport;
  /** The errors of a list that was refused or failed; otherwise its warnings. */
  readonly diagnostics: readonly Diagnostic[];
  /** The list and its additional formats. */
  readonly outputs: readonly WrittenOutput[];
  /** Names of all published files: the list, its formats, the folder of patches, and the manifest. */
  readonly files: readonly string[];
  readonly seconds: number;
  /** Whether the compile was skipped because nothing has changed since the last build. */
  readonly isCached: boolean;
  /** The local files that were read. */
  readonly inputs: readonly InputFile[];
  /** The last byte written to standard output. */
  readonly lastByte?: number | undefined;
}

export function statusOf(lists: readonly ListOutcome[]): BuildStatus {
  const statuses = new Set<BuildStatus>(lists.map(({ status }) => status));
  const order = ["failed", "refused", "published", "held", "unchanged"] as const;
  return order.find((status) => statuses.has(status)) ?? "unchanged";
}

const LONGEST = 100;

/** Who asks for a build, for those who read later what happened: `user@machine`, unless the options say more. */
export function askedBy({ by }: Pick<BuildOptions, "by">, host: Host): string {
  const machine = host.processId().machine.split(" ")[0] ?? "";
  const text = by ?? [host.userName?.() ?? "unknown", machine].filter(Boolean).join("@");
  return text.slice(0, LONGEST);
}
