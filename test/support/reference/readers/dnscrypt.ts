import type { BlockTest, FormatFiles } from "../format-files.ts";
import { withAncestors } from "../names.ts";
import { RefusedFile, linesOf } from "./lines-of.ts";

/** dnscrypt-proxy: `name` with all below it, `=name` alone; a name that is allowed is not looked up among the blocked. */
export function readDnscrypt({ block, allow }: FormatFiles): BlockTest {
  const isBlocked = testOf(block);
  const isAllowed = testOf(allow);
  return (name) => !isAllowed(name) && isBlocked(name);
}

function testOf(text: string): BlockTest {
  const entries = new Set(linesOf(text, "#"));
  for (const entry of entries) if (!/^=?[a-z0-9_.-]+$/.test(entry)) throw new RefusedFile(entry);
  return (name) =>
    entries.has(`=${name}`) || withAncestors(name).some((parent) => entries.has(parent));
}
