import { countText, nearest, printable, someOf, withoutCredentials } from "../diagnostics/text.ts";
import type {
  Field,
  GUARD_FIELDS,
  LISTED_FIELDS,
  LIST_FIELDS,
  RECOMMENDED_WORD,
  SOURCE_FIELDS,
  SourceType,
} from "./fields.ts";
import type { HOOK_FIELDS } from "./hooks.ts";
import type { AnswerConfig, COMBINED_FIELDS, OUTPUT_FIELDS, OutputFormat } from "./outputs.ts";
import type { TransformationName } from "./transformation-name.ts";

/** Entries of these fields at the top level apply to every list; a list can add more. */
const ADDED = ["allow", "allow_sources", "exclusions", "exclusions_sources"] as const;

/** One list of a configuration, with inherited fields resolved. */
interface ResolvedList {
  readonly config: Config;
  /** Names of lists that it must cover. */
  readonly covers: readonly string[];
}

/** The lists of a configuration: one, or the entries of `lists`, each after those that it must cover. */
export function listsOf(config: Config): ResolvedList[] {
  const { lists, ...all } = config;
  if (lists === undefined) return [{ config, covers: [] }];
  const { manifest, ...others } = all;
  const top = isRelease(config) ? others : { ...others, ...(manifest && { manifest }) };
  const byLabel = new Map(top.sources.map((one) => [labelOf(one), one]));
  return inOrder(lists).map(({ covers = [], sources, ...own }) => {
    const added = ADDED.flatMap((field) => {
      const entries = [...(top[field] ?? []), ...(own[field] ?? [])];
      return entries.length === 0 ? [] : [[field, entries] as const];
    });
    const wanted = sources?.map((name) => byLabel.get(name)!);
    return {
      config: { ...top, ...own, ...Object.fromEntries(added), sources: wanted ?? top.sources },
      covers,
    };
  });
}

/** Whether the manifest is one for all lists: it has one file for several. */
export function isRelease({ manifest, lists = [] }: Config): boolean {
  return (
    manifest !== undefined && lists.length > 1 && !/\{(?:name|slug)\}/.test(manifest.file ?? "")
  );
}

function labelOf({ name, source }: Config["sources"][number]): string {
  return name ?? source;
}

/** Sorts lists after those that they cover, otherwise in their order. There is no cycle. */
function inOrder(lists: readonly ListedConfig[]): ListedConfig[] {
  const done = new Set<ListedConfig>();
  const visit = (list: ListedConfig): void => {
    if (done.has(list)) return;
    for (const name of list.covers ?? []) visit(lists.find((one) => one.name === name)!);
    done.add(list);
  };
  for (const list of lists) visit(list);
  return [...done];
}

/** Problems of `min_sources`: with too few sources, no rule could be published. */
export function minSourcesProblems(config: Config): { message: string; hint?: string }[] {
  return listsOf(config).flatMap(({ config: { name, min_sources: least = 1, sources } }) =>
    least <= sources.length
      ? []
      : [
          {
            message: `min_sources is ${least}, but ${printable(name, 60)} has ${countText(sources.length, "source")}`,
            hint: "Add sources, or write a smaller number",
          },
        ],
  );
}

/** A problem of `lists`: the entry that has it, and its field. */
interface ListProblem {
  readonly index?: number;
  readonly field?: string;
  readonly message: string;
  readonly hint?: string;
}

/** Problems of `lists` in a configuration that is otherwise valid. */
export function listProblems({ lists, sources }: Config): ListProblem[] {
  if (lists === undefined) return [];
  if (lists.length === 0)
    return [{ message: "lists is empty", hint: "Add a list, or remove the field" }];
  const names = lists.map(({ name }) => name);
  const labels = sources.map(labelOf);
  const known = new Set(labels);
  const secret = new Set(sources.filter((one) => one.secret === true).map(labelOf));
  // A URL may contain a password.
  const shown = (label: string): string =>
    printable(withoutCredentials(label, secret.has(label)), 80);
  const problems: ListProblem[] = [];
  const unknown = (
    { index, field }: { index: number; field: "sources" | "covers" },
    name: string,
    all: readonly string[],
  ): void => {
    const meant = nearest(name, all);
    const what = field === "covers" ? "covers the list" : "has the source";
    problems.push({
      index,
      field,
      message: `lists[${index}] ${what} ${shown(name)}, which does not exist`,
      hint:
        meant === undefined
          ? `Known names: ${someOf(all.map(shown))}`
          : `Did you mean "${shown(meant)}"?`,
    });
  };
  for (const [index, { name, sources: own = [], covers = [] }] of lists.entries()) {
    const at = `lists[${index}]`;
    for (const label of own)
      if (!known.has(label)) unknown({ index, field: "sources" }, label, labels);
    for (const other of covers)
      if (!names.includes(other)) unknown({ index, field: "covers" }, other, names);
    if (names.indexOf(name) !== index)
      problems.push({
        index,
        field: "name",
        message: `${at} has the same name as another list: ${printable(name, 60)}`,
      });
  }
  const twice =
    known.size === labels.length
      ? undefined
      : labels.find((label, index) => labels.indexOf(label) !== index);
  if (twice !== undefined)
    problems.push({
      message: `two sources have the name ${shown(twice)}`,
      hint: "Lists refer to sources by name; give each a unique name",
    });
  const circle = problems.length === 0 ? lists.findIndex((list) => isInCircle(list, lists)) : -1;
  if (circle !== -1)
    problems.push({
      index: circle,
      field: "covers",
      message: "lists cover each other in a circle",
      hint: "Only the larger list should cover the smaller one",
    });
  return problems;
}

