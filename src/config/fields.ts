import { COMBINED_FIELD } from "./combined-fields.ts";
import { FIT_FIELD } from "./fit-fields.ts";
import { HOOK_FIELDS } from "./hook-fields.ts";
import { FORMAT_NAMES, type FormatName, OUTPUT_FIELDS } from "./output-fields.ts";
import { PUBLISH_FIELDS } from "./publish-fields.ts";
import { EXPAND_FIELD, RANKS_FIELD } from "./rank-fields.ts";
import { RESOLVERS_FIELDS } from "./resolver-fields.ts";
import { FEED_NAMES, type FeedName, SOURCE_ONLY_FIELDS } from "./source-fields.ts";
import { TITLE_FIELDS } from "./title-fields.ts";

export type { Field } from "./field.ts";

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
