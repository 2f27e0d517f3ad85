import { someOf } from "../diagnostics/some-of.ts";
import { type ImportedList, type ConfigReader, type Row, nameOf } from "./imported-config.ts";
import { PiholeGroups } from "./pihole-groups.ts";

/** What `type` means in its table of domains. */
const DOMAIN = { allowed: 0, blocked: 1, allowedRegex: 2, blockedRegex: 3 } as const;

/** Pi-hole's `gravity.db`: subscribed lists, groups of clients, and the user's names. */
export const pihole: ConfigReader = async ({ table }) => {
  const subscribed = await table?.("adlist");
  if (table === undefined || subscribed === undefined) return undefined;
  const groups = await PiholeGroups.read(table);
  const lists = subscribed.map((row) => ({
    ...listOf(row, groups.of("adlist", row)),
    isAllow: row["type"] === 1,
  }));
  const domains = ((await table("domainlist")) ?? []).filter(({ enabled }) => enabled === 1);
  const usual = domains.filter((row) => groups.isUsual("domainlist", row));
  const of = (type: number): string[] =>
    usual.filter((row) => row["type"] === type).map(({ domain }) => String(domain));
  const allowedRegexes = of(DOMAIN.allowedRegex);
  const others = domains.length - usual.length;
  return {
    software: "Pi-hole",
    lists: lists.filter(({ isAllow }) => !isAllow),
    allowLists: lists.filter(({ isAllow }) => isAllow),
    userRules: [
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
): ImportedList {
  const source = String(address);
  const name = typeof comment === "string" && comment !== "" ? comment : nameOf(source);
  const isOn = enabled !== 0 && groups?.length !== 0;
  return { name, source, type: "hosts", isOn, ...(groups === undefined ? {} : { groups }) };
}

/** Whether groups have different lists. */
function hasDifferences(lists: readonly ImportedList[], groups: readonly string[]): boolean {
  const on = lists.filter(({ isOn }) => isOn);
  return on.some((list) => groups.some((group) => list.groups?.includes(group) === false));
}
