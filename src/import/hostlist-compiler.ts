import { RECOMMENDED, RECOMMENDED_WORD, type SourceType } from "../config/fields.ts";
import { FORMAT_NAMES, type FormatName } from "../config/outputs.ts";
import type { TransformationName } from "../config/transformation-name.ts";
import type { Diagnostic } from "../diagnostics/render.ts";
import { distinctNames, someOf } from "../diagnostics/text.ts";

/** The name of this program as an origin of lists. */
export const OWN_SOFTWARE = "rules-compiler";

const TITLES = ["description", "homepage", "license", "version"] as const;
const TEXTS = ["transformations", "inclusions", "exclusions"] as const;
const FILES = ["inclusions_sources", "exclusions_sources"] as const;
const SETTINGS = [...TEXTS, ...FILES];

/** All that need no plugin; the compiler checks that none is missing. */
const BUILT_IN: Readonly<Record<TransformationName, true>> = {
  ConvertToAscii: true,
  TrimLines: true,
  RemoveComments: true,
  RemoveModifiers: true,
  Compress: true,
  InvertAllow: true,
  Validate: true,
  ValidateAllowIp: true,
  ValidateAllowPublicSuffix: true,
  ValidateAllowIpAndPublicSuffix: true,
  Deduplicate: true,
  RemoveEmptyLines: true,
  InsertFinalNewLine: true,
};

/** The keys of HostlistCompiler, at the top and in a source. Any other is of this program. */
const TOP_KEYS = new Set<string>(["$schema", "name", "sources", ...TITLES, ...SETTINGS]);
const SOURCE_KEYS = new Set<string>(["name", "source", "type", ...SETTINGS]);
/** The keys of this program that are imported too. */
const OWN_KEYS = new Set(["allow", "allow_sources"]);

/** A configuration of HostlistCompiler or of this program. Both have the same settings, which are imported unchanged. */
export const hostlistCompiler: ConfigReader = ({ tree }) => {
  const config = (tree ?? {}) as Record<string, unknown>;
  const written = Array.isArray(config["sources"]) ? config["sources"] : [];
  const objects = written.map((one: unknown) => (typeof one === "string" ? { source: one } : one));
  const sources = recordsIn(objects).filter(({ source }) => typeof source === "string");
  if (sources.length === 0) return undefined;
  const ownKeys = [
    ...Object.keys(config).filter((key) => !TOP_KEYS.has(key)),
    ...sources.flatMap((one) => Object.keys(one)).filter((key) => !SOURCE_KEYS.has(key)),
  ];
  const names = [config, ...sources].flatMap((one) => textsIn(one["transformations"]));
  const lost = new Set([
    ...ownKeys.filter((key) => !OWN_KEYS.has(key)),
    ...names.filter((one) => !Object.hasOwn(BUILT_IN, one)),
  ]);
  const { name } = config;
  return {
    software: ownKeys.length > 0 || textsIn(written).length > 0 ? OWN_SOFTWARE : "HostlistCompiler",
    name: typeof name === "string" && name !== "" ? name : undefined,
    titles: titlesOf(config),
    settings: settingsOf(config),
    lists: sources.map((one) => ({
      ...fileOf(String(one["source"])),
      ...(typeof one["name"] === "string" && one["name"] !== "" ? { name: one["name"] } : {}),
      ...(FORMAT_NAMES.includes(one["type"] as FormatName)
        ? { type: one["type"] as FormatName }
        : {}),
      settings: settingsOf(one),
    })),
    allowLists: textsIn(config["allow_sources"]).map(fileOf),
    userRules: [],
    allow: textsIn(config["allow"]),
    notes:
      lost.size === 0
        ? []
        : [`Not imported: ${someOf([...lost])}. To use them, compile the configuration itself.`],
  };
};

function fileOf(source: string): ImportedList {
  return { name: nameOf(source), source, type: "adblock", isOn: true };
}

function titlesOf(config: Readonly<Record<string, unknown>>): Record<string, string> {
  const texts = TITLES.map((key) => [key, config[key]] as const);
  return Object.fromEntries(
    texts.filter((pair): pair is [(typeof TITLES)[number], string] => typeof pair[1] === "string"),
  );
}

