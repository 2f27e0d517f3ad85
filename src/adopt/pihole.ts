import { type ForeignList, type ForeignReader, nameOf } from "./foreign-setup.ts";

/** What `type` means in its table of domains. */
const DOMAIN = { allowed: 0, blocked: 1, allowedRegex: 2, blockedRegex: 3 } as const;

/** Pi-hole's `gravity.db`: subscribed lists and the owner's own names. */
export const pihole: ForeignReader = async ({ rows }) => {
  if (rows === undefined) return undefined;
  const found = await rows("SELECT name FROM sqlite_master WHERE type IN ('table', 'view')");
  const tables = new Set(found.map(({ name }) => name));
  if (!tables.has("adlist")) return undefined;
  const subscribed = await rows("SELECT * FROM adlist ORDER BY id");
  const lists = subscribed.map((row) => ({ ...listOf(row), isAllow: row["type"] === 1 }));
  const domains = tables.has("domainlist")
    ? await rows("SELECT type, domain FROM domainlist WHERE enabled = 1 ORDER BY id")
    : [];
  const of = (type: number): string[] =>
    domains.filter((row) => row["type"] === type).map(({ domain }) => String(domain));
  const allowedRegexes = of(DOMAIN.allowedRegex);
  return {
    software: "Pi-hole",
    lists: lists.filter(({ isAllow }) => !isAllow),
    allowLists: lists.filter(({ isAllow }) => isAllow),
    ownRules: [
      ...of(DOMAIN.blocked).map((name) => `|${name}^`),
      ...of(DOMAIN.blockedRegex).map((pattern) => `/${pattern}/`),
    ],
    allow: of(DOMAIN.allowed),
    notes:
      allowedRegexes.length > 0
        ? [`Regular expressions that allow are not taken over: ${allowedRegexes.join(", ")}`]
        : [],
  };
};

function listOf({ address, comment, enabled }: Record<string, unknown>): ForeignList {
  const source = String(address);
  const name = typeof comment === "string" && comment !== "" ? comment : nameOf(source);
  return { name, source, type: "hosts", isOn: enabled !== 0 };
}
