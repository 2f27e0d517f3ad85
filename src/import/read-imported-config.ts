import { decodeUtf8, encodeUtf8 } from "../bytes/text.ts";
import type { SourceType } from "../config/fields.ts";
import { type ConfigNode, ConfigSyntaxError } from "../config/problems.ts";
import { CompilerError, errorOf } from "../diagnostics/render.ts";
import {
  numberText,
  printable,
  reasonOf,
  someOf,
  withoutCredentials,
} from "../diagnostics/text.ts";
import { type Host, HostError } from "../host/host.ts";
import { foldedName, namesOfLine } from "../meaning/line.ts";
import {
  filterNames,
  hostsLine,
  isIpv4Text,
  isIpv6Text,
  isLocalName,
  readHostsLine,
} from "../syntax/hosts-line.ts";
import { readAllowEntry } from "../syntax/written-names.ts";
import {
  type ConfigReader,
  type GroupRules,
  type ImportedConfig,
  type ImportedList,
  type ReadTable,
  type Row,
  configOfLists,
  hostlistCompiler,
  nameOf,
  recordsIn,
  textsIn,
  withFiles,
  withUniqueNames,
} from "./hostlist-compiler.ts";
import { isAddress, isFetchable } from "../sources/limits.ts";

const SQLITE = "SQLite format 3\0";
const MAX_BYTES = 16 * 1024 * 1024;
/** More than users enter by hand. */
const MOST_ROWS = 250_000;

/** Reads the configuration of other software. Rejects with a `CompilerError`. */
export async function readImportedConfig(path: string, host: Host): Promise<ImportedConfig> {
  const shown = printable(path);
  const absolute = host.path.resolve(host.cwd, path);
  try {
    const isDatabase = await startsAsDatabase(absolute, host);
    if (!isDatabase && (await host.sizeOf(absolute)) > MAX_BYTES)
      throw new HostError("EFBIG", "is too large for a configuration");
    const text = isDatabase ? "" : decodeUtf8(await host.readFile(absolute));
    const table = isDatabase ? await queriedTables(absolute, host) : undefined;
    const file = {
      text,
      tree: isDatabase ? undefined : await treeOf(text, host.path.extname(path)),
      table,
    };
    for (const reader of configReaders) {
      const setup = await reader(file);
      if (setup !== undefined) return await tidied(setup);
    }
  } catch (error) {
    if (!(error instanceof HostError)) throw error;
    throw new CompilerError([
      errorOf("setup-unreadable", `Cannot read ${shown}`, {
        cause: reasonOf(error.code, error.message),
      }),
    ]);
  }
  throw new CompilerError([errorOf("setup-unknown", `${shown} has no lists in a known format`)]);
}

