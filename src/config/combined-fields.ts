/** Fields of a group of clients. */
export const GROUP_FIELDS = {
  name: {
    type: "string",
    required: true,
    description: "Name, of letters, digits and hyphens; at most 40.",
    example: "guests",
  },
  clients: {
    type: "strings",
    required: true,
    description:
      "Addresses and networks. If a client is in networks of several groups, the smallest network decides.",
    example: ["192.0.2.0/24", "2001:db8::/32"],
  },
  lists: {
    type: "strings",
    description:
      "Names of the lists for these clients; `[]` for none. Default: all lists of the file.",
    example: ["Light"],
  },
} as const;

const GROUPS_FIELD: {
  readonly groups: {
    readonly type: "objects";
    readonly fields: typeof GROUP_FIELDS;
    readonly description: string;
  };
} = {
  groups: {
    type: "objects",
    fields: GROUP_FIELDS,
    description: "For `bind-views`: groups of clients, and the lists of each.",
  },
};

const FILE_FIELDS = {
  format: {
    type: "choice",
    values: ["bind-views", "cdb", "unbound-tags"],
    required: true,
    description: "Format; see [Formats](formats.md#several-lists-in-one-file).",
    example: "unbound-tags",
  },
  file: {
    type: "string",
    required: true,
    description: "Path, relative to the rules directory (RULES_DIR).",
    example: "unbound-tags.conf",
  },
  lists: {
    type: "strings",
    description: "Names of the lists, at most 31. Default: all.",
    example: ["Light", "Pro"],
  },
  include: {
    type: "string",
    description:
      "For `bind-views`: path of a file with statements that every view includes, such as other zones.",
    example: "/etc/bind/every-view.conf",
  },
} as const;

/** Fields of an entry of `combined`. A test compares the formats with `formats/combined/registry.ts`. */
export const COMBINED_FIELDS: typeof FILE_FIELDS & typeof GROUPS_FIELD = {
  ...FILE_FIELDS,
  ...GROUPS_FIELD,
};

export const COMBINED_FIELD: {
  readonly combined: {
    readonly type: "objects";
    readonly fields: typeof COMBINED_FIELDS;
    readonly description: string;
  };
} = {
  combined: {
    type: "objects",
    fields: COMBINED_FIELDS,
    description:
      "Files that have the names of several `lists` once, and say for each name which lists block it; see [Several lists in one file](#several-lists-in-one-file).",
  },
};
