import { join, resolve } from "node:path";
import { slugOf } from "../engine/slug.ts";
import type { OutputFile } from "../publish/output-file.ts";
import { NOWHERE } from "../publish/output-target.ts";
import type { ProjectOptions } from "./build-options.ts";
import { isFolderName } from "./output-place.ts";

/** The files that a list of this name is written to; none when it goes to standard output, or nowhere. */
export function listFiles(
  name: string,
  { output, copyToRules, rulesDir }: ProjectOptions,
  cwd: string,
): OutputFile[] {
  const names: string[] = [];
  const file = `${slugOf(name)}.txt`;
  if (output !== undefined && output !== "-" && output !== NOWHERE)
    names.push(isFolderName(output) ? join(output, file) : output);
  if (output === undefined || copyToRules) names.push(join(rulesDir, file));
  // `-o` may name the file in the rules directory.
  const byPath = new Map(names.map((one) => [resolve(cwd, one), one]));
  return [...byPath].map(([path, one]) => ({ name: one, path }));
}
