import { type ConfigReader, nameOf, recordsIn, textsIn } from "./imported-config.ts";
import { FORMAT_NAMES, type FormatName } from "../config/output-fields.ts";

/** A configuration of HostlistCompiler or of this program: `sources`, `exclusions`. */
export const hostlistCompiler: ConfigReader = ({ tree }) => {
  const config = tree as Record<string, unknown> | undefined;
  const sources = recordsIn(config?.["sources"]).filter(({ source }) => typeof source === "string");
  if (sources.length === 0) return undefined;
  return {
    software: "HostlistCompiler",
    lists: sources.map(({ name, source, type }) => ({
      name: typeof name === "string" && name !== "" ? name : nameOf(String(source)),
      source: String(source),
      type: FORMAT_NAMES.includes(type as FormatName) ? (type as FormatName) : "adblock",
      isOn: true,
    })),
    allowLists: textsIn(config?.["exclusions_sources"]).map((source) => ({
      name: nameOf(source),
      source,
      type: "adblock",
      isOn: true,
    })),
    userRules: [],
    allow: [],
    notes: [
      "Its transformations, exclusions and inclusions are ignored. To apply them, compile the configuration itself.",
    ],
  };
};
