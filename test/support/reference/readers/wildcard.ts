import type { BlockTest, FormatFiles } from "../format-files.ts";
import { withAncestors } from "../names.ts";
import { RefusedFile, linesOf } from "./lines-of.ts";

/** `*.name` for a name and all below it. */
export function readWildcard({ block }: FormatFiles): BlockTest {
  const parents = new Set<string>();
  for (const line of linesOf(block, "#")) {
    if (!line.startsWith("*.")) throw new RefusedFile(line);
    parents.add(line.slice(2));
  }
  return (name) => withAncestors(name).some((parent) => parents.has(parent));
}
