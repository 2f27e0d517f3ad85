import type { BlockTest, FormatFiles } from "../format-files.ts";
import { ListMatcher } from "../list-matcher.ts";
import { withAncestors } from "../names.ts";

interface NameEntry {
  readonly name: string;
  readonly scope: "exact" | "subtree" | "below";
  /** `none`: nothing is said of the name, whatever a parent says. */
  readonly action: "block" | "allow" | "none";
  readonly important?: boolean;
}

/**
 * Our own document: names with scope and action, of which the closest counts; then rules as they are. The strongest of that
 * entry and of the rules that match decides: an important exception, an important block, an exception, a block.
 */
export function readJson({ block }: FormatFiles): BlockTest {
  const { rules } = JSON.parse(block) as { rules: (NameEntry | { rule: string })[] };
  const entries = new Map<string, NameEntry[]>();
  const texts: string[] = [];
  for (const entry of rules)
    if ("rule" in entry) texts.push(entry.rule);
    else entries.set(entry.name, [...(entries.get(entry.name) ?? []), entry]);
  return (name) => {
    const entry = closestEntry(entries, name);
    const own = entry === undefined || entry.action === "none" ? [] : [ruleOf(entry, name)];
    return new ListMatcher([...texts, ...own]).meaning(name) === "blocked";
  };
}

/** The entry as a rule for this name. */
function ruleOf({ action, important }: NameEntry, name: string): string {
  return `${action === "allow" ? "@@" : ""}||${name}^${important === true ? "$important" : ""}`;
}

function closestEntry(
  entries: ReadonlyMap<string, readonly NameEntry[]>,
  name: string,
): NameEntry | undefined {
  for (const parent of withAncestors(name)) {
    const other = parent === name ? "below" : "exact";
    const entry = (entries.get(parent) ?? []).find(({ scope }) => scope !== other);
    if (entry !== undefined) return entry;
  }
  return undefined;
}
