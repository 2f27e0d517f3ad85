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
