import { decodeUtf8 } from "../bytes/utf8.ts";
import type { ProjectOptions } from "../build/build-options.ts";
import type { BuildOutcome } from "../build/build-outcome.ts";
import { Conditions } from "../build/state/conditions.ts";
import { openProject } from "../build/project.ts";
import { durationMs } from "../config/duration.ts";
import type { HookConfig } from "../config/config.ts";
import type { HookEvent } from "../config/hook-fields.ts";
import { codeEntry } from "../diagnostics/codes.ts";
import { CompilerError, type Diagnostic, warningOf } from "../diagnostics/diagnostic.ts";
import { countText } from "../diagnostics/number-text.ts";
import { printable } from "../diagnostics/printable.ts";
import { type Host, HostError } from "../host/host.ts";
import { type Told, dueStates, isPublishDue } from "./due-events.ts";
import { type ResolverState, lastProofs } from "../resolvers/last-proofs.ts";
import { HookFailure } from "./hook-failure.ts";
import { messageOf } from "./hook-message.ts";
import { HookState, hookKey } from "./hook-state.ts";
import { type FinishedList, factsOf, finishedList } from "./list-facts.ts";
import { runHook, titleOf } from "./run-hook.ts";

/** What hooks run for: files that were published, or states that changed. Resolvers are asked between the two. */
export type HookPhase = "published" | "state";

export interface HookContext {
  readonly options: ProjectOptions;
  /** Whether hooks may run. */
  readonly isAllowed: boolean;
  readonly phase: HookPhase;
  /** Lists that resolvers do not answer from: hooks that reload run again. */
  readonly reloadAgain?: ReadonlySet<string>;
  readonly host: Host;
  readonly signal: AbortSignal;
  readonly report: (diagnostic: Diagnostic) => void;
}

interface Known {
  readonly list: FinishedList;
  readonly state: HookState;
}

const DEFAULT_MS = 60_000;

/** Runs the hooks of a configuration that are due after a build. A hook that fails is a warning, nothing more. */
export async function afterBuild(outcome: BuildOutcome, context: HookContext): Promise<void> {
  const { options, isAllowed, host, signal } = context;
  if (outcome.status === "interrupted" || options.inputs.length > 0) return;
  // Saves most runs from reading the configuration twice.
  if (!isAllowed && !(await mayHaveHooks(options, host))) return;
  const { hooks, folder, resolvers } = await hooksOf(options, host);
  if (hooks.length === 0) return;
  if (!isAllowed) return context.report(skipped(hooks.length));
  const { combined = [] } = outcome;
  const known: Known[] = [];
  const keys = await Promise.all(hooks.map(hookKey));
  for (const one of outcome.lists) {
    // A first list that lacks sources must not replace what a resolver has.
    if (one.isIncomplete === true) continue;
    const list = await finishedList(one, { resolvers, combined }, options, host);
    if (list === undefined) continue;
    const state = await HookState.open(list.path, host);
    state.keepOnly(keys);
    known.push({ list: { ...list, now: await state.complete(list.now) }, state });
  }
  const hooksRun = new HooksRun(known, folder, context);
  for (const [index, hook] of hooks.entries())
    if (!signal.aborted) await hooksRun.run(hook, keys[index]!);
  await hooksRun.end();
}

async function mayHaveHooks({ configPath }: ProjectOptions, host: Host): Promise<boolean> {
  try {
    const text = decodeUtf8(await host.readFile(host.path.resolve(host.cwd, configPath)));
    return text.includes("after");
  } catch (error) {
    if (error instanceof HostError) return false;
    throw error;
  }
}

async function hooksOf(
  options: ProjectOptions,
  host: Host,
): Promise<{
  readonly hooks: readonly HookConfig[];
  readonly folder: string;
  readonly resolvers: readonly ResolverState[];
}> {
  try {
    const { project, lists } = await openProject({ ...options, filter: [] }, host);
    const hooks = project.config.after ?? [];
    const resolvers = hooks.length === 0 ? [] : await lastProofs(lists, options, host);
    return { hooks, folder: project.folder, resolvers };
  } catch (error) {
    // The file changed after the build read it; the next run reports its problems.
    if (error instanceof CompilerError) return { hooks: [], folder: "", resolvers: [] };
    throw error;
  }
}

