import { printable } from "../diagnostics/printable.ts";
import { someOf } from "../diagnostics/some-of.ts";
import { nearest } from "../diagnostics/suggest.ts";
import type { CombinedConfig, Config } from "./config.ts";
import { networkOf, networkText } from "./network.ts";

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
    problems.push(...groupProblems(combined[index]!, wanted, at));
    if (combined.findIndex((one) => one.file === file) !== index)
      problems.push({ message: `${at} has the file of another entry: ${printable(file, 80)}` });
  }
  return problems;
}

/** Problems of the groups of clients. */
function groupProblems(
  { format, groups = [], include }: CombinedConfig,
  lists: readonly string[],
  at: string,
): { message: string; hint?: string }[] {
  if (format !== "bind-views")
    return groups.length > 0 || include !== undefined
      ? [
          {
            message: `${at} has groups or include, which ${format} does not use`,
            hint: "Remove it",
          },
        ]
      : [];
  const problems: { message: string; hint?: string }[] = [];
  if (groups.length === 0)
    problems.push({
      message: `${at} has no groups`,
      hint: "Add `groups` with `name` and `clients`",
    });
  const owners = new Map<string, string>();
  const names = new Set<string>();
  for (const { name, clients, lists: own = [] } of groups) {
    const which = `${at}: the group ${printable(name, 60)}`;
    if (!/^[a-z0-9-]{1,40}$/i.test(name))
      problems.push({ message: `${which} is not letters, digits and hyphens, at most 40` });
    if (names.has(name.toLowerCase())) problems.push({ message: `${which} exists twice` });
    if (name.toLowerCase() === "others")
      problems.push({
        message: `${which} has the name of the view for all other clients`,
        hint: "Give it another name",
      });
    names.add(name.toLowerCase());
    if (clients.length === 0)
      problems.push({ message: `${which} has no clients`, hint: "Such as 192.0.2.0/24" });
    for (const list of own.filter((one) => !lists.includes(one)))
      problems.push({
        message: `${which} has the list ${printable(list, 60)}, which the file does not have`,
        hint: `Lists: ${someOf(lists.map((one) => printable(one, 60)))}`,
      });
    for (const client of clients) {
      const network = networkOf(client);
      if (network === undefined) {
        const message = `${which} has ${printable(client, 60)}, which is not an address or a network`;
        problems.push({ message, hint: "Such as 192.0.2.0/24" });
        continue;
      }
      const text = networkText(network);
      if (owners.has(text)) problems.push({ message: `${which} has ${text} again` });
      owners.set(text, name);
    }
  }
  return problems;
}
