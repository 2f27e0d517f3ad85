import { type FormatName, OUTPUT_FIELDS } from "./output-fields.ts";
import { OWN_SOURCE_FIELDS } from "./source-fields.ts";

/**
 * Every field of a configuration, once. Validation, the `Config` type, schema.json and docs/reference/configuration.md
 * all come from these two tables.
 */

export type FieldType =
  /** Any text; `required` ones must not be empty */
  | "string"
  /** A list of texts */
  | "strings"
  /** A list of exclusions or inclusions; regular expressions among them must compile */
  | "entries"
  /** An address or a path */
  | "source"
  /** A list of names from the registry of transformations */
  | "transformations"
  /** A list of sources; at least one */
  | "sources"
  /** One of `FORMAT_NAMES` */
  | "source-type"
  /** One of `TRUST_LEVELS` */
  | "trust"
  | "boolean"
  /** A number from 0 on */
  | "number"
  /** What is looked at before a list is published: `GUARD_FIELDS` */
  | "guards"
  /** A span of time: a number and `s`, `m`, `h` or `d` */
  | "duration"
  /** A number of bytes: a number and `k`, `M` or `G`, or nothing */
  | "size"
  /** One of `FORMAT_NAMES` */
  | "format"
  /** One of `values` */
  | "choice"
  /** A list of some of `values` */
  | "choices"
  /** An object with `fields` */
  | "object"
  /** A list of objects with `fields` */
  | "objects";

export interface Field {
  readonly type: FieldType;
  readonly required?: boolean;
  readonly description: string;
  readonly example?: string | readonly string[];
  readonly values?: readonly string[];
  /** Of a number that must be a whole one, the largest. */
  readonly most?: number;
  readonly fields?: Readonly<Record<string, Field>>;
}

export type SourceType = FormatName;

/** What a source's lines may do, most first. */
export const TRUST_LEVELS = ["full", "standard", "block-only"] as const;
export type Trust = (typeof TRUST_LEVELS)[number];

/** Fields that a list and a source share; they work on what the level has. */
const FILTER_FIELDS = {
  transformations: {
    type: "transformations",
    description:
      "Names of transformations. Each runs once, in the fixed order of the reference, whatever the order here.",
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
      "Files or addresses that hold exclusions, one a line (an allow-list). Comments, blank lines, outer blanks and a trailing ` # note` do not count.",
    example: ["allow.txt"],
  },
  inclusions: {
    type: "entries",
    description:
      "Entries of the same forms and meanings as `exclusions`. Only lines that match one of them stay.",
    example: ["*.example.org*"],
  },
  inclusions_sources: {
    type: "strings",
    description: "Files or addresses that hold inclusions.",
    example: ["only-these.txt"],
  },
} as const;

/** What a list is called. */
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
      "Version label of the compiled list; `{date}` (20260131), `{time}` (0930, in UTC) and `{count}` (its rules) are filled in. A text, so quote it in YAML.",
    example: "{date}.{count}",
  },
  homepage: {
    type: "string",
    description: "Address of the list's home, shown in the header.",
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
      "How long subscribers wait before they look for the next edition: `Expires` in the header, in whole hours or days.",
    example: "1d",
  },
  header: {
    type: "strings",
    description:
      "Lines of your own for the header, in every format that has comments; without comment signs. The templates of `version` are filled in.",
    example: ["Issues: https://example.org/issues", "Number of entries: {count}"],
  },
} as const;

const PLUGINS_FIELD = {
  plugins: {
    type: "strings",
    description:
      "Modules of your own with transformations and formats, beside the configuration; see [own transformations](../guide/plugins.md). They are run only with `--plugins`.",
    example: ["my-plugin.mjs"],
  },
} as const;

/** What stays reachable, what is looked at and what is written. */
const PUBLISH_FIELDS = {
  allow: {
    type: "strings",
    description:
      "Names that must stay reachable. A name or a hosts line means that name; `||name^` and `@@||name^` the name and all below it; `*.name` all below it. Rules for them are taken out in whatever syntax; where a rule for more blocks them, an exception is added.",
    example: ["status.example.org", "||example.net^"],
  },
  allow_sources: {
    type: "strings",
    description: "Files or addresses that hold entries of `allow`, one a line.",
    example: ["allow.txt"],
  },
  allow_private: {
    type: "boolean",
    description:
      "Whether the addresses in `allow_sources`, `exclusions_sources`, `inclusions_sources` and `guards.protect` may be on this machine or in a private network. Each source has its own `allow_private`.",
  },
  guards: {
    type: "guards",
    description: "What is looked at before a list is published; see [Guards](#guards).",
  },
  patches: {
    type: "object",
    fields: {
      expires: {
        type: "duration",
        description: "How long subscribers wait before they look for the next one.",
        example: "6h",
      },
      keep: { type: "duration", description: "How long they are kept.", example: "7d" },
    },
    description:
      "Keeps differences between editions in `patches` beside the list, for subscribers that read `Diff-Path` (AdGuard, uBlock Origin). `expires` (without it `6h`) is how often they look, `keep` (`7d`) how long a difference stays.",
  },
  manifest: {
    type: "object",
    fields: {
      file: {
        type: "string",
        description:
          "Where it is written, below the rules directory; `{name}` and `{slug}` are filled in.",
      },
      expires: { type: "duration", description: "How long it is good.", example: "14d" },
      key_file: { type: "string", description: "A minisign key without a password." },
    },
    description:
      "Writes a manifest of all files with their SHA-256, a version and an expiry: `file` (without it `manifest.json`, below the rules directory), `expires` (`14d`), and `key_file`, a secret key of minisign, for a signature beside it. `verify` checks it.",
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
    description:
      "Further files to write, in other formats, besides the list itself; see [Outputs](#outputs).",
  },
};

