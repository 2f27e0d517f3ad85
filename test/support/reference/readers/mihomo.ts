import type { BlockTest, FormatFiles } from "../format-files.ts";
import { withAncestors } from "../names.ts";
import { RefusedFile, linesOf } from "./lines-of.ts";

/**
 * mihomo, `behavior: domain`: `+.name` with all below it, `name` alone, `.name` only what is below it. The rule for the
 * exceptions stands first.
 */
export function readMihomo({ block, allow }: FormatFiles): BlockTest {
  const isBlocked = testOf(block);
  const isAllowed = testOf(allow);
  return (name) => !isAllowed(name) && isBlocked(name);
}

function testOf(text: string): BlockTest {
  const entries = new Set(linesOf(text, "#"));
  for (const entry of entries)
    if (!/^(?:\+?\.)?[a-z0-9_-]+(?:\.[a-z0-9_-]+)*$/.test(entry)) throw new RefusedFile(entry);
  return (name) =>
    entries.has(name) ||
    withAncestors(name).some(
      (parent) => entries.has(`+.${parent}`) || (parent !== name && entries.has(`.${parent}`)),
    );
}
