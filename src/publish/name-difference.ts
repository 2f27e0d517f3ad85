import { HASH, LF, SPACE } from "../bytes/ascii.ts";
import { scratchOf } from "../engine/scratch.ts";
import type { Host } from "../host/host.ts";
import { LineDifference } from "./line-difference.ts";
import type { OutputPlan } from "./output-plan.ts";
import { publishedParts } from "./split-file.ts";

/** How many names of an output, which blocks names alone, come and go from one host to another. */
export async function nameDifference(
  { path }: Pick<OutputPlan, "path">,
  before: Host,
  after: Host,
): Promise<{ readonly added: number; readonly removed: number }> {
  const sides = {
    before: await publishedParts(path, before),
    after: await publishedParts(path, after),
  };
  const bytes = [...sides.before, ...sides.after].reduce((sum, part) => sum + part.length, 0);
  const difference = new LineDifference(() => scratchOf(after), bytes);
  try {
    for (const side of ["before", "after"] as const)
      for (const part of sides[side])
        eachName(part, (start, end) => difference.add(side, part, start, end));
    const { added, removed } = difference.changes();
    // A name may have a line for each kind of address.
    return { added: new Set(added).size, removed: new Set(removed).size };
  } finally {
    difference.close();
  }
}

/** The last word of every line that is not a comment. */
function eachName(bytes: Uint8Array, take: (start: number, end: number) => void): void {
  for (let start = 0; start < bytes.length;) {
    const next = bytes.indexOf(LF, start);
    const end = next === -1 ? bytes.length : next;
    if (end > start && bytes[start] !== HASH) {
      const space = bytes.subarray(start, end).lastIndexOf(SPACE);
      take(start + space + 1, end);
    }
    start = end + 1;
  }
}
