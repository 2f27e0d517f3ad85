import {
  type ImportedList,
  type ConfigReader,
  nameOf,
  recordsIn,
  textsIn,
} from "./imported-config.ts";

/** `AdGuardHome.yaml`: `filters`, `whitelist_filters`, `user_rules`. */
export const adguardHome: ConfigReader = ({ tree }) => {
  const setup = tree as Record<string, unknown> | undefined;
  if (setup === undefined || !("filters" in setup || "user_rules" in setup)) return undefined;
  const lists = (key: string): ImportedList[] =>
    recordsIn(setup[key]).flatMap(({ url, name, enabled }) =>
      typeof url === "string" && url !== ""
        ? [
            {
              name: typeof name === "string" && name !== "" ? name : nameOf(url),
              source: url,
              type: "adblock" as const,
              isOn: enabled !== false,
            },
          ]
        : [],
    );
  return {
    software: "AdGuard Home",
    lists: lists("filters"),
    allowLists: lists("whitelist_filters"),
    userRules: textsIn(setup["user_rules"]),
    allow: [],
    notes: [],
  };
};
