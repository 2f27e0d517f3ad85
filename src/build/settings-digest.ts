import type { Config, SourceConfig } from "../config/fields.ts";

/** Digests of the settings that decide how many rules a list, and each of its sources, has. */
export interface SettingsDigest {
  readonly list: string;
  readonly sources: readonly string[];
}

/** Which sources there are does not count: builds are compared by the sources that both have. */
export function settingsDigest(config: Config): SettingsDigest {
  const { allow, allow_sources: allowSources, plugins, guards = {} } = config;
  const { may_block: names, may_block_suffixes: suffixes, protect } = guards;
  return {
    list: digestOf([filtersOf(config), allow, allowSources, plugins, names, suffixes, protect]),
    sources: config.sources.map((source) =>
      digestOf([filtersOf(source), source.type, source.trust]),
    ),
  };
}

function filtersOf(level: Config | SourceConfig): unknown[] {
  return [
    level.transformations?.toSorted(),
    level.exclusions,
    level.exclusions_sources,
    level.inclusions,
    level.inclusions_sources,
  ];
}

/** Nothing depends on it but whether two builds are compared, so 64 bits of any hash will do. */
function digestOf(settings: unknown): string {
  const text = JSON.stringify(settings);
  return [0x811c9dc5, 0x9747b28c].map((seed) => hashOf(text, seed)).join("");
}

function hashOf(text: string, seed: number): string {
  let hash = seed;
  for (let at = 0; at < text.length; at++)
    hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193) ^ (hash >>> 13);
  return (hash >>> 0).toString(16).padStart(8, "0");
}
