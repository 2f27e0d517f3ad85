/** Fields of `fit`. */
export const FIT_FIELDS = {
  top: {
    type: "number",
    most: 1_000_000_000,
    description:
      "For a list: only rules that match a name of `ranks` up to this rank stay, in the list and in all its outputs.",
  },
  max_rules: {
    type: "number",
    description: "For an output: maximum number of names and other rules.",
  },
  max_bytes: { type: "size", description: "For an output: maximum size.", example: "5M" },
  ram: {
    type: "size",
    description:
      "For an output: memory that the resolver may use for it, estimated from its memory per name; see [Formats](formats.md).",
    example: "64M",
  },
} as const;

/** What a list or an output has space for. */
export const FIT_FIELD: {
  readonly fit: {
    readonly type: "object";
    readonly fields: typeof FIT_FIELDS;
    readonly description: string;
  };
} = {
  fit: {
    type: "object",
    fields: FIT_FIELDS,
    description:
      "What there is space for. A list keeps the rules of the `top` most popular names of `ranks`, so that a small list blocks what many people meet. An output has limits (`max_rules`, `max_bytes`, `ram`), which include exceptions and their file; rules for popular names have priority, then those of earlier sources. Exceptions always stay. Rules that are left out are reported per source.",
  },
};
