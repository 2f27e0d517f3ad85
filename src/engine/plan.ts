import { durationMs } from "../config/duration.ts";
import type { SourceBounds } from "../sources/source-hold.ts";
import { isAddress } from "../sources/location.ts";
import type { Config, SourceConfig, SourceType, Trust } from "../config/fields.ts";
import { withoutCredentials } from "../diagnostics/printable.ts";
import type { ValidatorOptions } from "../syntax/validate-rule.ts";
import { transformations } from "../transformations/registry.ts";
import type { Transformation } from "../transformations/transformation.ts";
import { isValidator } from "../transformations/validate.ts";
import { MAX_STALE_MS, SOURCE_BOUNDS } from "./compile-options.ts";
import { NO_PLUGINS, type Plugins } from "./plugins.ts";

/** What will happen, decided before anything is read. */
export interface Plan {
  readonly config: Config;
  readonly sources: readonly PlannedSource[];
  readonly list: Passes;
}

export interface PlannedSource {
  readonly index: number;
  /** As the configuration has it. */
  readonly source: string;
  /** For people: the name, or what is shown of the source. */
  readonly label: string;
  /** The source without what may be secret in it. */
  readonly shown: string;
  /** Whether not even the path of its address may be shown. */
  readonly isSecret: boolean;
  readonly type: SourceType;
  readonly passes: Passes;
  /** Whether hosts lines will be split into names, at this level or above. */
  readonly splitHosts: boolean;
  /** Further addresses of the same list. */
  readonly mirrors: readonly string[];
  readonly isOptional: boolean;
  readonly maxStaleMs: number;
  readonly timeoutMs: number | undefined;
  readonly allowPrivate: boolean;
  /** What its lines may do; undefined where that depends on where it is. */
  readonly trust: Trust | undefined;
  /** How much it may differ from its last good copy. */
  readonly bounds: SourceBounds;
  /** Protected names that its rules may block; undefined where any name may stand in it. */
  readonly mayBlock: readonly string[] | undefined;
}

/** What is done to the lines of one level, in this order: exclusions, inclusions, transformations. */
export interface Passes {
  readonly exclusions: EntrySources;
  readonly inclusions: EntrySources;
  readonly steps: readonly Step[];
  /** The validator that has the last word on these lines, here or at the level above. */
  readonly validator?: ValidatorOptions;
  /** Whether lines are read as the reference reads them, where we would do better. */
  readonly compat: boolean;
}

export interface EntrySources {
  readonly inline: readonly string[];
  readonly files: readonly string[];
}

export interface Step {
  readonly name: string;
  readonly transformation: Transformation;
}

/** Resolves names and fixes the order. The configuration is known to be valid. */
export function planOf(
  config: Config,
  plugins: Plugins = NO_PLUGINS,
  compat: boolean = false,
): Plan {
  const list = { ...passesOf(config, undefined, plugins), compat };
  const splitsList = list.steps.some(({ name }) => name === "Compress");
  const shown = shownSources(config);
  const sources = config.sources.map((source, index): PlannedSource => {
    const passes = { ...passesOf(source, list.validator, plugins), compat };
    return {
      index,
      source: source.source,
      label: source.name ?? shown[index]!,
      shown: shown[index]!,
      isSecret: source.secret === true,
      type: source.type ?? "adblock",
      passes,
      splitHosts: splitsList || passes.steps.some(({ name }) => name === "Compress"),
      mirrors: source.mirrors ?? [],
      isOptional: source.optional === true,
      maxStaleMs: durationMs(source.max_stale ?? config.max_stale ?? "") ?? MAX_STALE_MS,
      timeoutMs: durationMs(source.timeout ?? ""),
      allowPrivate: source.allow_private === true,
      trust: source.trust,
      bounds: boundsOf(config, source),
      mayBlock: config.guards?.may_block ?? [],
    };
  });
  return { config, sources, list };
}

function boundsOf({ guards = {} }: Config, { volatile }: SourceConfig): SourceBounds {
  const { size, holdMs } = SOURCE_BOUNDS;
  return {
    size: {
      ...size,
      shrink: guards.max_source_shrink ?? size.shrink,
      growth: guards.max_growth ?? size.growth,
    },
    holdMs: durationMs(guards.hold ?? "") ?? holdMs,
    isVolatile: volatile === true,
  };
}

/**
 * What is shown of each source. Figures and states are kept by it: sources that differ only in what is hidden get a number.
 */
function shownSources({ sources }: Config): string[] {
  const alike = new Map<string, string[]>();
  return sources.map(({ source, secret }) => {
    const shown = withoutCredentials(source, secret === true);
    const known = alike.get(shown) ?? [];
    if (!known.includes(source)) known.push(source);
    alike.set(shown, known);
    const number = known.indexOf(source);
    return number === 0 ? shown : `${shown} (${number + 1})`;
  });
}

function passesOf(
  level: Config | SourceConfig,
  above: ValidatorOptions | undefined,
  plugins: Plugins,
): Omit<Passes, "compat"> {
  const wanted = new Set(level.transformations ?? []);
  const steps: Step[] = [];
  // Those of the user's own come first: whatever they make of a rule is judged like any other.
  for (const [name, transformation] of [...plugins.transformations, ...transformations])
    if (wanted.has(name)) steps.push({ name, transformation });
  const own = steps.map(({ transformation }) => transformation).find(isValidator)?.options;
  const validator = own ?? above;
  return {
    exclusions: { inline: level.exclusions ?? [], files: level.exclusions_sources ?? [] },
    inclusions: { inline: level.inclusions ?? [], files: level.inclusions_sources ?? [] },
    steps,
    ...(validator === undefined ? {} : { validator }),
  };
}

/** Names that a configuration may use, and which of them are validators. */
export const TRANSFORMATION_NAMES: readonly string[] = [...transformations.keys()];
export const VALIDATOR_NAMES: ReadonlySet<string> = new Set(
  TRANSFORMATION_NAMES.filter((name) => isValidator(transformations.get(name)!)),
);

/** The servers that the sources come from: a list that blocks them is the last one. */
export function serversOf({ sources }: Plan): string[] {
  return sources.flatMap(({ source, mirrors }) =>
    [source, ...mirrors]
      .filter((address) => isAddress(address) && URL.canParse(address))
      .map((address) => new URL(address).hostname.toLowerCase()),
  );
}
