import type { Field } from "./field.ts";
import { GUARD_FIELDS } from "./guard-fields.ts";
import { type FormatName, OUTPUT_FIELDS } from "./output-fields.ts";
import { RESOLVERS_FIELDS } from "./resolver-fields.ts";
import { SOURCE_ONLY_FIELDS } from "./source-fields.ts";

export type { Field } from "./field.ts";

/**
 * Every field of a configuration, once. Validation, the `Config` type, schema.json and docs/reference/configuration.md
 * all come from these two tables.
 */

export type SourceType = FormatName;

/** What the lines of a source may do, most trusted first. */
export const TRUST_LEVELS = ["full", "standard", "block-only"] as const;
export type Trust = (typeof TRUST_LEVELS)[number];

/** Fields that lists and sources share. */
const FILTER_FIELDS = {
  transformations: {
    type: "transformations",
    description:
      "Names of transformations. Each runs once, in the fixed order of the reference; their order here does not matter.",
    example: ["RemoveComments", "Compress", "Validate", "Deduplicate"],
  },
  exclusions: {
    type: "entries",
    description:
      "Lines to leave out: text that occurs in the line, a wildcard over the whole line (`*.example.org^`), a regular expression (`/…/`), or a rule for a name (`||example.org^`, `@@||example.org^`, `0.0.0.0 example.org`), which matches every rule for that name, in any syntax.",
    example: ["||example.org^", "/banner\\d+/"],
  },
  exclusions_sources: {
    type: "strings",
    description:
      "Files or addresses with exclusions, one per line (an allow-list). Comments, blank lines, leading and trailing blanks and a trailing ` # note` are ignored.",
    example: ["allow.txt"],
  },
  inclusions: {
    type: "entries",
    description:
      "Entries in the same form as `exclusions`. Only lines that match one of them are kept.",
    example: ["*.example.org*"],
  },
  inclusions_sources: {
    type: "strings",
    description: "Files or addresses with inclusions.",
    example: ["only-these.txt"],
  },
} as const;

/** Fields of the header. */
const TITLE_FIELDS = {
  name: {
    type: "string",
    required: true,
    description: "Title of the compiled list. Its slug is the name of the output file.",
    example: "My list",
  },
  description: {
    type: "string",
    description: "Shown in the header of the compiled list.",
    example: "Ads and trackers",
  },
  version: {
    type: "string",
    description:
      "Version label of the compiled list; `{date}` (20260131), `{time}` (0930, in UTC) and `{count}` (its rules) are replaced. It is a string, so quote it in YAML.",
    example: "{date}.{count}",
  },
  homepage: {
    type: "string",
    description: "Home page of the list, shown in the header.",
    example: "https://example.org/list",
  },
  license: {
    type: "string",
    description: "Licence of the compiled list, shown in the header.",
    example: "MIT",
  },
  expires: {
    type: "duration",
    description:
      "How long subscribers wait before they check for a new version: `Expires` in the header, in whole hours or days.",
    example: "1d",
  },
  header: {
    type: "strings",
    description:
      "Additional lines of the header, without comment characters, in every format that has comments. The placeholders of `version` are replaced.",
    example: ["Issues: https://example.org/issues", "Number of entries: {count}"],
  },
} as const;

const PLUGINS_FIELD = {
  plugins: {
    type: "strings",
    description:
      "Modules with custom transformations and formats, relative to the configuration; see [plugins](../guide/plugins.md). They run only with `--plugins`.",
    example: ["my-plugin.mjs"],
  },
} as const;

/** Allowed names, guards, and what is published. */
const PUBLISH_FIELDS = {
  allow: {
    type: "strings",
    description:
      "Names that must stay reachable. A name or a hosts line means that name; `||name^` and `@@||name^` the name and all its subdomains; `*.name` only the subdomains. Rules for these names are removed, in any syntax; if a broader rule blocks them, an exception is added.",
    example: ["status.example.org", "||example.net^"],
  },
  allow_sources: {
    type: "strings",
    description: "Files or addresses with entries of `allow`, one per line.",
    example: ["allow.txt"],
  },
  allow_private: {
    type: "boolean",
    description:
      "Whether the addresses in `allow_sources`, `exclusions_sources`, `inclusions_sources` and `guards.protect` may be on this machine or in a private network. Each source has its own `allow_private`.",
  },
  guards: {
    type: "guards",
    description: "Checks before a list is published; see [Guards](#guards).",
  },
  patches: {
    type: "object",
    fields: {
      expires: {
        type: "duration",
        description: "How long subscribers wait before they check for the next patch.",
        example: "6h",
      },
      keep: { type: "duration", description: "How long patches are kept.", example: "7d" },
    },
    description:
      "Keeps differences between versions in `patches` beside the list, for subscribers that read `Diff-Path` (AdGuard, uBlock Origin). `expires` (default `6h`) is how often they check, `keep` (default `7d`) how long a difference is kept.",
  },
  manifest: {
    type: "object",
    fields: {
      file: {
        type: "string",
        description: "Path below the rules directory; `{name}` and `{slug}` are replaced.",
      },
      expires: { type: "duration", description: "How long it is valid.", example: "14d" },
      key_file: { type: "string", description: "A minisign key without a password." },
    },
    description:
      "Writes a manifest of all files with their SHA-256, a version and an expiry date: `file` (default `manifest.json`, below the rules directory), `expires` (default `14d`), and `key_file`, a minisign secret key, for a signature beside it. `verify` checks it.",
  },
  max_stale: {
    type: "duration",
    description:
      "Maximum age of the cached copy that is used when a remote source fails. Default: `7d`.",
    example: "36h",
  },
} as const;

