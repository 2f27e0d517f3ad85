import type { Decision } from "../documents/facts.ts";
import { encodeUtf8 } from "../bytes/text.ts";
import { isDecisions } from "../config/decisions.ts";
import type { SourceType, Trust } from "../config/fields.ts";
import type { Config, FileConfig, SourceConfig } from "../config/lists.ts";
import { isFeed } from "../config/sources.ts";
import { type ValidationContext, nameListType, sourceOf } from "../config/validate.ts";
import { durationMs, sizeBytes, withoutCredentials } from "../diagnostics/text.ts";
import type { FeedSettings } from "../feeds/feed.ts";
import type { KeyFiles } from "../sources/fetch-text.ts";
import { isAddress } from "../sources/limits.ts";
import type { SizeLimits } from "../sources/size-judge.ts";
import type { ValidatorOptions } from "../syntax/adblock-rule.ts";
import { isValidator, transformationRegistry } from "../transformations/registry.ts";
import type { Transformation } from "../transformations/stage.ts";
import { FETCH_DEFAULTS, SOURCE_BOUNDS, type SourceOptions } from "./compile-options.ts";
import type { ListFeature } from "./feature.ts";
import { NO_PLUGINS, type Plugins } from "./plugins.ts";
import { type FileRole, storeKeyOf } from "./source-state.ts";

/** The steps of a compile, decided before anything is read. */
export interface Plan {
  readonly config: Config;
  readonly sources: readonly PlannedSource[];
  readonly list: StageSettings;
  /** What the list can do besides; the list itself decides what it uses. */
  readonly features: readonly ListFeature[];
  /** Whether each name of a hosts line has a row of its own, because a feature may drop names before any transformation. */
  readonly splitsNames: boolean;
  /** The decisions of the user that hold in this list. */
  readonly decisions: readonly Decision[];
  /** The lists of popular names. */
  readonly ranks: readonly SourceOptions[];
  /** The lists of known names. */
  readonly expand: readonly SourceOptions[];
}

export interface PlannedSource {
  readonly index: number;
  /** As written in the configuration. */
  readonly source: string;
  /** For display: the name, or the shown form of the source. */
  readonly label: string;
  /** The source without its possible secrets. */
  readonly shown: string;
  /** Whether even the path of its address is secret. */
  readonly isSecret: boolean;
  /** The syntax of its lines. */
  readonly type: SourceType;
  /** The feed that its lines are made from. */
  readonly feed: FeedSettings | undefined;
  readonly passes: StageSettings;
  /** Whether this level or the one above splits hosts lines into names. */
  readonly splitHosts: boolean;
  /** Further addresses of the same list. */
  readonly mirrors: readonly string[];
  /** Whether there is no list without it. */
  readonly isRequired: boolean;
  /** The age up to which its last copy is used; undefined for the usual one. */
  readonly maxStaleMs: number | undefined;
  readonly timeoutMs: number | undefined;
  readonly maxBytes: number | undefined;
  /** Selects a file of an archive. */
  readonly member: string | undefined;
  /** Paths of files with its keys, as written in the configuration. */
  readonly keyFiles: KeyFiles;
  /** Public keys, one of which must have signed it; undefined if it needs no signature. */
  readonly signers: readonly string[] | undefined;
  readonly allowPrivate: boolean;
  /** For how long its rules are kept after it had them; undefined if only what it has counts. */
  readonly keepMs: number | undefined;
  /** How long ago its rules may have been seen first. */
  readonly maxAgeMs: number | undefined;
  /** Whether its lines for dead names are dropped. */
  readonly dropsDead: boolean;
  /** Whether it must have as many entries as its header names. */
  readonly checksCount: boolean;
  /** What its rules may do; undefined if that depends on its location. */
  readonly trust: Trust | undefined;
  /** How much it may differ from its published text. */
  readonly bounds: SizeLimits;
  /** Whether the configuration turns its rules into exceptions. */
  readonly isInverted: boolean;
  /** Protected names that its rules may block; undefined if it may contain any name, as what becomes exceptions may. */
  readonly mayBlock: readonly string[] | undefined;
}

/** The settings of the stages of one level, in this order: exclusions, inclusions, transformations. */
export interface StageSettings {
  readonly exclusions: EntrySources;
  readonly inclusions: EntrySources;
  readonly steps: readonly PlannedStep[];
  /** The last validator for these lines, at this level or the one above. */
  readonly validator?: ValidatorOptions;
  /** Whether to read lines like the reference where our reader is better. */
  readonly compat: boolean;
}

interface EntrySources {
  readonly inline: readonly string[];
  readonly files: readonly SourceOptions[];
}

interface PlannedStep {
  readonly name: string;
  readonly transformation: Transformation;
}

interface PlanOptions {
  readonly features: readonly ListFeature[];
  readonly plugins?: Plugins | undefined;
  readonly compat?: boolean | undefined;
  readonly decisions?: readonly Decision[] | undefined;
}