function settingsOf(one: Readonly<Record<string, unknown>>): ImportedSettings {
  const isUsual = one["transformations"] === RECOMMENDED_WORD;
  const isThere = (key: string): boolean => Array.isArray(one[key]);
  const texts = (key: string): string[] =>
    textsIn(one[key]).filter((text) => key !== "transformations" || Object.hasOwn(BUILT_IN, text));
  return {
    ...(isUsual && { transformations: RECOMMENDED }),
    ...Object.fromEntries(TEXTS.filter(isThere).map((key) => [key, texts(key)])),
    ...Object.fromEntries(FILES.filter(isThere).map((key) => [key, texts(key).map(fileOf)])),
  };
}

/** A list in the configuration of other software. */
export interface ImportedList {
  readonly name: string;
  /** Address or path. */
  readonly source: string;
  readonly type: SourceType;
  /** Whether it is enabled there. */
  readonly isOn: boolean;
  /** The groups of clients that use it; all by default. */
  readonly groups?: readonly string[];
  /** The result of fetching it; undefined if it was not fetched. */
  readonly found?: FoundList;
  readonly settings?: ImportedSettings;
}

/** Settings of a list or of one source that this program has too. */
export interface ImportedSettings {
  readonly transformations?: readonly string[];
  readonly inclusions?: readonly string[];
  readonly inclusions_sources?: readonly ImportedList[];
  readonly exclusions?: readonly string[];
  readonly exclusions_sources?: readonly ImportedList[];
}

/** The current state of a list. */
export interface FoundList {
  /** Why it cannot be read. */
  readonly failure?: Diagnostic | undefined;
  /** Whether it is on this machine or in a private network. */
  readonly isPrivate: boolean;
  /** Whether it is known to hold no exceptions. */
  readonly onlyBlocks: boolean;
  /** Whether nearly all its rules are exceptions. */
  readonly onlyAllows?: boolean;
  /** Whether nearly all its lines are those of a hosts file, in which every `#` begins a comment. */
  readonly isHosts?: boolean;
  /** What it calls itself. */
  readonly title?: string | undefined;
  /** The percentage of its lines that only browsers can use, if that is most of them. */
  readonly forBrowsers?: number | undefined;
  /** Names that people need and that it blocks, by their kinds: only those that lists block on purpose. */
  readonly needed?: ReadonlyMap<string, readonly string[]>;
}

/** The configuration of other software. */
export interface ImportedConfig {
  /** The name of the software. */
  readonly software: string;
  /** The name of its list. */
  readonly name?: string | undefined;
  /** Other texts for the header of the list, by their keys. */
  readonly titles?: Readonly<Record<string, string>>;
  /** Undefined if the software has no such settings; the new configuration then has the usual transformations. */
  readonly settings?: ImportedSettings;
  readonly lists: readonly ImportedList[];
  /** Lists of names that stay reachable. */
  readonly allowLists: readonly ImportedList[];
  /** The user's rules, in adblock syntax. */
  readonly userRules: readonly string[];
  /** Names that stay reachable. */
  readonly allow: readonly string[];
  /** Kinds of names that people need and that the lists may block. */
  readonly mayBlock?: readonly string[];
  /** Messages about settings that cannot be imported. */
  readonly notes: readonly string[];
  /** Groups of clients with different lists, the default one first; `userRules` and `allow` belong to it. */
  readonly groups?: readonly string[];
  /** The rules and names of the other groups. */
  readonly groupRules?: ReadonlyMap<string, GroupRules>;
  /** Formats that the software needs in addition to the list. */
  readonly formats?: readonly FormatName[];
}

export type GroupRules = Pick<ImportedConfig, "userRules" | "allow">;

/** A configuration that has only lists. */
export function configOfLists(software: string, lists: readonly ImportedList[]): ImportedConfig {
  return { software, lists, allowLists: [], userRules: [], allow: [], notes: [] };
}

