import type { BlockTest, FormatFiles } from "../format-files.ts";
import { withAncestors } from "../names.ts";

/** dnsdist: two sets of suffixes, every line one of them; the one that allows is asked first. */
export function readSuffixes({ block, allow }: FormatFiles): BlockTest {
  const blocked = suffixes(block);
  const allowed = suffixes(allow);
  return (name) => {
    const parents = withAncestors(name);
    return (
      !parents.some((parent) => allowed.has(parent)) &&
      parents.some((parent) => blocked.has(parent))
    );
  };
}

function suffixes(text: string): Set<string> {
  return new Set(text.split("\n").filter((line) => line !== ""));
}
