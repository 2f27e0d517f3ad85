import type { BlockTest, FormatFiles } from "../format-files.ts";
import { withAncestors } from "../names.ts";
import { RefusedFile, linesOf } from "./lines-of.ts";

/** Pi-hole 6: `||name^` with all below it, plain names alone. What the subscribed allow-list has is never blocked. */
export function readPihole({ block, allow }: FormatFiles): BlockTest {
  const isBlocked = testOf(block, "||");
  const isAllowed = testOf(allow, "@@||");
  return (name) => !isAllowed(name) && isBlocked(name);
}

function testOf(text: string, mark: string): BlockTest {
  const entries = new Set(linesOf(text, "#"));
  for (const entry of entries) {
    const isRule = entry.startsWith(mark) && entry.endsWith("^");
    const name = isRule ? entry.slice(mark.length, -1) : entry;
    if (!/^[a-z0-9_.-]+$/.test(name)) throw new RefusedFile(entry);
  }
  return (name) =>
    entries.has(name) || withAncestors(name).some((parent) => entries.has(`${mark}${parent}^`));
}
