import { printable } from "../diagnostics/printable.ts";
import { someOf } from "../diagnostics/some-of.ts";
import { nearest } from "../diagnostics/suggest.ts";
import type { Config } from "./config.ts";

/** Every list is a bit of a number with a sign. */
export const MOST_COMBINED_LISTS = 31;

/** Problems of `combined` in a configuration that is otherwise valid. */
export function combinedProblems({
  combined = [],
  lists,
}: Config): { message: string; hint?: string }[] {
  if (combined.length === 0) return [];
  if (lists === undefined)
    return [
      { message: "combined needs several lists", hint: "Add `lists`, or use `outputs` instead" },
    ];
  const names = lists.map(({ name }) => name);
  const problems: { message: string; hint?: string }[] = [];
  for (const [index, { lists: wanted = names, file }] of combined.entries()) {
    const at = `combined[${index}]`;
    for (const name of wanted) {
      if (names.includes(name)) continue;
      const meant = nearest(name, names);
      problems.push({
        message: `${at} has the list ${printable(name, 80)}, which does not exist`,
        hint:
          meant === undefined
            ? `Lists: ${someOf(names.map((one) => printable(one, 60)))}`
            : `Did you mean "${printable(meant, 80)}"?`,
      });
    }
    if (new Set(wanted).size !== wanted.length)
      problems.push({ message: `${at} has a list twice`, hint: "Name every list once" });
    if (wanted.length > MOST_COMBINED_LISTS)
      problems.push({
        message: `${at} has ${wanted.length} lists; at most ${MOST_COMBINED_LISTS} are possible`,
        hint: "Write several entries with fewer lists",
      });
    if (combined.findIndex((one) => one.file === file) !== index)
      problems.push({ message: `${at} has the file of another entry: ${printable(file, 80)}` });
  }
  return problems;
}