const OUTPUTS_FIELD: {
  readonly outputs: {
    readonly type: "objects";
    readonly fields: typeof OUTPUT_FIELDS;
    readonly description: string;
  };
} = {
  outputs: {
    type: "objects",
    fields: OUTPUT_FIELDS,
    description: "Additional files in other formats; see [Outputs](#outputs).",
  },
};

/** Fields that only an entry of `lists` has. */
export const LISTED_ONLY_FIELDS = {
  sources: {
    type: "strings",
    description:
      "Names of sources of the top level, in the order in which they appear in this list. Default: all sources.",
    example: ["Ads", "Trackers"],
  },
  covers: {
    type: "strings",
    description:
      "Names of lists that this one must cover: it must block everything that they block. Otherwise it is not published.",
    example: ["Light"],
  },
} as const;

/** An entry of `lists`, which inherits every field that it does not set. */
const LISTED_FIELDS: typeof TITLE_FIELDS &
  typeof LISTED_ONLY_FIELDS &
  typeof OUTPUTS_FIELD &
  typeof PUBLISH_FIELDS &
  typeof FILTER_FIELDS = {
  ...TITLE_FIELDS,
  ...LISTED_ONLY_FIELDS,
  ...OUTPUTS_FIELD,
  ...PUBLISH_FIELDS,
  ...FILTER_FIELDS,
};

const LISTS_FIELD: {
  readonly lists: {
    readonly type: "objects";
    readonly fields: typeof LISTED_FIELDS;
    readonly description: string;
  };
} = {
  lists: {
    type: "objects",
    fields: LISTED_FIELDS,
    description:
      "Several lists from the same sources, each of which is read once; see [Several lists](#several-lists). Default: one list of all sources.",
  },
};

const SCHEMA_FIELD = {
  $schema: {
    type: "string",
    description: "Address or path of the JSON Schema, for editors. The compiler ignores it.",
    example: "./node_modules/rules-compiler/schema.json",
  },
} as const;

const SOURCES_FIELD = {
  sources: {
    type: "sources",
    required: true,
    description: "The lists to compile, in their order in the output.",
  },
} as const;

/** The address of the schema, for editors that have no installed package. */
export const PUBLIC_SCHEMA = "https://cdn.jsdelivr.net/npm/rules-compiler/schema.json";

export const LIST_FIELDS: typeof SCHEMA_FIELD &
  typeof TITLE_FIELDS &
  typeof SOURCES_FIELD &
  typeof LISTS_FIELD &
  typeof PLUGINS_FIELD &
  typeof OUTPUTS_FIELD &
  typeof PUBLISH_FIELDS &
  typeof RESOLVERS_FIELDS &
  typeof FILTER_FIELDS = {
  ...SCHEMA_FIELD,
  ...TITLE_FIELDS,
  ...SOURCES_FIELD,
  ...LISTS_FIELD,
  ...PLUGINS_FIELD,
  ...OUTPUTS_FIELD,
  ...PUBLISH_FIELDS,
  ...RESOLVERS_FIELDS,
  ...FILTER_FIELDS,
};
export const SOURCE_FIELDS: typeof SOURCE_ONLY_FIELDS & typeof FILTER_FIELDS = {
  ...SOURCE_ONLY_FIELDS,
  ...FILTER_FIELDS,
};

type ValueOf<F extends Field> = F["type"] extends "string" | "source" | "duration" | "size"
  ? string
  : F["type"] extends "source-type"
    ? SourceType
    : F["type"] extends "sources"
      ? readonly SourceConfig[]
      : F["type"] extends "trust"
        ? Trust
        : F["type"] extends "boolean"
          ? boolean
          : F["type"] extends "number"
            ? number
            : F["type"] extends "guards"
              ? GuardsConfig
              : F["type"] extends "format"
                ? FormatName
                : F["type"] extends "choice"
                  ? NonNullable<F["values"]>[number]
                  : F["type"] extends "choices"
                    ? readonly NonNullable<F["values"]>[number][]
                    : F["type"] extends "object"
                      ? ConfigOf<NonNullable<F["fields"]>>
                      : F["type"] extends "objects"
                        ? readonly ConfigOf<NonNullable<F["fields"]>>[]
                        : readonly string[];

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
/** One source of a configuration, as the user writes it. */
export type SourceConfig = ConfigOf<typeof SOURCE_FIELDS>;
/** One of several lists of a configuration. */
export type ListedConfig = ConfigOf<typeof LISTED_FIELDS>;
/** A valid configuration, as the user wrote it. */
export type Config = ConfigOf<typeof LIST_FIELDS>;