/** Resolves names and fixes the order. Expects a valid configuration. */
export function planOf(
  config: Config,
  { features, plugins = NO_PLUGINS, compat = false, decisions = [] }: PlanOptions,
): Plan {
  const splitsNames = features.some((feature) => feature.splitsNames?.(config) === true);
  const list = { ...passesOf(config, undefined, plugins), compat };
  const splitsList = list.steps.some(({ name }) => name === "Compress") || splitsNames;
  const shown = shownSources(config);
  const sources = config.sources.map((source, index): PlannedSource => {
    const passes = { ...passesOf(source, list.validator, plugins), compat };
    const isInverted = inverts(passes) || inverts(list);
    return {
      index,
      source: source.source,
      label: source.name ?? shown[index]!,
      shown: shown[index]!,
      isSecret: source.secret === true,
      type: isFeed(source) ? "domains" : (source.type ?? "adblock"),
      ...selectionOf(source),
      passes,
      splitHosts:
        splitsList ||
        passes.steps.some(({ name }) => name === "Compress") ||
        (!compat && mayMapNames(source)),
      mirrors: source.mirrors ?? [],
      isRequired: isRequired(source),
      maxStaleMs: durationMs(source.max_stale ?? ""),
      timeoutMs: durationMs(source.timeout ?? ""),
      maxBytes: sizeBytes(source.max_bytes ?? ""),
      allowPrivate: source.allow_private === true,
      keepMs: durationMs(source.remember ?? ""),
      maxAgeMs: durationMs(source.max_age ?? ""),
      dropsDead: source.dead === "drop",
      checksCount: source.check_count !== false && !isFeed(source),
      trust: source.trust,
      bounds: boundsOf(config),
      isInverted,
      mayBlock: isInverted || isDecisions(source) ? undefined : (config.guards?.may_block ?? []),
    };
  });
  const ranks = nameLists(config.ranks);
  const expand = knownLists(config.expand, config.ranks);
  return { config, sources, list, features, splitsNames, decisions, ranks, expand };
}

/** The options of lists of names, such as `ranks`. */
export function nameLists(lists: readonly FileConfig[] = []): SourceOptions[] {
  return lists.map((file) => nameList(file, "ranks"));
}

function nameList(file: FileConfig, role: FileRole): SourceOptions {
  const one = sourceOf(file);
  return fileOptions({ ...one, type: nameListType(one) }, role);
}

/** The options of the lists of known names. */
function knownLists(expand: Config["expand"], ranks: Config["ranks"] = []): SourceOptions[] {
  if (expand === undefined) return [];
  return expand.names?.map((file) => nameList(file, "known")) ?? nameLists(ranks);
}

/** The options of files of entries, such as `allow_sources`. */
export function entryFiles(
  files: readonly FileConfig[] | undefined,
  role: FileRole,
): SourceOptions[] {
  return (files ?? []).map((file) => fileOptions(sourceOf(file), role));
}

/** The files of entries of a list and of its sources. */
export function allEntryFiles({ sources, guards = {}, ...list }: Config): SourceOptions[] {
  return [
    ...[list, ...sources].flatMap((level) => [
      ...entryFiles(level.exclusions_sources, "exclusions"),
      ...entryFiles(level.inclusions_sources, "inclusions"),
    ]),
    ...entryFiles(list.allow_sources, "allow"),
    ...entryFiles(guards.protect, "protect"),
  ];
}

/** The options of all lists of names in a configuration, with those of its lists. */
export function allNameLists(config: Config): SourceOptions[] {
  const levels = [config, ...(config.lists ?? [])];
  const known = levels.flatMap(({ expand }) => knownLists(expand));
  return [...nameLists(config.ranks), ...known];
}

/** The options of a file of names, which may contain any names. */
function fileOptions(one: SourceConfig, role: FileRole): SourceOptions {
  const { source, mirrors = [], secret, type } = one;
  const shown = withoutCredentials(source, secret === true);
  return {
    ...FETCH_DEFAULTS,
    role,
    source,
    label: shown,
    shown,
    isSecret: secret === true,
    type: type === undefined ? FETCH_DEFAULTS.type : "domains",
    ...selectionOf(one),
    mirrors,
    isRequired: isRequired(one),
    maxStaleMs: durationMs(one.max_stale ?? ""),
    timeoutMs: durationMs(one.timeout ?? ""),
    maxBytes: sizeBytes(one.max_bytes ?? ""),
    allowPrivate: one.allow_private === true,
  };
}

/** The settings of a feed; undefined for a list. */
export function feedOf(source: SourceConfig): FeedSettings | undefined {
  if (!isFeed(source)) return undefined;
  const { type = "", column, delimiter, where, pointer: path, urls } = source;
  return { type, column, delimiter, where, path, urls };
}