/** What only one of several lists has. */
export const OWN_LISTED_FIELDS = {
  sources: {
    type: "strings",
    description:
      "Names of sources of the top level, in the order in which they appear in this list. Default: all sources.",
    example: ["Ads", "Trackers"],
  },
  covers: {
    type: "strings",
    description:
      "Names of lists that this one must cover: whatever they block, it blocks as well. When that is not so, it is not published.",
    example: ["Light"],
  },
} as const;

/** One of several lists of a configuration; what it does not say, the top level says for it. */
const LISTED_FIELDS: typeof TITLE_FIELDS &
  typeof OWN_LISTED_FIELDS &
  typeof OUTPUTS_FIELD &
  typeof PUBLISH_FIELDS &
  typeof FILTER_FIELDS = {
  ...TITLE_FIELDS,
  ...OWN_LISTED_FIELDS,
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
      "Several lists from the same sources, each of them read once; see [Several lists](#several-lists). Without it, one list of all sources.",
  },
};

const SCHEMA_FIELD = {
  $schema: {
    type: "string",
    description: "Address or path of the JSON Schema, for editors. Not read by the compiler.",
    example: "./node_modules/rules-compiler/schema.json",
  },
} as const;

const SOURCES_FIELD = {
  sources: {
    type: "sources",
    required: true,
    description: "The lists to compile, in the order of the output.",
  },
} as const;

export const GUARD_FIELDS = {
  max_shrink: {
    type: "number",
    description:
      "Per cent of its rules that the list may lose between publishes; within 30 days 10 more. Without it 30.",
  },
  max_source_shrink: {
    type: "number",
    description:
      "Per cent of its entries that a source may lose; within 30 days 10 more. A remote source that loses more is held. Without it 50.",
  },
  max_growth: {
    type: "number",
    description:
      "Per cent by which the list, or a source, of 1,000 rules or more may grow between publishes; within 30 days 100 more. Without it 200.",
  },
  hold: {
    type: "duration",
    description:
      "How long a remote source that differs too much from its last good copy must stay the same before it is accepted; until then, the cached copy is used. Default: `72h`; `0h` accepts it at once.",
    example: "24h",
  },
  min_rules: {
    type: "number",
    description: "Rules that the list, and each of its outputs, must have at least. Without it 1.",
  },
  may_block: {
    type: "strings",
    description:
      "Protected names that rules may block. Without it, rules of sources below full trust for such a name are dropped, and those of other sources are warned about.",
    example: ["crl.microsoft.com"],
  },
  may_block_suffixes: {
    type: "strings",
    description:
      "Public suffixes that rules of fully trusted sources may block as a whole, such as `top`; `*` for all. Without it there is a warning, and a refusal for the twenty largest suffixes and for rules that block nearly everything.",
    example: ["top", "zip"],
  },
  protect: {
    type: "strings",
    description:
      "Files or addresses that hold names which must never be blocked, one a line, besides the built-in ones: checks for a connection, time, certificates, updates, registries of software, and the servers that the sources come from.",
    example: ["never.txt"],
  },
} as const;

/** Where editors find the schema of a configuration that is not beside an installed package. */
export const PUBLIC_SCHEMA = "https://cdn.jsdelivr.net/npm/rules-compiler/schema.json";

export const LIST_FIELDS: typeof SCHEMA_FIELD &
  typeof TITLE_FIELDS &
  typeof SOURCES_FIELD &
  typeof LISTS_FIELD &
  typeof PLUGINS_FIELD &
  typeof OUTPUTS_FIELD &
  typeof PUBLISH_FIELDS &
  typeof FILTER_FIELDS = {
  ...SCHEMA_FIELD,
  ...TITLE_FIELDS,
  ...SOURCES_FIELD,
  ...LISTS_FIELD,
  ...PLUGINS_FIELD,
  ...OUTPUTS_FIELD,
  ...PUBLISH_FIELDS,
  ...FILTER_FIELDS,
};
export const SOURCE_FIELDS: typeof OWN_SOURCE_FIELDS & typeof FILTER_FIELDS = {
  ...OWN_SOURCE_FIELDS,
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

/** What a configuration says about guards. */
export type GuardsConfig = ConfigOf<typeof GUARD_FIELDS>;
/** One further file of a configuration. */
export type OutputConfig = ConfigOf<typeof OUTPUT_FIELDS>;
/** One source of a configuration, as the user writes it. */
export type SourceConfig = ConfigOf<typeof SOURCE_FIELDS>;
/** One of several lists of a configuration. */
export type ListedConfig = ConfigOf<typeof LISTED_FIELDS>;
/** A configuration, as the user writes it, known to be valid. */
export type Config = ConfigOf<typeof LIST_FIELDS>;
