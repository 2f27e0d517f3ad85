import type { Diagnostic } from "../../diagnostics/diagnostic.ts";
import type { CompiledList } from "../../engine/compiled-list.ts";
import type { BuildContext } from "../build-context.ts";
import type { ListPlan } from "../list-plan.ts";
import { readLastPublish } from "../state/last-publish.ts";
import { guardList } from "./registry.ts";

export interface Verdict {
  /** Errors that prevent publishing. */
  readonly violations: readonly Diagnostic[];
  readonly warnings: readonly Diagnostic[];
}

/** Compares a compiled list with the list that it would replace. */
export async function checkGuards(
  plan: ListPlan,
  { report, findings }: CompiledList,
  { options, host }: Pick<BuildContext, "options" | "host">,
): Promise<Verdict> {
  if (options.compat) return { violations: [], warnings: [] };
  const path = plan.files[0]?.path;
  const last = path === undefined ? undefined : await readLastPublish(path, host);
  const found = guardList({ report, findings, limits: plan.guards, last }, options.accept);
  return {
    violations: found.filter(({ severity }) => severity === "error"),
    warnings: found.filter(({ severity }) => severity !== "error"),
  };
}