/** What decides which lines the address of a source gives. */
export function selectionOf(
  source: SourceConfig,
): Pick<PlannedSource, "feed" | "member" | "keyFiles" | "signers"> {
  const { member, headers_file: headers, auth, key } = source;
  const keyFiles = { headers, bearer: auth?.bearer_file, basic: auth?.basic_file };
  const signers = key === undefined ? undefined : [key].flat();
  return { feed: feedOf(source), member, keyFiles, signers };
}

function boundsOf({ guards = {} }: Config): SizeLimits {
  const { shrink, growth } = SOURCE_BOUNDS;
  return { shrink: guards.max_shrink ?? shrink, growth: guards.max_growth ?? growth };
}

/** The shown form of each source. It is the key of figures and states, so sources that differ only in other parts get a number. */
function shownSources({ sources }: Config): string[] {
  const alike = new Map<string, string[]>();
  return sources.map((one) => {
    const shown = withoutCredentials(one.source, one.secret === true);
    const key = storeKeyOf(one.source, selectionOf(one));
    const known = alike.get(shown) ?? [];
    if (!known.includes(key)) known.push(key);
    alike.set(shown, known);
    const number = known.indexOf(key);
    return number === 0 ? shown : `${shown} (${number + 1})`;
  });
}

/** A file is the user's own, so that a missing one is a mistake. */
function isRequired({ source, required }: SourceConfig): boolean {
  return required ?? !isAddress(source);
}

/** Whether a source may have full trust, so that each name of a hosts line can have an address. */
function mayMapNames({ source, trust }: SourceConfig): boolean {
  return trust === "full" || (trust === undefined && !isAddress(source));
}

function passesOf(
  level: Config | SourceConfig,
  above: ValidatorOptions | undefined,
  plugins: Plugins,
): Omit<StageSettings, "compat"> {
  const wanted = new Set(level.transformations ?? []);
  const steps: PlannedStep[] = [];
  // User-defined ones run first, so that later stages judge their output like any rule.
  for (const [name, transformation] of [...plugins.transformations, ...transformationRegistry])
    if (wanted.has(name)) steps.push({ name, transformation });
  const own = steps.map(({ transformation }) => transformation).find(isValidator)?.options;
  const validator = own ?? above;
  return {
    exclusions: {
      inline: level.exclusions ?? [],
      files: entryFiles(level.exclusions_sources, "exclusions"),
    },
    inclusions: {
      inline: level.inclusions ?? [],
      files: entryFiles(level.inclusions_sources, "inclusions"),
    },
    steps,
    ...(validator === undefined ? {} : { validator }),
  };
}

/** All transformation names, and which of them are validators. */
export const TRANSFORMATION_NAMES: readonly string[] = [...transformationRegistry.keys()];
const VALIDATOR_NAMES: ReadonlySet<string> = new Set(
  TRANSFORMATION_NAMES.filter((name) => isValidator(transformationRegistry.get(name)!)),
);

/** The servers of the sources. A list that blocks them could never be updated again. */
export function serversOf({ sources }: Plan): string[] {
  return sources.flatMap(({ source, mirrors }) =>
    [source, ...mirrors]
      .filter((address) => isAddress(address) && URL.canParse(address))
      .map((address) => new URL(address).hostname.toLowerCase()),
  );
}

/** The trust that applies to a source's rules in the list. If the configuration inverts them, they are exceptions. */
export function trustInList({ sources }: Plan, index: number, level: Trust): Trust {
  return level === "block-only" && sources[index]!.isInverted ? "standard" : level;
}

/** Whether a level turns rules into exceptions. */
export function inverts({ steps }: Pick<StageSettings, "steps">): boolean {
  return steps.some(({ name }) => name === "InvertAllow");
}

/** Whether a validator of the configuration permits rules for public suffixes. */
export function allowsPublicSuffix({ sources, list }: Plan): boolean {
  const all = [list, ...sources.map(({ passes }) => passes)];
  return all.some(({ validator }) => validator?.allowPublicSuffix === true);
}

/** The names in the registry of transformations. */
const VALIDATION_CONTEXT: ValidationContext = {
  transformations: TRANSFORMATION_NAMES,
  validators: VALIDATOR_NAMES,
};

/** The same with those of plugins. */
export function contextWith({ transformations, formats }: Plugins): ValidationContext {
  return {
    ...VALIDATION_CONTEXT,
    transformations: [...transformations.keys(), ...VALIDATION_CONTEXT.transformations],
    formats: [...formats.keys()],
  };
}

/** File systems limit names to 255 bytes, and temporary names are longer. */
const LONGEST_SLUG = 200;

function cutToBytes(text: string, most: number): string {
  let cut = "";
  let bytes = 0;
  for (const character of text) {
    bytes += encodeUtf8(character).length;
    if (bytes > most) break;
    cut += character;
  }
  return cut;
}

/** The file name for a list: letters and digits of its name, hyphens for the rest. */
export function slugOf(name: string): string {
  const slug = name
    .normalize("NFKC")
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, "-")
    .replace(/^-+|-+$/g, "")
    .slice(0, 200);
  return slug === "" ? "rules" : cutToBytes(slug, LONGEST_SLUG);
}
