import type { Host } from "../host/host.ts";
import type { BuildEvent } from "./build-event.ts";
import type { BuildOptions } from "./build-options.ts";
import type { ListPlan } from "./list-plan.ts";

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
