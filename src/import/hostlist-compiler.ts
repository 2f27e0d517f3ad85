import { type ConfigReader, nameOf, recordsIn, textsIn } from "./imported-config.ts";
import { FORMAT_NAMES, type FormatName } from "../config/output-fields.ts";

/** The name of this program as an origin of lists. */
export const OWN_SOFTWARE = "rules-compiler";

/** The keys of HostlistCompiler, at the top and in a source. Any other is of this program. */
const SHARED_KEYS = new Set([
  "$schema",
  "name",
  "description",
  "homepage",
  "license",
  "version",
  "sources",
  "source",
  "type",
  "transformations",
  "inclusions",
  "inclusions_sources",
  "exclusions",
  "exclusions_sources",
]);

const IGNORED_KEYS = new Set(["transformations", "inclusions", "inclusions_sources", "exclusions"]);

/** A configuration of HostlistCompiler or of this program: `sources`, `exclusions`, `allow`. */
export const hostlistCompiler: ConfigReader = ({ tree }) => {
  const config = tree as Record<string, unknown> | undefined;
  const sources = recordsIn(config?.["sources"]).filter(({ source }) => typeof source === "string");
  if (sources.length === 0) return undefined;
  const keys = [config!, ...sources].flatMap((one) => Object.keys(one));
  const isOwn = keys.some((key) => !SHARED_KEYS.has(key));
  return {
    software: isOwn ? OWN_SOFTWARE : "HostlistCompiler",
    lists: sources.map(({ name, source, type }) => ({
      name: typeof name === "string" && name !== "" ? name : nameOf(String(source)),
      source: String(source),
      type: FORMAT_NAMES.includes(type as FormatName) ? (type as FormatName) : "adblock",
      isOn: true,
    })),
    allowLists: [
      ...textsIn(config?.["exclusions_sources"]),
      ...textsIn(config?.["allow_sources"]),
    ].map((source) => ({
      name: nameOf(source),
      source,
      type: "adblock",
      isOn: true,
    })),
    userRules: [],
    allow: textsIn(config?.["allow"]),
    notes: keys.some((key) => IGNORED_KEYS.has(key))
      ? [
          "Its transformations, exclusions and inclusions are ignored. To apply them, compile the configuration itself.",
        ]
      : [],
  };
};
