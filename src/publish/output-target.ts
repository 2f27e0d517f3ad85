import type { Host } from "../host/host.ts";

/** What the path of an output refers to, after following links. */
export type OutputTarget = "file" | "folder" | "stdout" | "nowhere" | "other";

export const NOWHERE = "/dev/null";
const STDOUT = /^\/(?:dev\/stdout|(?:dev|proc\/(?:self|thread-self|\d+))\/fd\/1)$/;
/** Links in these folders refer to open files of a process, whatever name they show. */
const OPEN_FILES = /^\/(?:dev\/fd|proc)\//;
const MOST_LINKS = 40;

/** A path that does not exist, and a dangling link, count as a file. */
export async function outputTarget(output: string, host: Host): Promise<OutputTarget> {
  let path = output;
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
