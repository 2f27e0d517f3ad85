import {
  type ForeignList,
  type ForeignReader,
  nameOf,
  recordsIn,
  textsIn,
} from "./foreign-setup.ts";

/** `AdGuardHome.yaml`: `filters`, `whitelist_filters`, `user_rules`. */
export const adguardHome: ForeignReader = ({ tree }) => {
  const setup = tree as Record<string, unknown> | undefined;
  if (setup === undefined || !("filters" in setup || "user_rules" in setup)) return undefined;
  const lists = (key: string): ForeignList[] =>
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
    ownRules: textsIn(setup["user_rules"]),
    allow: [],
    notes: [],
  };
};
