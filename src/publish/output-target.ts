import type { Host } from "../host/host.ts";

/** What an output's path leads to, links followed. */
export type OutputTarget = "file" | "folder" | "stdout" | "nowhere" | "other";

export const NOWHERE = "/dev/null";
const STDOUT = /^\/(?:dev\/stdout|(?:dev|proc\/(?:self|thread-self|\d+))\/fd\/1)$/;
/** Here, links lead to what a process has open, whatever name they show. */
const OPEN_FILES = /^\/(?:dev\/fd|proc)\//;
const MOST_LINKS = 40;

/** A path where nothing is yet, and a link that leads nowhere, count as a file. */
export async function outputTarget(place: string, host: Host): Promise<OutputTarget> {
  let path = place;
  for (let links = 0; links < MOST_LINKS; links++) {
    if (STDOUT.test(path)) return "stdout";
    if (path === NOWHERE) return "nowhere";
    if (OPEN_FILES.test(path)) return "other";
    const kind = await host.kindOf(path);
    if (kind !== "link") return kind ?? "file";
    const next = await host.readLink?.(path);
    if (next === undefined) return "file";
    path = host.path.resolve(host.path.dirname(path), next);
  }
  return "other";
}
