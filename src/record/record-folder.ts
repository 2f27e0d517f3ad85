import type { Host } from "../host/host.ts";

/** The folder for the records of lists, next to the lists. */
export function recordFolder(list: string, host: Pick<Host, "path">): string {
  return host.path.join(host.path.dirname(list), ".rules-compiler");
}