/** Whether a list covers itself, by lists that it covers. */
function isInCircle(list: ListedConfig, lists: readonly ListedConfig[]): boolean {
  const covered = (one: ListedConfig): readonly ListedConfig[] =>
    (one.covers ?? []).map((name) => lists.find((other) => other.name === name)!);
  const seen = new Set<ListedConfig>();
  const open = [...covered(list)];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (next === list) return true;
    if (seen.has(next)) continue;
    seen.add(next);
    open.push(...covered(next));
  }
  return false;
}

/** The values of the simple types of fields. */
interface SimpleValues {
  readonly string: string;
  readonly strings: readonly string[];
  readonly "string-or-list": string | readonly string[];
  readonly entries: readonly string[];
  readonly source: string;
  /** Editors suggest the names; plugins may add others. */
  readonly transformations: readonly (TransformationName | (string & {}))[];
  readonly sources: readonly SourceConfig[];
  readonly files: readonly FileConfig[];
  readonly "source-type": SourceType;
  readonly column: string;
  readonly matches: Readonly<Record<string, string>>;
  readonly boolean: boolean;
  readonly number: number;
  readonly guards: GuardsConfig;
  readonly duration: string;
  readonly size: string;
  readonly format: OutputFormat;
  readonly answer: AnswerConfig;
}

/** The same, as a user may write them. */
interface WrittenValues extends Omit<SimpleValues, "sources" | "files" | "transformations"> {
  /** A string is a source without settings. */
  readonly sources: readonly (string | WrittenSource)[];
  readonly files: readonly (string | WrittenSource)[];
  readonly transformations: SimpleValues["transformations"] | typeof RECOMMENDED_WORD;
}

type WrittenSource = ConfigOf<typeof SOURCE_FIELDS, WrittenValues>;

type ValueOf<F extends Field, V extends object> = F["type"] extends keyof V
  ? V[F["type"]]
  : F["type"] extends "choice"
    ? keyof F["values"] & string
    : F["type"] extends "choices"
      ? readonly (keyof F["values"] & string)[]
      : F["type"] extends "object"
        ? ConfigOf<NonNullable<F["fields"]>, V>
        : readonly ConfigOf<NonNullable<F["fields"]>, V>[];

type Fields = Readonly<Record<string, Field>>;
type RequiredKeys<T extends Fields> = {
  [K in keyof T]: T[K] extends { required: true } ? K : never;
}[keyof T];

type ConfigOf<T extends Fields, V extends object = SimpleValues> = {
  readonly [K in RequiredKeys<T>]: ValueOf<T[K], V>;
} & {
  readonly [K in Exclude<keyof T, RequiredKeys<T>>]?: ValueOf<T[K], V>;
};

/** The guards of a configuration. */
type GuardsConfig = ConfigOf<typeof GUARD_FIELDS>;
/** One output of a configuration. */
export type OutputConfig = ConfigOf<typeof OUTPUT_FIELDS>;
/** One file over several lists. */
export type CombinedConfig = ConfigOf<typeof COMBINED_FIELDS>;
/** One hook of a configuration. */
export type HookConfig = ConfigOf<typeof HOOK_FIELDS>;
/** One source of a configuration, as the user writes it. */
export type SourceConfig = ConfigOf<typeof SOURCE_FIELDS>;
/** A file of names or entries, as the user writes it: its URL or path, or a source. */
export type FileConfig = string | SourceConfig;
/** One of several lists of a configuration. */
type ListedConfig = ConfigOf<typeof LISTED_FIELDS>;
/** A configuration that was checked. The reference of the configuration describes its fields. */
export type Config = ConfigOf<typeof LIST_FIELDS>;
/** A configuration, as a user writes it: a source may be a string, and `transformations` a word. */
export type WrittenConfig = ConfigOf<typeof LIST_FIELDS, WrittenValues>;
