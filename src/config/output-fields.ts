/** What a list, and a source, can be written in. `formats/registry.ts` has the same names, and a test holds them together. */
export const FORMAT_NAMES = [
  "adblock",
  "hosts",
  "domains",
  "wildcard",
  "dnsmasq",
  "dnsmasq-servers",
  "unbound",
  "rpz",
  "dnscrypt",
  "smartdns",
  "dnsdist",
  "squid",
  "rbldnsd",
  "pihole",
  "blocky",
  "json",
] as const;
export type FormatName = (typeof FORMAT_NAMES)[number];

/** What can be said of one further file. */
export const OUTPUT_FIELDS = {
  format: {
    type: "format",
    required: true,
    description: "What it is written in; see [Formats](formats.md).",
    example: "rpz",
  },
  file: {
    type: "string",
    description:
      "Where it is written, below the rules directory (RULES_DIR). `{name}`, `{slug}` and `{format}` are filled in, so that one entry at the top level serves all `lists`. Without it the slug of the list with the ending of the format.",
    example: "{format}/{slug}.txt",
  },
  allow_file: {
    type: "string",
    description:
      "Where exceptions go, for formats that keep them apart. Without it `file` with `.allow` before its ending.",
  },
  on_loss: {
    type: "choice",
    values: ["skip", "widen", "fail"],
    description:
      "What to do about rules that the format cannot say as they are meant: `skip` (the default) says less, and never blocks what the list does not block; `widen` says more, such as all names below one instead of that one, but takes in no name that an exception frees or that is protected; `fail` refuses to publish. What is lost or widened is always reported.",
  },
  answer: {
    type: "choice",
    values: ["nxdomain", "null", "nodata", "refused"],
    description:
      "What a resolver answers for a blocked name, in formats that say so: that there is no such name, 0.0.0.0 and ::, no data, or a refusal.",
  },
  ipv6: {
    type: "boolean",
    description: "For `hosts`: whether each name is also given the address `::`.",
  },
  ttl: {
    type: "number",
    // RFC 2181, section 8.
    most: 2_147_483_647,
    description:
      "For `rpz`: seconds that answers may be kept, a whole number up to 2147483647. Without it 60.",
  },
  origin: {
    type: "string",
    description:
      "For `rpz`: the name that the zone will have, which limits how long names in it may be. Without it `rpz.local`.",
  },
  mailbox: {
    type: "string",
    description: "For `rpz`: the mailbox in the zone's SOA. Without it `hostmaster.localhost.`",
  },
  split: {
    type: "object",
    fields: {
      max_rules: { type: "number", description: "Names in a file at the most." },
      max_bytes: { type: "size", description: "Bytes of a file at the most.", example: "20M" },
    },
    description:
      "Largest size of a file (`max_rules`, `max_bytes`); the rest goes into further ones: `list.txt`, `list-2.txt` …",
  },
  fit: {
    type: "object",
    fields: {
      max_rules: { type: "number", description: "Names and other rules at the most." },
      max_bytes: { type: "size", description: "Bytes at the most.", example: "5M" },
      ram: {
        type: "size",
        description:
          "Memory that the resolver may use for it, by what a name takes in it; see [Formats](formats.md).",
        example: "64M",
      },
    },
    description:
      "What all of it may take at the most (`max_rules`, `max_bytes`, `ram`), exceptions and their file included. Exceptions are never left out; of everything else, sources that stand first in the configuration come first. What is left out is reported for each source.",
  },
  sort: {
    type: "choice",
    values: ["name", "none"],
    description:
      "`name` writes names in the order of their registrable domains, the same whatever the order of the sources; what has to do with exceptions comes first in formats that have them. It takes time and memory for all names at once. `none` (the default) leaves them in the order of the sources.",
  },
  pack: {
    type: "choices",
    values: ["gzip", "zstd"],
    description: "Packed forms to write beside each file: `.gz`, `.zst`.",
  },
} as const;