/** Makes names unique, removes `file://`, and replaces what cannot be imported by a note. */
async function tidied(setup: ImportedConfig): Promise<ImportedConfig> {
  const notes = [...setup.notes];
  const usable = (lists: readonly ImportedList[]): ImportedList[] =>
    withUniqueNames(
      lists
        .map((list) => ({ ...list, source: list.source.replace(/^file:\/\//i, "") }))
        .filter(({ source }) => {
          const isGood = !isAddress(source) || isFetchable(source);
          if (!isGood) notes.push(`Not the URL of a list: ${withoutCredentials(source)}`);
          return isGood && source !== "";
        }),
    );
  const allow = setup.allow.map((entry) => entry.replace(/\s+#.*$/, "").trim());
  const bad = allow.filter((entry) => readAllowEntry(entry) === undefined);
  if (bad.length > 0) notes.push(`Not imported, because they are not names: ${someOf(bad)}`);
  const checked = await withFiles(setup, usable);
  return {
    ...checked,
    lists: usable(checked.lists),
    userRules: setup.userRules.flatMap(withAddresses),
    allow: allow.filter((entry) => !bad.includes(entry)),
    notes,
  };
}

/** A hosts line with a real address says where its names are; as a rule, that meaning does not depend on who reads it. */
function withAddresses(line: string): string[] {
  if (!isHostsLine(line.trim()) || hostsLine.isSinkhole) return [line];
  const [address = ""] = line.trim().split(/\s/, 1);
  const names = namesOfLine(line).filter((name) => !isLocalName(name));
  const canAnswer = isIpv4Text(address) || isIpv6Text(address);
  return canAnswer ? names.map((name) => `|${foldedName(name)}^$dnsrewrite=${address}`) : [line];
}

async function startsAsDatabase(path: string, host: Host): Promise<boolean> {
  const file = await host.openFile(path);
  try {
    const bytes = new Uint8Array(SQLITE.length);
    return (await file.read(bytes, 0)) === bytes.length && decodeUtf8(bytes) === SQLITE;
  } finally {
    await file.close();
  }
}

async function queriedTables(path: string, host: Host): Promise<ReadTable> {
  if (host.queryDatabase === undefined)
    throw new HostError(
      "ENOTSUP",
      "this runtime cannot read SQLite; use Node, or export the lists",
    );
  const query = async (text: string): Promise<readonly Row[]> =>
    await host.queryDatabase!(path, text);
  // Views and virtual tables, which have no page, may compute for ever.
  const found = await query("SELECT name FROM sqlite_master WHERE type = 'table' AND rootpage > 0");
  const names = new Set(found.map(({ name }) => name));
  return async (name) => {
    if (!names.has(name)) return undefined;
    const rows = await query(`SELECT * FROM "${name}" ORDER BY 1 LIMIT ${MOST_ROWS + 1}`);
    if (rows.length > MOST_ROWS)
      throw new HostError("EFBIG", `${name} has more than ${numberText(MOST_ROWS)} rows`);
    return rows;
  };
}

/** The value of an object in YAML or JSON; undefined for anything else. */
async function treeOf(text: string, extension: string): Promise<unknown> {
  try {
    const json = /^\.jsonc?$/i.test(extension) || text.trimStart().startsWith("{");
    const node = json
      ? (await import("../config/json.ts")).parseJson(text, true)
      : (await import("../config/yaml.ts")).parseYaml(text);
    return node.kind === "object" ? valueOf(node) : undefined;
  } catch (error) {
    if (error instanceof ConfigSyntaxError) return undefined;
    throw error;
  }
}

function valueOf(node: ConfigNode): unknown {
  if (node.kind === "array") return node.items.map(valueOf);
  if (node.kind === "scalar") return node.value;
  const entries = node.entries.map(({ key, node: value }) => [key, valueOf(value)] as const);
  return Object.assign(Object.create(null) as object, Object.fromEntries(entries));
}

/** One address or path per line, as in Pi-hole's old `adlists.list`; comments are disabled lists. */
const addressList: ConfigReader = ({ text }) => {
  const lines = text.split(/\r?\n/).map((line) => line.trim());
  const lists = lines.flatMap((line) => {
    const [, mark, source] = /^(#?)\s*(https?:\/\/\S+)/i.exec(line) ?? [];
    return source === undefined
      ? []
      : [{ name: nameOf(source), source, type: "hosts" as const, isOn: mark === "" }];
  });
  return lists.length === 0 ? undefined : configOfLists("a list of URLs", lists);
};

/** `AdGuardHome.yaml`: `filters`, `whitelist_filters`, `user_rules`. */
const adguardHome: ConfigReader = ({ tree }) => {
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
    notes: notImported(setup),
  };
};

/** What AdGuard Home does besides its lists. Before version 0.107.37, it was in `dns`. */
function notImported(setup: Readonly<Record<string, unknown>>): string[] {
  const parts = [setup["filtering"], setup["dns"]].map(
    (part) => (part ?? {}) as Readonly<Record<string, unknown>>,
  );
  const rewrites = parts
    .flatMap(({ rewrites: all }) => recordsIn(all))
    .filter(({ enabled }) => enabled !== false)
    .flatMap(({ domain }) => textsIn([domain]));
  const services = parts.flatMap(({ blocked_services: all }) =>
    textsIn(Array.isArray(all) ? all : (all as { ids?: unknown } | null | undefined)?.ids),
  );
  return [
    ...(rewrites.length === 0
      ? []
      : [
          `DNS rewrites are not imported: ${someOf(rewrites)}. Write own rules, such as |nas.example^$dnsrewrite=192.168.1.2`,
        ]),
    ...(services.length === 0
      ? []
      : [`Blocked services are not imported: ${someOf(services)}. Keep them in AdGuard Home`]),
  ];
}

/** blocky's YAML: groups of lists under `blocking`, each an address, a path, or lines of its own. */
const blocky: ConfigReader = ({ tree }) => {
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

/** A hosts file, such as `/etc/hosts` or Pi-hole's `custom.list`: the addresses of the user's names. Names of every machine stay out. */
const hostsFile: ConfigReader = ({ text }) => {
  const lines = text.split(/\r?\n/).map((line) => line.replace(/#.*/, "").trim());
  const used = lines.filter((line) => line !== "");
  if (!used.every(isHostsLine)) return undefined;
  const userRules = used.flatMap((line) => filterNames(line, (name) => !isLocalName(name)) ?? []);
  return userRules.length === 0 ? undefined : { ...configOfLists("a hosts file", []), userRules };
};

function isHostsLine(line: string): boolean {
  const bytes = encodeUtf8(line);
  return readHostsLine(bytes, 0, bytes.length);
}

/** What `type` means in its table of domains. */
const DOMAIN = { allowed: 0, blocked: 1, allowedRegex: 2, blockedRegex: 3 } as const;

/** Pi-hole's `gravity.db`: subscribed lists, groups of clients, and the user's names. */
const pihole: ConfigReader = async ({ table }) => {
  const subscribed = await table?.("adlist");
  if (table === undefined || subscribed === undefined) return undefined;
  const groups = await PiholeGroups.read(table);
  const lists = subscribed.map((row) => ({
    ...listOf(row, groups.of("adlist", row)),
    isAllow: row["type"] === 1,
  }));
  const domains = ((await table("domainlist")) ?? []).filter(({ enabled }) => enabled === 1);
  const rulesOf = (group: string): GroupRules => {
    const own = domains.filter((row) => groups.has(group, "domainlist", row));
    return {
      userRules: [
        ...domainsOf(DOMAIN.blocked, own).map((name) => `|${name}^`),
        ...domainsOf(DOMAIN.blockedRegex, own).map((pattern) => `/${pattern}/`),
      ],
      allow: domainsOf(DOMAIN.allowed, own).filter((name) => readAllowEntry(name) !== undefined),
    };
  };
  const used = domains.filter((row) => groups.of("domainlist", row)?.length !== 0);
  const allowedRegexes = domainsOf(DOMAIN.allowedRegex, used);
  const isShared = used.every((row) =>
    groups.names.every((group) => groups.has(group, "domainlist", row)),
  );
  const others = groups.names.filter((group) => group !== groups.usual);
  return {
    software: "Pi-hole",
    lists: lists.filter(({ isAllow }) => !isAllow),
    allowLists: lists.filter(({ isAllow }) => isAllow),
    ...rulesOf(groups.usual),
    notes:
      allowedRegexes.length > 0
        ? [`Allow rules with regular expressions are not imported: ${someOf(allowedRegexes)}`]
        : [],
    ...((!isShared || hasDifferences(lists, groups.names)) && {
      groups: groups.names,
      groupRules: new Map(others.map((group) => [group, rulesOf(group)])),
    }),
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

function domainsOf(type: number, rows: readonly Row[]): string[] {
  return rows.filter((row) => row["type"] === type).map(({ domain }) => String(domain));
}

/** Whether groups have different lists. */
function hasDifferences(lists: readonly ImportedList[], groups: readonly string[]): boolean {
  const on = lists.filter(({ isOn }) => isOn);
  return on.some((list) => groups.some((group) => list.groups?.includes(group) === false));
}

/** Readers of all supported software; the first that recognises the file is used. */
const configReaders: readonly ConfigReader[] = [
  pihole,
  adguardHome,
  blocky,
  hostlistCompiler,
  // It may have URLs in its comments.
  hostsFile,
  addressList,
];

/** The default group of clients. */
const DEFAULT_GROUP = 0;

/** The groups of Pi-hole. Only enabled groups count. */
class PiholeGroups {
  /** The names of groups with lists, the default one first. */
  readonly names: readonly string[];
  readonly usual: string;
  private readonly byId: ReadonlyMap<unknown, string>;
  private readonly members: Readonly<Record<string, ReadonlyMap<unknown, readonly unknown[]>>>;

  private constructor(
    byId: ReadonlyMap<unknown, string>,
    members: Readonly<Record<string, ReadonlyMap<unknown, readonly unknown[]>>>,
  ) {
    this.byId = byId;
    this.members = members;
    this.usual = byId.get(DEFAULT_GROUP) ?? "Default";
    const used = new Set(Object.values(members).flatMap((byRow) => [...byRow.values()].flat()));
    this.names = [...byId]
      .filter(([id]) => id === DEFAULT_GROUP || used.has(id))
      .map(([, name]) => name);
  }

  static async read(table: ReadTable): Promise<PiholeGroups> {
    const found = ((await table("group")) ?? []).filter(({ enabled }) => enabled === 1);
    const members: Record<string, Map<unknown, unknown[]>> = {};
    for (const kind of ["adlist", "domainlist"]) {
      const rows = found.length === 0 ? undefined : await table(`${kind}_by_group`);
      if (rows === undefined) continue;
      const byId = (members[kind] = new Map<unknown, unknown[]>());
      for (const row of rows) {
        const id = row[`${kind}_id`];
        byId.set(id, [...(byId.get(id) ?? []), row["group_id"]]);
      }
    }
    return new PiholeGroups(new Map(found.map(({ id, name }) => [id, String(name)])), members);
  }

  /** The groups of a row; undefined if there are no groups. */
  of(kind: string, { id }: Row): string[] | undefined {
    const ids = this.members[kind];
    return ids && (ids.get(id) ?? []).flatMap((group) => this.byId.get(group) ?? []);
  }

  has(group: string, kind: string, row: Row): boolean {
    return this.of(kind, row)?.includes(group) ?? true;
  }
}

/** Popular lists that `init` offers to new users. */
export const KNOWN_LISTS: readonly {
  readonly name: string;
  readonly source: string;
  readonly type: SourceType;
  readonly what: string;
}[] = [
  {
    name: "AdGuard DNS filter",
    source: "https://adguardteam.github.io/AdGuardSDNSFilter/Filters/filter.txt",
    type: "adblock",
    what: "ads and trackers, careful",
  },
  {
    name: "StevenBlack hosts",
    source: "https://raw.githubusercontent.com/StevenBlack/hosts/master/hosts",
    type: "hosts",
    what: "ads and malware, from many sources",
  },
  {
    name: "OISD small",
    source: "https://small.oisd.nl",
    type: "adblock",
    what: "ads, made not to break anything",
  },
  {
    name: "OISD big",
    source: "https://big.oisd.nl",
    type: "adblock",
    what: "ads, trackers and more",
  },
  {
    name: "HaGeZi Pro",
    source: "https://cdn.jsdelivr.net/gh/hagezi/dns-blocklists@latest/adblock/pro.txt",
    type: "adblock",
    what: "ads, trackers, malware; thorough",
  },
  {
    name: "Phishing Army",
    source: "https://phishing.army/download/phishing_army_blocklist.txt",
    type: "domains",
    what: "phishing",
  },
];
