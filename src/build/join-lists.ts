import { printable } from "../diagnostics/printable.ts";
import { type JoinReport, joinDatabase } from "../publish/joined-database.ts";
import { outputFailed } from "../publish/output-failed.ts";
import type { OutputPlan } from "../publish/output-plan.ts";
import type { BuildContext } from "./build-context.ts";
import type { ListPlan } from "./list-plan.ts";

/** Joins the databases of lists that were built together. Rejects with a `CompilerError`. */
export async function joinLists(plans: readonly ListPlan[], context: BuildContext): Promise<void> {
  const names = plans.flatMap(({ list }) => [
    list.config.name,
    ...(list.project.config.lists ?? []).map(({ name }) => name),
  ]);
  await joinOutputs(
    plans.flatMap(({ outputs }) => outputs),
    context,
    new Set(names),
  );
}

/** The same for outputs of some lists; without the names of all lists, none is removed. */
export async function joinOutputs(
  outputs: readonly OutputPlan[],
  { host, emit }: Pick<BuildContext, "host" | "emit">,
  current?: ReadonlySet<string>,
): Promise<void> {
  for (const joined of Map.groupBy(outputs, ({ join }) => join?.path).values()) {
    const { join } = joined[0]!;
    if (join === undefined) continue;
    let report: JoinReport | undefined;
    try {
      report = await joinDatabase(join, joined, current, host);
    } catch (error) {
      throw outputFailed(`Cannot write ${printable(join.name)}`, error);
    }
    if (report !== undefined) emit({ kind: "joined", report });
  }
}
