import type { COMBINED_FIELDS } from "./combined-fields.ts";
import type {
  Field,
  LISTED_FIELDS,
  LIST_FIELDS,
  SOURCE_FIELDS,
  SourceType,
  Trust,
} from "./fields.ts";
import type { GUARD_FIELDS } from "./guard-fields.ts";
import type { HOOK_FIELDS } from "./hook-fields.ts";
import type { OutputFormat, OUTPUT_FIELDS } from "./output-fields.ts";
import type { TransformationName } from "./transformation-name.ts";

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
  readonly trust: Trust;
  readonly boolean: boolean;
  readonly number: number;
  readonly guards: GuardsConfig;
  readonly duration: string;
  readonly size: string;
  readonly format: OutputFormat;
}

type ValueOf<F extends Field> = F["type"] extends keyof SimpleValues
  ? SimpleValues[F["type"]]
  : F["type"] extends "choice"
    ? NonNullable<F["values"]>[number]
    : F["type"] extends "choices"
      ? readonly NonNullable<F["values"]>[number][]
      : F["type"] extends "object"
        ? ConfigOf<NonNullable<F["fields"]>>
        : readonly ConfigOf<NonNullable<F["fields"]>>[];

type Fields = Readonly<Record<string, Field>>;
type RequiredKeys<T extends Fields> = {
  [K in keyof T]: T[K] extends { required: true } ? K : never;
}[keyof T];

type ConfigOf<T extends Fields> = {
  readonly [K in RequiredKeys<T>]: ValueOf<T[K]>;
} & {
  readonly [K in Exclude<keyof T, RequiredKeys<T>>]?: ValueOf<T[K]>;
};

/** The guards of a configuration. */
export type GuardsConfig = ConfigOf<typeof GUARD_FIELDS>;
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
export type ListedConfig = ConfigOf<typeof LISTED_FIELDS>;
/** A configuration, as a user writes it. The reference of the configuration describes its fields. */
export type Config = ConfigOf<typeof LIST_FIELDS>;
