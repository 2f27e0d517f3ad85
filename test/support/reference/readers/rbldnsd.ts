import type { BlockTest, FormatFiles } from "../format-files.ts";
import { withAncestors } from "../names.ts";
import { RefusedFile, linesOf } from "./lines-of.ts";

/** rbldnsd(8), dnset: `name` alone, `*.name` what is below it, `.name` both; `!` excludes. The closest entry counts. */
export function readRbldnsd({ block }: FormatFiles): BlockTest {
  const own = new Map<string, boolean>();
  const below = new Map<string, boolean>();
  for (const line of linesOf(block, "#")) {
    if (line.startsWith(":")) continue;
    const { not, mark, name } =
      /^(?<not>!?)(?<mark>\*\.|\.)?(?<name>[a-z0-9_-][a-z0-9_.-]*)$/.exec(line)?.groups ?? {};
    if (name === undefined) throw new RefusedFile(line);
    const isListed = not === "";
    // Of two entries for the same names the exclusion wins.
    if (mark !== "*.") own.set(name, isListed && own.get(name) !== false);
    if (mark !== undefined) below.set(name, isListed && below.get(name) !== false);
  }
  return (name) => {
    const self = own.get(name);
    if (self !== undefined) return self;
    const parent = withAncestors(name)
      .slice(1)
      .find((one) => below.has(one));
    return parent !== undefined && below.get(parent) === true;
  };
}
