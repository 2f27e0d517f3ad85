import { HOOK_FIELDS } from "./hooks.ts";
import {
  COMBINED_FIELD,
  FIT_FIELD,
  FORMAT_NAMES,
  type FormatName,
  OUTPUT_FIELDS,
  PUBLISH_FIELDS,
} from "./outputs.ts";
import { RESOLVERS_FIELDS } from "./resolvers.ts";
import { FEED_NAMES, type FeedName, SOURCE_ONLY_FIELDS } from "./sources.ts";

/** Lists of popular names. */
const RANKS_FIELD = {
  ranks: {
    type: "files",
    description:
      "Lists of popular names, the most popular first; see [Popularity](../guide/popularity.md). The rank of a name is its place in the list; of several lists, the best place counts.",
    example: ["top-1m.csv.zip"],
  },
} as const;

/** Names for patterns that formats cannot express. */
const EXPAND_FIELD = {
  expand: {
    type: "files",
    description:
      "Lists of names for formats that have neither wildcards nor regular expressions: those of them that a pattern of the list blocks are written as rules. Losses count these patterns as `expanded`.",
    example: ["top-1m.csv.zip"],
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

/**
 * Every field of a configuration, once. Validation, the `Config` type, schema.json and docs/reference/configuration.md
 * all come from these two tables.
 */

/** The formats and feeds that sources can have. */
export const SOURCE_TYPES: readonly SourceType[] = [...FORMAT_NAMES, ...FEED_NAMES];
/** What a source is read as: the format of a list, or a feed. */
export type SourceType = FormatName | FeedName;

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
    type: "files",
    description:
      "Files or URLs with exclusions, one per line (an allow-list). Comments, blank lines, leading and trailing blanks and a trailing ` # note` are ignored.",
    example: ["allow.txt"],
  },
  inclusions: {
    type: "entries",
    description:
      "Entries in the same form as `exclusions`. Only lines that match one of them are kept.",
    example: ["*.example.org*"],
  },
  inclusions_sources: {
    type: "files",
    description: "Files or URLs with inclusions.",
    example: ["only-these.txt"],
  },
} as const;

const PLUGINS_FIELD = {
  plugins: {
    type: "strings",
    description:
      "Modules with custom transformations and formats, relative to the configuration; see [plugins](../guide/plugins.md). They run only with `--permit plugins`.",
    example: ["my-plugin.mjs"],
  },
} as const;

