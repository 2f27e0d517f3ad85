import { slugOf } from "../engine/slug.ts";
import type { Host } from "../host/host.ts";
import { recordFolder } from "../record/record-folder.ts";
import type { ListPlan } from "./list-plan.ts";

/** The folder for the state of a server with these lists. */
export function stateFolder(plans: readonly ListPlan[], host: Host): string {
  return recordFolder(plans.flatMap(({ files }) => files)[0]!.path, host);
}

/** Paths of the build reports, one per list. */
export function reportFiles(plans: readonly ListPlan[], folder: string, host: Host): string[] {
  if (plans.length === 1) return [host.path.join(folder, "report.html")];
  const slugs = plans.map(({ list }) => slugOf(list.config.name));
  return slugs.map((slug) => host.path.join(folder, "reports", `${slug}.report.html`));
}
