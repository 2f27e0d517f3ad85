import { decodeUtf8 } from "../bytes/utf8.ts";
import type { ProjectOptions } from "../build/build-options.ts";
import type { BuildOutcome } from "../build/build-outcome.ts";
import { openProject } from "../build/project.ts";
import { durationMs } from "../config/duration.ts";
import type { HookConfig } from "../config/config.ts";
import type { HookEvent } from "../config/hook-fields.ts";
import { codeEntry } from "../diagnostics/codes.ts";
import { CompilerError, type Diagnostic, warningOf } from "../diagnostics/diagnostic.ts";
import { countText } from "../diagnostics/number-text.ts";
import { printable } from "../diagnostics/printable.ts";
import { type Host, HostError } from "../host/host.ts";
import { dueEvents } from "./due-events.ts";
import { HookFailure } from "./hook-failure.ts";
import { messageOf } from "./hook-message.ts";
import { HookState, hookKey } from "./hook-state.ts";
import { type FinishedList, factsOf, finishedList } from "./list-facts.ts";
import { runHook, titleOf } from "./run-hook.ts";

export interface HookContext {
  readonly options: ProjectOptions;
  /** Whether hooks may run. */
  readonly isAllowed: boolean;
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
  const { hooks, folder } = await hooksOf(options, host);
  if (hooks.length === 0) return;
  if (!isAllowed) return context.report(skipped(hooks.length));
  const known: Known[] = [];
  const keys = await Promise.all(hooks.map(hookKey));
  for (const one of outcome.lists) {
    const list = await finishedList(one, options, host);
    if (list === undefined) continue;
    const state = await HookState.open(list.path, host);
    state.keepOnly(keys);
    known.push({ list: { ...list, now: await state.complete(list.now) }, state });
  }
  const hooksRun = new HooksRun(known, folder, context);
  for (const [index, hook] of hooks.entries())
    if (!signal.aborted) await hooksRun.run(hook, keys[index]!);
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
): Promise<{ readonly hooks: readonly HookConfig[]; readonly folder: string }> {
  try {
    const { project } = await openProject({ ...options, filter: [] }, host);
    return { hooks: project.config.after ?? [], folder: project.folder };
  } catch (error) {
    // The file changed after the build read it; the next run reports its problems.
    if (error instanceof CompilerError) return { hooks: [], folder: "" };
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

  constructor(known: readonly Known[], folder: string, context: HookContext) {
    this.known = known;
    this.folder = folder;
    this.context = context;
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
      if (isDone) await state.set(key, list.now);
    }
  }

  private eventsOf(hook: HookConfig, key: string, { list, state }: Known): HookEvent[] {
    const { health } = list.now;
    if (hook.post?.as === "healthchecks") return [health === "good" ? "published" : health];
    const { on = ["published"] } = hook;
    return dueEvents(state.get(key), list.now).filter((event) => on.includes(event));
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
      report(warningOf("hook-failed", `Hook failed: ${title}`, { cause, hint }));
      return false;
    }
  }
}
