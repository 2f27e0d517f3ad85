import type { Proof } from "../documents/facts.ts";
import type { BuildContext, BuildOutcome, ListOutcome } from "../builder/build.ts";
import type { ListConfig, Project } from "../builder/plan/project.ts";
import { codeEntry } from "../diagnostics/codes.ts";
import { CompilerError, warningOf } from "../diagnostics/render.ts";
import { countText } from "../diagnostics/text.ts";
import type { ClientLimits } from "../resolvers/dns-client.ts";
import type { AnswerWatch } from "../resolvers/answer-watch.ts";
import type { ListBefore, Undoing } from "./undo.ts";

/** The steps after a publish, in order. */
const STEPS: readonly (() => Promise<AfterStep>)[] = [
  async () => (await import("./prove.ts")).expectStep,
  async () => (await import("./hooks.ts")).reloadStep,
  async () => (await import("./prove.ts")).proveStep,
  async () => (await import("./undo.ts")).undoStep,
  async () => (await import("./hooks.ts")).notifyStep,
];

/** One thing that happens after a publish. It returns what the next one must know. */
export interface AfterStep {
  readonly name: string;
  readonly run: (publication: Publication) => Promise<Publication>;
}

/** What was published, and what steps found so far. */
export interface Publication {
  readonly context: AfterContext;
  readonly project: Project;
  /** The lists that the run selected. */
  readonly lists: readonly ListConfig[];
  /** With what was published last: a list may have been rolled back. A list that was refused or failed stays so. */
  readonly outcome: BuildOutcome;
  /** The lists as hooks of states see them: one that was rolled back is refused. */
  readonly states: readonly ListOutcome[];
  /** Resolvers by list that were asked, and do not answer from it: hooks that reload them run again. */
  readonly reloadAgain: ReadonlyMap<string, ReadonlySet<string>>;
  /** Lists that resolvers must answer from. */
  readonly resolved: readonly ListBefore[];
  /** Asks the resolvers that load a list, from before hooks reload them until they are proved. */
  readonly watch?: AnswerWatch | undefined;
  /** Of the resolvers that were asked. */
  readonly proofs: readonly Proof[];
  /** Whether every step was done, and every resolver that was asked answers from the list that the build made. */
  readonly isProved: boolean;
  /** Lists that must go back to an earlier build. */
  readonly undoings: readonly Undoing[];
}

export interface AfterContext extends BuildContext {
  /** How long a resolver may take to load a list; undefined if none is asked. */
  readonly waitMs?: number | undefined;
  readonly limits?: ClientLimits | undefined;
}

/** What is left of a publication for the one who asked for it. */
export type Aftermath = Pick<Publication, "outcome" | "proofs" | "isProved">;

/** Does what follows a publish. Without permission for hooks, notes that there are some, if a list was compiled or published. */
export async function afterPublish(
  outcome: BuildOutcome,
  context: AfterContext,
): Promise<Aftermath> {
  const nothing = { outcome, proofs: [], isProved: true };
  const { options, emit } = context;
  const mayRun = options.permit.includes("hooks");
  const isNews = outcome.lists.some(({ isCached, status }) => !isCached && status !== "held");
  if (outcome.status === "interrupted" || options.inputs.length > 0 || !(mayRun || isNews))
    return nothing;
  const opened = await openedProject(context, mayRun);
  // Which hooks and resolvers there are is unknown.
  if (opened === undefined) return { ...nothing, isProved: !mayRun };
  const hooks = opened.project.config.after ?? [];
  if (!mayRun) {
    const { hint } = codeEntry("hooks-skipped");
    const message = `${countText(hooks.length, "hook")} skipped`;
    const diagnostic = { code: "hooks-skipped", severity: "note", message, hint } as const;
    if (hooks.length > 0) emit({ kind: "diagnostic", diagnostic });
    return nothing;
  }
  let publication: Publication = {
    ...nothing,
    ...opened,
    context,
    states: outcome.lists,
    reloadAgain: new Map(),
    resolved: [],
    undoings: [],
  };
  try {
    for (const load of STEPS) publication = await (await load()).run(publication);
  } catch (error) {
    // A newer program wrote what a step must know.
    if (!(error instanceof CompilerError)) throw error;
    for (const diagnostic of error.diagnostics) emit({ kind: "diagnostic", diagnostic });
    // Resolvers may not have loaded the list, and were not asked.
    publication = { ...publication, isProved: false };
  } finally {
    await publication.watch?.stop();
  }
  return publication;
}

/** Undefined if the configuration is invalid or missing: a plan is applied without it. Says so if its hooks were to run. */
async function openedProject(
  { options, host, emit }: AfterContext,
  mayRun: boolean,
): Promise<Pick<Publication, "project" | "lists"> | undefined> {
  const { openProject } = await import("../builder/plan/project.ts");
  try {
    return await openProject(options, host);
  } catch (error) {
    if (!(error instanceof CompilerError)) throw error;
    if (!mayRun) return undefined;
    const skipped = warningOf("hooks-skipped", "Hooks skipped: the configuration cannot be used", {
      hint: "Correct it; the next run makes up for them",
    });
    for (const diagnostic of [...error.diagnostics, skipped])
      emit({ kind: "diagnostic", diagnostic });
    return undefined;
  }
}

/** The context of a build that asks resolvers: also before another list is published. */
export function withQuestion(context: AfterContext): AfterContext {
  if (!context.options.permit.includes("hooks")) return context;
  const beforePublish: BuildContext["beforePublish"] = async (plan, canary) => {
    const { askBefore } = await import("./prove.ts");
    await askBefore(plan, canary, context);
  };
  return { ...context, beforePublish };
}
