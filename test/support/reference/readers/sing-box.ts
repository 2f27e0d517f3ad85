import type { BlockTest, FormatFiles } from "../format-files.ts";
import { withAncestors } from "../names.ts";
import { RefusedFile } from "./lines-of.ts";

/**
 * sing-box since 1.10: `domain` for a name alone; `domain_suffix` for a name with all below it, or with a leading dot for what is below it.
 * The rule for the exceptions stands first. A rule without conditions, or with unknown ones, is refused.
 */
export function readSingBox({ block, allow }: FormatFiles): BlockTest {
  const isBlocked = testOf(block);
  const isAllowed = testOf(allow);
  return (name) => !isAllowed(name) && isBlocked(name);
}

function testOf(text: string): BlockTest {
  const { version, rules, ...others } = JSON.parse(text) as { version: number; rules: unknown[] };
  if (version !== 2 || rules.length !== 1 || Object.keys(others).length > 0)
    throw new RefusedFile(text.slice(0, 100));
  const { domain, domain_suffix: suffixes, ...more } = rules[0] as Record<string, string[]>;
  if (Object.keys(more).length > 0 || domain!.length + suffixes!.length === 0)
    throw new RefusedFile(text.slice(0, 100));
  for (const one of [...domain!, ...suffixes!])
    if (!/^\.?[a-z0-9_-]+(?:\.[a-z0-9_-]+)*$/.test(one)) throw new RefusedFile(one);
  const names = new Set(domain);
  const trees = new Set(suffixes);
  return (name) =>
    names.has(name) ||
    withAncestors(name).some(
      (parent) => trees.has(parent) || (parent !== name && trees.has(`.${parent}`)),
    );
}
