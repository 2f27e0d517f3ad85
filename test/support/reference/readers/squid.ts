import type { BlockTest, FormatFiles } from "../format-files.ts";
import { withAncestors } from "../names.ts";
import { RefusedFile, linesOf } from "./lines-of.ts";

/**
 * squid, `dstdomain`: `.name` with all below it, `name` alone. The acl that allows is asked first. In one file no entry may
 * lie below another that covers it: squid warns, or refuses its whole configuration.
 */
export function readSquid({ block, allow }: FormatFiles): BlockTest {
  const isBlocked = testOf(block);
  const isAllowed = testOf(allow);
  return (name) => !isAllowed(name) && isBlocked(name);
}

function testOf(text: string): BlockTest {
  const entries = new Set(linesOf(text, "#"));
  for (const entry of entries) {
    const name = entry.replace(/^\./, "");
    if (!/^[a-z0-9_.-]+$/.test(name)) throw new RefusedFile(entry);
    for (const parent of withAncestors(name))
      if (`.${parent}` !== entry && entries.has(`.${parent}`))
        throw new RefusedFile(`${entry} is covered by .${parent}`);
  }
  return (name) =>
    entries.has(name) || withAncestors(name).some((parent) => entries.has(`.${parent}`));
}
