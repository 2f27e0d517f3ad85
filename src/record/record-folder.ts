import type { Host } from "../host/host.ts";

/** The folder for what is known of the lists in a folder: beside them. */
export function recordFolder(list: string, host: Pick<Host, "path">): string {
  return host.path.join(host.path.dirname(list), ".rules-compiler");
}
