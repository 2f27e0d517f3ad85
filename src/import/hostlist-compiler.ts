import { someOf } from "../diagnostics/some-of.ts";
import {
  type ConfigReader,
  type ImportedList,
  type ImportedSettings,
  nameOf,
  recordsIn,
  textsIn,
} from "./imported-config.ts";
import type { TransformationName } from "../config/transformation-name.ts";
import { FORMAT_NAMES, type FormatName } from "../config/output-fields.ts";

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
  const sources = recordsIn(config["sources"]).filter(({ source }) => typeof source === "string");
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
    software: ownKeys.length > 0 ? OWN_SOFTWARE : "HostlistCompiler",
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
  const isThere = (key: string): boolean => Array.isArray(one[key]);
  const texts = (key: string): string[] =>
    textsIn(one[key]).filter((text) => key !== "transformations" || Object.hasOwn(BUILT_IN, text));
  return {
    ...Object.fromEntries(TEXTS.filter(isThere).map((key) => [key, texts(key)])),
    ...Object.fromEntries(FILES.filter(isThere).map((key) => [key, texts(key).map(fileOf)])),
  };
}
