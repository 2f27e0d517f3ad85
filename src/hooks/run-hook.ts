import type { HookConfig } from "../config/config.ts";
import { printable } from "../diagnostics/printable.ts";
import type { HookMessage } from "./hook-message.ts";
import type { HookSetting } from "./hook-setting.ts";
import { postMessage } from "./post-message.ts";
import { RELOAD_PRESETS } from "./reload-presets.ts";
import { runHookProgram } from "./run-program.ts";

/** Runs a hook; returns what it printed. Rejects with a `HookFailure`. */
export async function runHook(
  hook: HookConfig,
  message: HookMessage,
  setting: HookSetting,
): Promise<string> {
  const { run, reload } = hook;
  if (run !== undefined) return await runHookProgram(run, message, setting);
  if (reload !== undefined) return await RELOAD_PRESETS[reload](hook, setting);
  await postMessage(hook, message, setting);
  return "";
}

/** Names a hook in messages: its arguments may be long or private, so they are left out. */
export function titleOf({ run, as, reload }: HookConfig): string {
  if (run !== undefined) return `run ${printable(run[0] ?? "", 80)}`;
  return reload === undefined ? (as === undefined ? "post" : `post ${as}`) : `reload ${reload}`;
}
