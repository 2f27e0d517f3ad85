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
import type { TransformationName } from "./transformation-name.ts";
import { FEED_NAMES, type FeedName, SOURCE_ONLY_FIELDS } from "./sources.ts";

/** Lists of popular names. */
const RANKS_FIELD = {
  ranks: {
    type: "files",
    default: "nothing",
    description:
      "Lists of popular names, the most popular first; see [Popularity](../guide/popularity.md). The rank of a name is its place in the list; of several lists, the best place counts.",
    example: ["top-1m.csv.zip"],
  },
} as const;

/** Fields of `expand`. */
const EXPAND_FIELDS = {
  names: {
    type: "files",
    default: "the lists of `ranks`",
    description:
      "Files or URLs with names: popular names, hosts files (`type: hosts`), rules (`type: adblock`), feeds, or one name per line.",
    example: ["top-1m.csv.zip", { source: "https://example.org/hosts.txt", type: "hosts" }],
  },
  logs: {
    type: "strings",
    default: "nothing",
    description:
      "Query logs, in any form that `--traffic` reads. Each output of single names then tells how much of them it blocks, in percent of the queries that the list blocks. The outputs contain names that clients asked for, if the list blocks them.",
    example: ["/var/log/pihole/pihole.log"],
  },
  per_domain: {
    type: "number",
    default: "`20000`",
    most: 1_000_000,
    description:
      "Maximum number of names that are added below one registrable domain: first those with the most queries, then the most popular. Losses count the others as `per-domain`.",
    example: 100,
    beside: { names: ["names.txt"] },
  },
} as const;

/** Names for rules that formats cannot express, or only for a name alone. */
const EXPAND_FIELD: {
  readonly expand: { readonly type: "object"; readonly fields: typeof EXPAND_FIELDS } & Optional;
} = {
  expand: {
    type: "object",
    fields: EXPAND_FIELDS,
    default: "nothing",
    description:
      "Writes known names that the list blocks: those below a blocked name, in formats that block single names, such as `hosts` and `domains`; and those that a pattern matches, in formats without patterns. Names that exceptions free are not written. See [known names](../guide/popularity.md#write-known-names).",
    example: { names: ["top-1m.csv.zip"] },
  },
};

/** Fields of the header. */
const TITLE_FIELDS = {
  name: {
    type: "string",
    required: true,
    description:
      "Name of the list, which is its title, too, unless `title` is set. Its slug is the name of the output file.",
    example: "My list",
  },
  title: {
    type: "string",
    default: "the name",
    description:
      "Title in the header, if it differs from the name. Files and commands follow the name, so a title can change, and can have any characters.",
    example: "Pro++",
  },
  description: {
    type: "string",
    default: "nothing",
    description: "Shown in the header of the compiled list.",
    example: "Ads and trackers",
  },
  version: {
    type: "string",
    default: "nothing",
    description:
      "Version label of the compiled list; `{date}` (20260131), `{time}` (0930, in UTC) and `{count}` (its rules) are replaced. It is a string, so quote it in YAML.",
    example: "{date}.{count}",
  },
  homepage: {
    type: "string",
    default: "nothing",
    description: "Home page of the list, shown in the header.",
    example: "https://example.org/list",
  },
  license: {
    type: "string",
    default: "nothing",
    description: "Licence of the compiled list, shown in the header.",
    example: "MIT",
  },
  expires: {
    type: "duration",
    default: "nothing",
    description:
      "How long subscribers wait before they check for a new version: `Expires` in the header, in whole hours or days.",
    example: "1d",
  },
  header: {
    type: "strings",
    default: "nothing",
    description:
      "Additional lines of the header, without comment characters, in every format that has comments. The placeholders of `version` are replaced.",
    example: ["Issues: https://example.org/issues", "Number of entries: {count}"],
  },
} as const;

/** What the lines of a source may do. */
export type Trust = keyof typeof SOURCE_ONLY_FIELDS.trust.values;

/** The formats and feeds that sources can have. */
export const SOURCE_TYPES: readonly SourceType[] = [...FORMAT_NAMES, ...FEED_NAMES];
/** What a source is read as: the format of a list, or a feed. */
export type SourceType = FormatName | FeedName;

/** What `transformations: recommended` means: the usual transformations of a DNS list. */
export const RECOMMENDED: readonly TransformationName[] = [
  "TrimLines",
  "RemoveComments",
  "Compress",
  "Validate",
  "Deduplicate",
  "RemoveEmptyLines",
  "InsertFinalNewLine",
];
export const RECOMMENDED_WORD = "recommended";

