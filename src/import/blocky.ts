import {
  type ImportedList,
  type ConfigReader,
  type ImportedConfig,
  nameOf,
  textsIn,
} from "./imported-config.ts";

/** blocky's YAML: groups of lists under `blocking`, each an address, a path, or lines of its own. */
export const blocky: ConfigReader = ({ tree }) => {
  const blocking = (tree as Record<string, unknown> | undefined)?.["blocking"] as
    | Record<string, unknown>
    | undefined;
  if (typeof blocking !== "object" || blocking === null) return undefined;
  // Names of the settings before version 0.24.
  const deny = groupsOf(blocking["denylists"] ?? blocking["blackLists"]);
  const allow = groupsOf(blocking["allowlists"] ?? blocking["whiteLists"]);
  const setup: ImportedConfig = {
    software: "blocky",
    lists: deny.lists,
    allowLists: allow.lists,
    userRules: deny.inline,
    allow: allow.inline,
    notes:
      deny.groups > 1
        ? [
            "Groups of clients are blocky's; all lists become one. Several lists can be made with `lists`.",
          ]
        : [],
  };
  return setup.lists.length + setup.userRules.length === 0 ? undefined : setup;
};

/** An entry of several lines is an inline list, not an address. */
function isInline(entry: string): boolean {
  return entry.includes("\n");
}

function groupsOf(value: unknown): { lists: ImportedList[]; inline: string[]; groups: number } {
  const groups = Object.entries((value ?? {}) as Record<string, unknown>);
  const entries = groups.flatMap(([group, list]) =>
    textsIn(list).map((entry) => ({ group, entry })),
  );
  return {
    groups: groups.length,
    lists: entries
      .filter(({ entry }) => !isInline(entry))
      .map(({ group, entry }) => ({
        name: `${group}: ${nameOf(entry)}`,
        source: entry,
        type: "hosts",
        isOn: true,
      })),
    inline: entries
      .filter(({ entry }) => isInline(entry))
      .flatMap(({ entry }) => entry.split("\n"))
      .map((line) => line.trim())
      .filter((line) => line !== "" && !line.startsWith("#")),
  };
}
