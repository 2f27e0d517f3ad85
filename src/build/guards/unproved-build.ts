import { type Diagnostic, errorOf } from "../../diagnostics/diagnostic.ts";
import { momentText } from "../../diagnostics/moment-text.ts";
import { printable } from "../../diagnostics/printable.ts";
import { buildOf } from "../../syntax/canary-name.ts";
import type { BuildContext } from "../build-context.ts";
import { publishedCanary } from "../list-canary.ts";
import type { ListPlan } from "../list-plan.ts";
import { exhaustedBuild } from "../state/last-proof.ts";

/**
 * Holds a build that was rolled back three times in a day because resolvers did not answer from it. Until then, every run tries it
 * again. A list with other rules is published.
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
  const undone = await exhaustedBuild(path, build, host);
  // It was accepted, and is published.
  if (undone === undefined || (await publishedCanary(path, host)) === canary) return [];
  const name = printable(plan.list.config.name);
  const [first] = undone.times;
  const times = `${undone.times.length} times since ${momentText(Date.parse(first!))}`;
  const message = `The build ${build} of ${name} was rolled back ${times}; it is tried again a day later`;
  return [errorOf("unproved-build", message, { cause: undone.reason })];
}
