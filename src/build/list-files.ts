import type { Host } from "../host/host.ts";
import { slugOf } from "../engine/slug.ts";
import type { OutputFile } from "../publish/output-file.ts";
import { NOWHERE } from "../publish/output-target.ts";
import type { ProjectOptions } from "./build-options.ts";
import { isFolderName } from "./with-output-target.ts";

/** The files of a list with this name; empty if it goes to standard output or nowhere. */
export function listFiles(
  name: string,
  { output, copyToRules, rulesDir }: ProjectOptions,
  host: Pick<Host, "cwd" | "path">,
): OutputFile[] {
  const names: string[] = [];
  const file = `${slugOf(name)}.txt`;
  // First, because guards compare with it, and everything else is published beside it.
  if (output === undefined || copyToRules) names.push(host.path.join(rulesDir, file));
  if (output !== undefined && output !== "-" && output !== NOWHERE)
    names.push(isFolderName(output, host) ? host.path.join(output, file) : output);
  // `-o` may name the same file as the rules directory.
  const byPath = new Map(names.map((one) => [host.path.resolve(host.cwd, one), one]));
  return [...byPath].map(([path, one]) => ({ name: one, path }));
}
