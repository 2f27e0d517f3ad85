import type { BlockTest, FormatFiles } from "../format-files.ts";
import { ListMatcher } from "../list-matcher.ts";
import { withAncestors } from "../names.ts";

interface NameEntry {
  readonly name: string;
  readonly scope: "exact" | "subtree" | "below";
  readonly action: "block" | "allow";
}

/**
 * Our own document: names with scope and action, of which the closest counts; then rules as they are. A careful program
 * lets a name pass when either of the two lets it pass.
 */
export function readJson({ block }: FormatFiles): BlockTest {
  const { rules } = JSON.parse(block) as { rules: (NameEntry | { rule: string })[] };
  const entries = new Map<string, NameEntry[]>();
  const texts: string[] = [];
  for (const entry of rules)
    if ("rule" in entry) texts.push(entry.rule);
    else entries.set(entry.name, [...(entries.get(entry.name) ?? []), entry]);
  const others = new ListMatcher(texts);
  return (name) => {
    const action = closestAction(entries, name);
    const meaning = others.meaning(name);
    if (action === "allow" || meaning === "allowed") return false;
    return action === "block" || meaning === "blocked";
  };
}

function closestAction(
  entries: ReadonlyMap<string, readonly NameEntry[]>,
  name: string,
): NameEntry["action"] | undefined {
  for (const parent of withAncestors(name)) {
    const other = parent === name ? "below" : "exact";
    const entry = (entries.get(parent) ?? []).find(({ scope }) => scope !== other);
    if (entry !== undefined) return entry.action;
  }
  return undefined;
}