/** Fields that lists and sources share. */
const FILTER_FIELDS = {
  transformations: {
    type: "transformations",
    default: "nothing",
    description:
      "Each runs once, in the fixed order of the [reference](transformations.md); their order here does not matter. `recommended` means those of most lists.",
    example: "recommended",
  },
  exclusions: {
    type: "entries",
    default: "nothing",
    description:
      "Lines to leave out: text that occurs in the line, a wildcard over the whole line (`*.example.org^`), a regular expression (`/…/`), or a rule for a name (`||example.org^`, `@@||example.org^`, `0.0.0.0 example.org`), which matches every rule for that name, in any syntax.",
    example: ["||example.org^", "/banner\\d+/"],
  },
  exclusions_sources: {
    type: "files",
    default: "nothing",
    description:
      "Files or URLs with exclusions, one per line (an allow-list). Comments, blank lines, leading and trailing blanks and a trailing ` # note` are ignored.",
    example: ["allow.txt"],
  },
  inclusions: {
    type: "entries",
    default: "nothing",
    description:
      "Entries in the same form as `exclusions`. Only lines that match one of them are kept.",
    example: ["*.example.org*"],
  },
  inclusions_sources: {
    type: "files",
    default: "nothing",
    description: "Files or URLs with inclusions.",
    example: ["only-these.txt"],
  },
} as const;

const PLUGINS_FIELD = {
  plugins: {
    type: "strings",
    default: "nothing",
    description:
      "Modules with custom transformations and formats, relative to the configuration; see [plugins](../guide/plugins.md). They run only with `--permit plugins`.",
    example: ["my-plugin.mjs"],
  },
} as const;

const AFTER_FIELD: {
  readonly after: {
    readonly type: "objects";
    readonly fields: typeof HOOK_FIELDS;
  } & Optional;
} = {
  after: {
    type: "objects",
    fields: HOOK_FIELDS,
    default: "nothing",
    description:
      "What to do after a build: programs, messages, reloads. They run only with `--permit hooks`.",
    example: [{ reload: "unbound" }],
  },
};

const OUTPUTS_FIELD: {
  readonly outputs: {
    readonly type: "objects";
    readonly fields: typeof OUTPUT_FIELDS;
  } & Optional;
} = {
  outputs: {
    type: "objects",
    fields: OUTPUT_FIELDS,
    default: "nothing",
    description: "Additional files in other formats.",
    example: [{ format: "unbound" }, { format: "rpz", file: "blocked.zone" }],
  },
};

/** Fields that only an entry of `lists` has. */
export const LISTED_ONLY_FIELDS = {
  sources: {
    type: "strings",
    default: "all sources",
    description:
      "Names of sources of the top level, in the order in which they appear in this list.",
    example: ["Ads"],
    beside: { name: "Light" },
    needs: {
      sources: [
        { name: "Ads", source: "ads.txt" },
        { name: "Trackers", source: "trackers.txt" },
      ],
    },
  },
  covers: {
    type: "strings",
    default: "nothing",
    description:
      "Names of lists that this one must cover: it must block everything that they block. Otherwise it is not published.",
    example: ["Light"],
    beside: { name: "Pro" },
    needs: { lists: [{ name: "Light" }] },
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
  } & Optional;
} = {
  lists: {
    type: "objects",
    fields: LISTED_FIELDS,
    default: "one list of all sources",
    description: "Several lists from the same sources, each of which is read once.",
    example: [{ name: "Small", sources: ["https://example.org/hosts.txt"] }, { name: "Large" }],
    needs: { sources: ["https://example.org/hosts.txt", "https://example.net/more.txt"] },
  },
};

const SCHEMA_FIELD = {
  $schema: {
    type: "string",
    default: "nothing",
    description:
      "URL or path of the JSON Schema, with which editors explain, complete and check a configuration. The compiler ignores it. In YAML, write it as the first line instead: `# yaml-language-server: $schema=URL`.",
    example: "https://rules-compiler.github.io/rules-compiler/schema.json",
  },
} as const;

/** The address of the schema, which the site publishes. */
export const PUBLIC_SCHEMA: string = SCHEMA_FIELD.$schema.example;

const SOURCES_FIELD = {
  sources: {
    type: "sources",
    required: true,
    description:
      "The lists to compile, in their order in the output. A string is a source that has only `source`.",
    example: ["https://example.org/hosts.txt", { source: "own.txt", name: "Own rules" }],
  },
} as const;

