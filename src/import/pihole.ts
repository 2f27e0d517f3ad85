import { someOf } from "../diagnostics/some-of.ts";
import { type ForeignList, type ForeignReader, nameOf } from "./foreign-setup.ts";
import { PiholeGroups, type Row } from "./pihole-groups.ts";

/** What `type` means in its table of domains. */
const DOMAIN = { allowed: 0, blocked: 1, allowedRegex: 2, blockedRegex: 3 } as const;

/** Pi-hole's `gravity.db`: subscribed lists, groups of clients, and the owner's own names. */
export const pihole: ForeignReader = async ({ rows }) => {
  if (rows === undefined) return undefined;
  const found = await rows("SELECT name FROM sqlite_master WHERE type IN ('table', 'view')");
  const tables = new Set(found.map(({ name }) => String(name)));
  if (!tables.has("adlist")) return undefined;
  const groups = await PiholeGroups.read(tables, rows);
  const subscribed = await rows("SELECT * FROM adlist ORDER BY id");
  const lists = subscribed.map((row) => ({
    ...listOf(row, groups.of("adlist", row)),
    isAllow: row["type"] === 1,
  }));
  const domains = tables.has("domainlist")
    ? await rows("SELECT * FROM domainlist WHERE enabled = 1 ORDER BY id")
    : [];
  const usual = domains.filter((row) => groups.isUsual("domainlist", row));
  const of = (type: number): string[] =>
    usual.filter((row) => row["type"] === type).map(({ domain }) => String(domain));
  const allowedRegexes = of(DOMAIN.allowedRegex);
  const others = domains.length - usual.length;
  return {
    software: "Pi-hole",
    lists: lists.filter(({ isAllow }) => !isAllow),
    allowLists: lists.filter(({ isAllow }) => isAllow),
    ownRules: [
      ...of(DOMAIN.blocked).map((name) => `|${name}^`),
      ...of(DOMAIN.blockedRegex).map((pattern) => `/${pattern}/`),
    ],
    allow: of(DOMAIN.allowed),
    notes: [
      ...(allowedRegexes.length > 0
        ? [`Allow rules with regular expressions are not imported: ${someOf(allowedRegexes)}`]
        : []),
      ...(others > 0
        ? [`Names of groups other than ${groups.usual} are not imported: ${others}`]
        : []),
    ],
    ...(hasDifferences(lists, groups.names) ? { groups: groups.names } : {}),
    formats: ["pihole"],
  };
};

function listOf(
  { address, comment, enabled }: Row,
  groups: readonly string[] | undefined,
): ForeignList {
  const source = String(address);
  const name = typeof comment === "string" && comment !== "" ? comment : nameOf(source);
  const isOn = enabled !== 0 && groups?.length !== 0;
  return { name, source, type: "hosts", isOn, ...(groups === undefined ? {} : { groups }) };
}

/** Whether there is a list that some group does not get. */
function hasDifferences(lists: readonly ForeignList[], groups: readonly string[]): boolean {
  const on = lists.filter(({ isOn }) => isOn);
  return on.some((list) => groups.some((group) => list.groups?.includes(group) === false));
}