/** A row of a database. */
export type Row = Readonly<Record<string, unknown>>;

/** All rows of a table; undefined if there is no such table. */
export type ReadTable = (name: string) => Promise<readonly Row[] | undefined>;

/** A file to import: its text, and its value if it is YAML or JSON. */
interface ImportedFile {
  readonly text: string;
  /** Undefined if it is neither. */
  readonly tree: unknown;
  /** Its tables, if it is a database. */
  readonly table: ReadTable | undefined;
}

/** Reads the configuration of one program; undefined if the file belongs to another. */
export type ConfigReader = (
  file: ImportedFile,
) => ImportedConfig | undefined | Promise<ImportedConfig | undefined>;

/** The objects in a setting. */
export function recordsIn(value: unknown): Record<string, unknown>[] {
  return Array.isArray(value)
    ? value.filter((one): one is Record<string, unknown> => typeof one === "object" && one !== null)
    : [];
}

export function textsIn(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === "string") : [];
}

/** A name for an address: its host and the last part of its path. */
export function nameOf(source: string): string {
  if (!URL.canParse(source)) return source.split("/").at(-1) ?? source;
  const { hostname, pathname } = new URL(source);
  const parts = pathname.split("/").filter((part) => part !== "");
  return [hostname, parts.at(-1)].filter(Boolean).join(" ");
}

/** The same lists with unique names, as reports and `lists` require. Some are `taken`. */
export function withUniqueNames(
  lists: readonly ImportedList[],
  taken: readonly string[] = [],
): ImportedList[] {
  const names = distinctNames([...taken, ...lists.map(({ name }) => name)]).slice(taken.length);
  return lists.map((list, index) => ({ ...list, name: names[index]! }));
}

/** The same lists; one that has no name but that of its URL is called what it calls itself. */
export function withTitles(lists: readonly ImportedList[]): ImportedList[] {
  return lists.map((list) => {
    const start = list.name.indexOf(nameOf(list.source));
    const title = list.found?.title;
    if (title === undefined || start === -1) return list;
    return { ...list, name: list.name.slice(0, start) + title };
  });
}

/** The lists without those that repeat an earlier one, and what was repeated. The first `imported` stay as they are. */
export function withoutRepeats(
  lists: readonly ImportedList[],
  imported: number,
): { readonly lists: ImportedList[]; readonly repeated: string[] } {
  const seen = new Set<string>();
  const repeated = new Set<string>();
  const kept = lists.filter(({ source, isOn }, index) => {
    const address = URL.canParse(source) ? new URL(source).href : source;
    const isRepeated = index >= imported && seen.has(address);
    if (isRepeated) repeated.add(source);
    if (isOn) seen.add(address);
    return !isRepeated;
  });
  return { lists: kept, repeated: [...repeated] };
}

type Files = readonly ImportedList[];

/** All files of names: of `allowLists`, and of the settings of the list and of its sources. */
export function filesOf({ allowLists, settings, lists }: ImportedConfig): ImportedList[] {
  const all = [settings, ...lists.map((list) => list.settings)];
  const named = all.flatMap((one) => [one?.inclusions_sources, one?.exclusions_sources]);
  return [...allowLists, ...named.flatMap((files) => files ?? [])];
}

/** The same configuration with other files of names. */
export async function withFiles(
  setup: ImportedConfig,
  change: (files: Files) => Files | Promise<Files>,
): Promise<ImportedConfig> {
  const changed = async <T extends { readonly settings?: ImportedSettings }>(
    one: T,
  ): Promise<T> => {
    if (one.settings === undefined) return one;
    const { inclusions_sources: inclusions, exclusions_sources: exclusions } = one.settings;
    const settings = {
      ...one.settings,
      ...(inclusions && { inclusions_sources: await change(inclusions) }),
      ...(exclusions && { exclusions_sources: await change(exclusions) }),
    };
    return { ...one, settings };
  };
  return {
    ...(await changed(setup)),
    lists: await Promise.all(setup.lists.map(changed)),
    allowLists: await change(setup.allowLists),
  };
}
