import type { FileChange } from "../explain/list-change.ts";
import type { Host } from "../host/host.ts";
import type { BuildContext } from "./build-context.ts";
import { writeCombined } from "./combined-outputs.ts";
import { planCombined } from "./combined-plan.ts";
import type { Project } from "./project.ts";

/** The files over several lists that would change with the lists in the shadow. */
export async function combinedChanges(
  project: Project,
  { options, signal }: BuildContext,
  shadow: Host,
): Promise<FileChange[]> {
  const plans = planCombined(project, options, shadow);
  const written = await writeCombined(plans, { options, host: shadow, signal, emit: () => {} });
  return written
    .filter(({ outcome }) => outcome === "written")
    .map(({ file, format }) => ({ file, ...(format !== undefined && { format }) }));
}
