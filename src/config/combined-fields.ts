/** Fields of an entry of `combined`. A test compares the formats with `formats/combined/registry.ts`. */
export const COMBINED_FIELDS = {
  format: {
    type: "choice",
    values: ["cdb", "unbound-tags"],
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
} as const;

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