function skipped(count: number): Diagnostic {
  const { hint } = codeEntry("hooks-skipped");
  const message = `${countText(count, "hook")} skipped`;
  return { code: "hooks-skipped", severity: "note", message, hint };
}

/** The hooks of one run, one after the other. */
class HooksRun {
  private readonly known: readonly Known[];
  private readonly folder: string;
  private readonly context: HookContext;
  private readonly failures = new Map<FinishedList, Diagnostic[]>();

  constructor(known: readonly Known[], folder: string, context: HookContext) {
    this.known = known;
    this.folder = folder;
    this.context = context;
  }

  /** Reports failures that earlier runs did not report, and that hooks run again. */
  async end(): Promise<void> {
    const { host, phase, report } = this.context;
    const finder = phase === "published" ? "hooks" : "state-hooks";
    for (const { list } of this.known) {
      const diagnostics = this.failures.get(list) ?? [];
      const found = { finder, diagnostics } as const;
      for (const one of await new Conditions(list.path, host).settle(found)) report(one);
    }
  }

  private failed(list: FinishedList): Diagnostic[] {
    const known = this.failures.get(list) ?? [];
    this.failures.set(list, known);
    return known;
  }

  /** Runs a hook for every list and event that it does not know yet; a reload once for all of them. */
  async run(hook: HookConfig, key: string): Promise<void> {
    const due = this.known.map((one) => ({ ...one, events: this.eventsOf(hook, key, one) }));
    let hasReloaded: boolean | undefined;
    for (const { list, state, events } of due) {
      let isDone = true;
      for (const event of events) {
        if (this.context.signal.aborted) return;
        if (hook.reload === undefined) isDone = (await this.once(hook, event, list)) && isDone;
        else isDone = hasReloaded ??= await this.once(hook, event, list);
      }
      // A hook that failed still does not know, so the next run tries again.
      if (isDone) await state.set(key, this.learned(state.get(key), list.now));
    }
  }

  /** What a hook knows after this phase. */
  private learned(told: Told | undefined, { files, ...states }: Told): Told {
    const { files: known, ...before } = told ?? { health: "good" };
    if (this.context.phase === "published")
      return { ...before, ...(files !== undefined && { files }) };
    return { ...states, ...(known !== undefined && { files: known }) };
  }

  private eventsOf(hook: HookConfig, key: string, { list, state }: Known): HookEvent[] {
    const { phase, reloadAgain } = this.context;
    const { on = ["published"], as, reload } = hook;
    const told = state.get(key);
    const { health } = list.now;
    if (as === "healthchecks")
      return phase === "state" ? [health === "good" ? "published" : health] : [];
    if (phase === "state") return dueStates(told, list.now).filter((event) => on.includes(event));
    const isAgain = reload !== undefined && reloadAgain?.has(list.outcome.list) === true;
    const isDue = isPublishDue(told, list.now) || isAgain;
    return isDue && on.includes("published") ? ["published"] : [];
  }

  private async once(hook: HookConfig, event: HookEvent, list: FinishedList): Promise<boolean> {
    const { host, signal, report } = this.context;
    const timeoutMs = durationMs(hook.timeout ?? "") ?? DEFAULT_MS;
    const title = `${titleOf(hook)}, ${event}, ${printable(list.outcome.list, 80)}`;
    const began = host.now().getTime();
    try {
      const message = messageOf(event, await factsOf(list, host));
      const setting = { host, signal, timeoutMs, folder: this.folder };
      const printed = await runHook(hook, message, setting);
      const seconds = ((host.now().getTime() - began) / 1000).toFixed(1);
      const output = printed === "" ? "" : `; it printed: ${printed}`;
      const text = `Hook ran: ${title}, ${seconds} s${output}`;
      report({ code: "hook-ran", severity: "note", message: text });
      return true;
    } catch (error) {
      if (!(error instanceof HookFailure)) throw error;
      const { hint } = codeEntry("hook-failed");
      const cause = error.message;
      const found = warningOf("hook-failed", `Hook failed: ${title}`, {
        cause,
        hint,
        subject: titleOf(hook),
      });
      this.failed(list).push(found);
      return false;
    }
  }
}
