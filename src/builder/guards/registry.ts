import { CompilerError, type Diagnostic, errorOf } from "../../diagnostics/render.ts";
import { countText, numberText } from "../../diagnostics/text.ts";
import type { CompiledList } from "../../engine/report.ts";
import { trafficChange } from "../../explain/traffic.ts";
import type { ListPlan } from "../plan/list-plan.ts";
import type { BuildSession } from "../session.ts";
import { breaksTraffic, guardLogs } from "./breaks-traffic.ts";
import type { Guard, GuardContext } from "./guard.ts";
import { protectedNames } from "./protected.ts";
import { suffixes } from "./suffixes.ts";

export interface GuardVerdict {
  /** Errors that prevent publishing. */
  readonly violations: readonly Diagnostic[];
  readonly warnings: readonly Diagnostic[];
}

/** Compares a compiled list with the list that it would replace. A guard of queries needs the text of the list. */
export async function checkGuards(
  plan: ListPlan,
  { report, findings }: CompiledList,
  session: BuildSession,
  { last, text }: Pick<GuardContext, "last"> & { readonly text: Uint8Array | undefined },
): Promise<GuardVerdict> {
  const { options } = session;
  if (options.compat) return { violations: [], warnings: [] };
  const traffic = text === undefined ? undefined : await changedTraffic(plan, text, session);
  const found = guardList({ report, findings, limits: plan.guards, last, traffic }, options.accept);
  return {
    violations: found.filter(({ severity }) => severity === "error"),
    warnings: found.filter(({ severity }) => severity !== "error"),
  };
}

/** What a list changes for the queries in the logs of its guard. The first list has nothing to be compared with. */
async function changedTraffic(
  plan: ListPlan,
  bytes: Uint8Array,
  session: BuildSession,
): Promise<GuardContext["traffic"]> {
  const { host } = session;
  const path = plan.files[0]?.path;
  const logs = guardLogs(plan, session);
  if (logs === undefined || path === undefined || !(await host.exists(path))) return undefined;
  try {
    return await trafficChange({ bytes: await host.readFile(path) }, { bytes }, logs);
  } catch (error) {
    if (!(error instanceof CompilerError)) throw error;
    return error.diagnostics[0];
  }
}

/** Refuses a list without rules, or with fewer than the configuration demands. */
const minRules: Guard = ({ report: { rules }, limits }) => {
  if (rules >= limits.minRules) return [];
  const message = `The list would have ${countText(rules, "rule")}; at least ${numberText(limits.minRules)} are expected`;
  return [errorOf("too-few-rules", message)];
};

const guards: readonly Guard[] = [protectedNames, suffixes, minRules, breaksTraffic];

/** The findings of all guards, except accepted ones. An error prevents publishing. */
export function guardList(context: GuardContext, accept: readonly string[]): Diagnostic[] {
  const all = guards.flatMap((guard) => guard(context));
  return all.filter(({ code }) => !accept.includes(code));
}
