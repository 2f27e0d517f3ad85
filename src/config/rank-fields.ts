import { SOURCE_ONLY_FIELDS } from "./source-fields.ts";

const { source, type, column, delimiter, path, where } = SOURCE_ONLY_FIELDS;
const { mirrors, max_stale, timeout, member, max_bytes } = SOURCE_ONLY_FIELDS;
const { auth, headers_file, allow_private, secret } = SOURCE_ONLY_FIELDS;

/** Fields of a list of names: those of a source that say where it is and how it is read. */
export const NAME_LIST_FIELDS: Pick<
  typeof SOURCE_ONLY_FIELDS,
  | "source"
  | "column"
  | "delimiter"
  | "path"
  | "where"
  | "mirrors"
  | "max_stale"
  | "timeout"
  | "member"
  | "max_bytes"
  | "auth"
  | "headers_file"
  | "allow_private"
  | "secret"
> & { readonly type: { readonly type: "source-type"; readonly description: string } } = {
  source,
  type: {
    type: type.type,
    description:
      "A [feed](../guide/feeds.md), such as `tranco` or `csv`, or `domains`, one name per line. Default: `tranco`, that is `rank,name`, if `.csv` occurs in the address or path, otherwise `domains`.",
  },
  column,
  delimiter,
  path,
  where,
  mirrors,
  max_stale,
  timeout,
  member,
  max_bytes,
  auth,
  headers_file,
  allow_private,
  secret,
};

/** Lists of popular names. */
export const RANKS_FIELD: {
  readonly ranks: {
    readonly type: "objects";
    readonly plain: "source";
    readonly fields: typeof NAME_LIST_FIELDS;
    readonly description: string;
  };
} = {
  ranks: {
    type: "objects",
    plain: "source",
    fields: NAME_LIST_FIELDS,
    description:
      "Lists of popular names, the most popular first; see [Popularity](../guide/popularity.md). The rank of a name is its place in the list; of several lists, the best place counts.",
  },
};

/** Names for patterns that formats cannot express. */
export const EXPAND_FIELD: {
  readonly expand: {
    readonly type: "object";
    readonly fields: {
      readonly with: {
        readonly type: "objects";
        readonly plain: "source";
        readonly required: true;
        readonly fields: typeof NAME_LIST_FIELDS;
        readonly description: string;
      };
    };
    readonly description: string;
  };
} = {
  expand: {
    type: "object",
    fields: {
      with: {
        type: "objects",
        plain: "source",
        required: true,
        fields: NAME_LIST_FIELDS,
        description: "Lists of names, as in `ranks`.",
      },
    },
    description:
      "For formats that have neither wildcards nor regular expressions: the names of the lists in `with` that a pattern of the list blocks are written as rules. Losses count these patterns as `expanded`.",
  },
};