export const LIST_FIELDS: typeof SCHEMA_FIELD &
  typeof TITLE_FIELDS &
  typeof SOURCES_FIELD &
  typeof FILTER_FIELDS &
  typeof PUBLISH_FIELDS &
  typeof RANKS_FIELD &
  typeof FIT_FIELD &
  typeof OUTPUTS_FIELD &
  typeof EXPAND_FIELD &
  typeof LISTS_FIELD &
  typeof COMBINED_FIELD &
  typeof RESOLVERS_FIELDS &
  typeof AFTER_FIELD &
  typeof PLUGINS_FIELD = {
  ...SCHEMA_FIELD,
  ...TITLE_FIELDS,
  ...SOURCES_FIELD,
  ...FILTER_FIELDS,
  ...PUBLISH_FIELDS,
  ...RANKS_FIELD,
  ...FIT_FIELD,
  ...OUTPUTS_FIELD,
  ...EXPAND_FIELD,
  ...LISTS_FIELD,
  ...COMBINED_FIELD,
  ...RESOLVERS_FIELDS,
  ...AFTER_FIELD,
  ...PLUGINS_FIELD,
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
  /** A list of names from the registry of transformations, or `RECOMMENDED_WORD` */
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
  /** What resolvers answer: `AnswerConfig` */
  | "answer"
  /** A list of some of `values` */
  | "choices"
  /** An object with `fields` */
  | "object"
  /** A list of objects with `fields` */
  | "objects";

/** A value of a configuration. */
export type Json = string | number | boolean | readonly Json[] | { readonly [key: string]: Json };

/** What the reference and the schema have for every field. */
interface Described {
  /** In Markdown. What `values` say is not repeated. */
  readonly description: string;
  /** A value that differs from the default. */
  readonly example: Json;
  /** Other settings of the same object that the example needs. */
  readonly beside?: Readonly<Record<string, Json>>;
  /** Settings at the top level that the example needs. */
  readonly needs?: Readonly<Record<string, readonly Json[]>>;
}

/** A field that may be absent. */
export interface Optional extends Described {
  readonly required?: false;
  /** What holds without it, in Markdown. Only code is the value itself: `50` between backticks. */
  readonly default: string;
}

interface Required extends Described {
  readonly required: true;
  readonly default?: never;
}

export type Field = (Optional | Required) & {
  readonly type: FieldType;
  /** The values of a choice, each with its meaning. */
  readonly values?: Readonly<Record<string, string>>;
  /** The maximum of a number that must be an integer. */
  readonly most?: number;
  readonly fields?: Readonly<Record<string, Field>>;
  /** Of a list of objects: the field that an entry sets if it is only a text. */
  readonly plain?: string;
  /** Of a field that lists and outputs share: which of them has it. */
  readonly of?: "list" | "output";
};

/** Fields of `guards`. */
export const GUARD_FIELDS = {
  max_shrink: {
    type: "number",
    default: "`50`",
    description:
      "Percentage of its names that a remote source may lose from one publish to the next; 10 points more within 7 and 30 days. One that loses more is held.",
    example: 30,
  },
  max_growth: {
    type: "number",
    default: "`200`",
    description:
      "Percentage of its names that a remote source may gain from one publish to the next, and at least 1,000 names; 100 points more within 7 and 30 days. One that gains more is held.",
    example: 100,
  },
  min_rules: {
    type: "number",
    default: "`1`",
    description: "Minimum number of rules in the list and in each of its outputs.",
    example: 10_000,
  },
  may_block: {
    type: "strings",
    default: "nothing",
    description:
      "Protected names that rules may block, and [kinds](#names-that-people-need) of names that people need. Other rules for such a name are dropped if their source is below full trust.",
    example: ["crl.microsoft.com", "games"],
  },
  may_block_suffixes: {
    type: "strings",
    default: "nothing",
    description:
      "Public suffixes that rules of fully trusted sources may block as a whole, such as `top`; `*` for all. Other such rules cause a warning; rules for the twenty largest suffixes and rules that block nearly everything are refused.",
    example: ["top", "zip"],
  },
  protect: {
    type: "files",
    default: "nothing",
    description:
      "Files or URLs with names that must never be blocked, one per line, in addition to the built-in ones: connectivity checks, time, certificates, updates, package registries, and the servers of the sources.",
    example: ["never.txt"],
  },
  breaks_traffic: {
    type: "object",
    default: "nothing",
    fields: {
      logs: {
        type: "strings",
        required: true,
        description: "Query logs, in any form that `--traffic` reads.",
        example: ["/var/log/pihole/pihole.log"],
      },
      max_queries: {
        type: "number",
        default: "any number",
        description: "How many queries may be newly blocked.",
        example: 1000,
      },
      max_percent: {
        type: "number",
        default: "`1` without `max_queries`, otherwise any",
        description: "Which percentage of all queries may be newly blocked.",
        example: 0.5,
      },
    },
    description:
      "Drops the lines of a source below full trust that would block more than `max_queries`, or more than `max_percent` percent, of the queries in `logs` that the published list does not block. A source that is new to the list may block any. See [traffic](../guide/traffic.md).",
    example: { logs: ["/var/log/pihole/pihole.log"] },
  },
  newly_blocks: {
    type: "number",
    default: "nothing",
    most: 100_000,
    description:
      "Popular names up to this rank (`ranks`), at most 100000, that a source below full trust must not newly block: rules for such a name are dropped, and broader rules get exceptions. A name is new if no published list of the last 30 days blocked it. `may_block` permits names; a source that is new to the list may block any.",
    example: 10_000,
    needs: { ranks: ["top-1m.csv.zip"] },
  },
} as const;
