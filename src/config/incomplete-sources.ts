import { someOf } from "../diagnostics/some-of.ts";
import type { ConfigNode } from "./config-node.ts";
import type { ConfigProblems } from "./config-problems.ts";

const FALLBACKS: Readonly<Record<string, string>> = {
  name: "Without a name, the URL or file is the label",
  type: "Without a type, a source is read as adblock",
};

/** One note for all, which `validate` shows. A source with an address alone is complete. */
export function reportIncomplete(
  items: readonly ConfigNode[],
  path: string,
  problems: ConfigProblems,
): void {
  const found = incompleteSources(items, path);
  if (found === undefined) return;
  const { message, hint, offset } = found;
  const { at } = problems.at(offset);
  // Omits the frame, because the line does not show the problem.
  const { frame: _, ...place } = at ?? { file: "" };
  const where = at === undefined ? {} : { at: place };
  problems.report(() => ({ code: "source-incomplete", severity: "note", message, hint, ...where }));
}

/** The message about sources without a name or a type, and the first such source, or undefined. */
function incompleteSources(
  items: readonly ConfigNode[],
  path: string,
): { readonly message: string; readonly hint: string; readonly offset: number } | undefined {
  const keys = Object.keys(FALLBACKS).filter((key) => items.some((item) => lacks(item, key)));
  const found = items.flatMap((item, index) =>
    keys.some((key) => lacks(item, key)) ? [{ item, label: `${path}[${index}]` }] : [],
  );
  if (found.length === 0) return undefined;
  const labels = found.map(({ label }) => label);
  const what =
    found.length === 1 ? `has no ${keys.join(" and no ")}` : `have no ${keys.join(" or no ")}`;
  return {
    message: `${someOf(labels)} ${what}`,
    hint: keys.map((key) => FALLBACKS[key]).join(". "),
    offset: found[0]!.item.offset,
  };
}

function lacks(item: ConfigNode, key: string): boolean {
  if (item.kind !== "object" || item.entries.length === 1) return false;
  return !item.entries.some((entry) => entry.key === key);
}
