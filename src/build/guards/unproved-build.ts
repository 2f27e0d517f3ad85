import { type Diagnostic, errorOf } from "../../diagnostics/diagnostic.ts";
import { momentText } from "../../diagnostics/moment-text.ts";
import { printable } from "../../diagnostics/printable.ts";
import { buildOf } from "../../syntax/canary-name.ts";
import type { BuildContext } from "../build-context.ts";
import { publishedCanary } from "../list-canary.ts";
import type { ListPlan } from "../list-plan.ts";
import { readUndone } from "../state/last-proof.ts";

/**
 * Refuses a list that was rolled back because a resolver did not answer from it. Without this, every run would publish the list
 * and roll it back again. A list with other rules is published.
 */
export async function unprovedBuild(
  plan: ListPlan,
  canary: string | undefined,
  { options, host }: Pick<BuildContext, "options" | "host">,
): Promise<Diagnostic[]> {
  const path = plan.files[0]?.path;
  if (canary === undefined || path === undefined || options.accept.includes("unproved-build"))
    return [];
  const build = buildOf(canary);
  const undone = (await readUndone(path, host)).find((one) => one.build === build);
  if (undone?.isRefused !== true) return [];
  // It was accepted, and is published.
  if ((await publishedCanary(path, host)) === canary) return [];
  const name = printable(plan.list.config.name);
  const when = momentText(Date.parse(undone.at));
  const message = `The build ${build} of ${name} was rolled back on ${when}; nothing has changed since`;
  return [errorOf("unproved-build", message, { cause: undone.reason })];
}
