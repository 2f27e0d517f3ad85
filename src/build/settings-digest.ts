import type { Config, SourceConfig } from "../config/config.ts";

/** Digests of the settings that affect how many rules a list and each of its sources have. */
export interface SettingsDigest {
  readonly list: string;
  readonly sources: readonly string[];
}

/** Excludes the set of sources, because builds are compared by the sources that both have. */
export function settingsDigest(config: Config): SettingsDigest {
  const { allow, allow_sources: allowSources, plugins, guards = {}, fit } = config;
  const { min_sources: least } = config;
  const { may_block: names, may_block_suffixes: suffixes, protect } = guards;
  const list = [filtersOf(config), allow, allowSources, plugins, names, suffixes, protect];
  return {
    list: digestOf([
      ...list,
      ...(least === undefined ? [] : [least]),
      ...(fit?.top === undefined ? [] : [fit.top, config.ranks]),
    ]),
    sources: config.sources.map((source) => {
      const { remember, max_age: maxAge } = source;
      const own = [filtersOf(source), source.type, source.trust];
      return digestOf(remember === undefined ? own : [...own, remember, maxAge]);
    }),
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

/** It only decides whether two builds are compared, so 64 bits of any hash are enough. */
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