const AFTER_FIELD: {
  readonly after: {
    readonly type: "objects";
    readonly fields: typeof HOOK_FIELDS;
    readonly description: string;
  };
} = {
  after: {
    type: "objects",
    fields: HOOK_FIELDS,
    description:
      "What to do after a build: programs, messages, reloads; see [Hooks](#hooks). They run only with `--permit hooks`.",
  },
};

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
export const LISTED_FIELDS: typeof TITLE_FIELDS &
  typeof LISTED_ONLY_FIELDS &
  typeof OUTPUTS_FIELD &
  typeof EXPAND_FIELD &
  typeof FIT_FIELD &
  typeof PUBLISH_FIELDS &
  typeof FILTER_FIELDS = {
  ...TITLE_FIELDS,
  ...LISTED_ONLY_FIELDS,
  ...OUTPUTS_FIELD,
  ...EXPAND_FIELD,
  ...FIT_FIELD,
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
  typeof COMBINED_FIELD &
  typeof PLUGINS_FIELD &
  typeof AFTER_FIELD &
  typeof OUTPUTS_FIELD &
  typeof EXPAND_FIELD &
  typeof FIT_FIELD &
  typeof PUBLISH_FIELDS &
  typeof RANKS_FIELD &
  typeof RESOLVERS_FIELDS &
  typeof FILTER_FIELDS = {
  ...SCHEMA_FIELD,
  ...TITLE_FIELDS,
  ...SOURCES_FIELD,
  ...LISTS_FIELD,
  ...COMBINED_FIELD,
  ...PLUGINS_FIELD,
  ...AFTER_FIELD,
  ...OUTPUTS_FIELD,
  ...EXPAND_FIELD,
  ...FIT_FIELD,
  ...PUBLISH_FIELDS,
  ...RANKS_FIELD,
  ...RESOLVERS_FIELDS,
  ...FILTER_FIELDS,
};
export const SOURCE_FIELDS: typeof SOURCE_ONLY_FIELDS & typeof FILTER_FIELDS = {
  ...SOURCE_ONLY_FIELDS,
  ...FILTER_FIELDS,
};

type FieldType =
  /** Any text; `required` ones must not be empty */
  | "string"
  /** A list of strings */
  | "strings"
  /** A string or a list of strings */
  | "string-or-list"
  /** A list of exclusions or inclusions; regular expressions among them must compile */
  | "entries"
  /** An address or a path */
  | "source"
  /** A list of names from the registry of transformations */
  | "transformations"
  /** A list of sources; at least one. A text is a source without settings. */
  | "sources"
  /** A list of files of names or entries: texts, or sources with some of their settings */
  | "files"
  /** One of `FORMAT_NAMES` or `FEED_NAMES` */
  | "source-type"
  /** The name of a column, or its number */
  | "column"
  /** An object of texts */
  | "matches"
  /** One of `TRUST_LEVELS` */
  | "trust"
  | "boolean"
  /** A number of at least 0 */
  | "number"
  /** Checks before a list is published: `GUARD_FIELDS` */
  | "guards"
  /** A duration: a number and `s`, `m`, `h` or `d` */
  | "duration"
  /** A number of bytes: a number and `k`, `M` or `G`, or nothing */
  | "size"
  /** One of `OUTPUT_FORMATS` */
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
  /** The maximum of a number that must be an integer. */
  readonly most?: number;
  readonly fields?: Readonly<Record<string, Field>>;
  /** Of a list of objects: the field that an entry sets if it is only a text. */
  readonly plain?: string;
}

/** Fields of `guards`. */
export const GUARD_FIELDS = {
  max_shrink: {
    type: "number",
    description:
      "Percentage of its names that a remote source may lose from one publish to the next; 10 points more within 7 and 30 days. One that loses more is held. Default: 50.",
  },
  max_growth: {
    type: "number",
    description:
      "Percentage of its names that a remote source may gain from one publish to the next, and at least 1,000 names; 100 points more within 7 and 30 days. One that gains more is held. Default: 200.",
  },
  min_rules: {
    type: "number",
    description: "Minimum number of rules in the list and in each of its outputs. Default: 1.",
  },
  may_block: {
    type: "strings",
    description:
      "Protected names that rules may block, and [kinds](#names-that-people-need) of names that people need. By default, rules for such a name are dropped if their source is below full trust.",
    example: ["crl.microsoft.com", "games"],
  },
  may_block_suffixes: {
    type: "strings",
    description:
      "Public suffixes that rules of fully trusted sources may block as a whole, such as `top`; `*` for all. By default, such rules cause a warning; rules for the twenty largest suffixes and rules that block nearly everything are refused.",
    example: ["top", "zip"],
  },
  protect: {
    type: "files",
    description:
      "Files or URLs with names that must never be blocked, one per line, in addition to the built-in ones: connectivity checks, time, certificates, updates, package registries, and the servers of the sources.",
    example: ["never.txt"],
  },
  breaks_traffic: {
    type: "object",
    fields: {
      logs: {
        type: "strings",
        required: true,
        description: "Query logs, in any form that `--traffic` reads.",
      },
      max_queries: { type: "number", description: "How many queries may be newly blocked." },
      max_percent: { type: "number", description: "Which percentage of all queries." },
    },
    description:
      "Drops the lines of a source below full trust that would block more than `max_queries`, or more than `max_percent` percent, of the queries in `logs` that the published list does not block. Default: 1 percent. A source that is new to the list may block any. See [traffic](../guide/traffic.md).",
  },
  newly_blocks: {
    type: "number",
    most: 100_000,
    description:
      "Popular names up to this rank (`ranks`), at most 100000, that a source below full trust must not newly block: rules for such a name are dropped, and broader rules get exceptions. A name is new if no published list of the last 30 days blocked it. `may_block` permits names; a source that is new to the list may block any.",
  },
} as const;
