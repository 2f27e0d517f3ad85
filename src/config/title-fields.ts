/** Fields of the header. */
export const TITLE_FIELDS = {
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
