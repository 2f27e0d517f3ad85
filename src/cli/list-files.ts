import type { OutputFile } from "../publish/output-file.ts";
import { slugOf } from "../engine/slug.ts";
import { NOWHERE } from "../publish/output-target.ts";
import type { Host } from "../host/host.ts";
import type { Options } from "./flags/options.ts";
import { isFolderName } from "./output-place.ts";

/** The files that a list of this name is written to; none when it goes to standard output, or nowhere. */
export function listFiles(
  name: string,
  { output, writesToRules, rulesDir }: Options,
  host: Host,
): OutputFile[] {
  const names: string[] = [];
  const own = `${slugOf(name)}.txt`;
  if (output !== undefined && output !== "-" && output !== NOWHERE)
    names.push(isFolderName(output, host) ? host.path.join(output, own) : output);
  if (writesToRules) names.push(host.path.join(rulesDir, own));
  // `-o` may name the file in the rules directory.
  const byPath = new Map(names.map((file) => [host.path.resolve(host.cwd, file), file]));
  return [...byPath].map(([path, file]) => ({ name: file, path }));
}
