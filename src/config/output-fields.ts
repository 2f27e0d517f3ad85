import { FIT_FIELD } from "./fit-fields.ts";

/** Formats of lists and sources. A test compares them, and `OUTPUT_FORMATS`, with `formats/registry.ts`. */
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
  "mihomo",
  "sing-box",
  "json",
] as const;
/** The formats that lists can be read and written in. */
export type FormatName = (typeof FORMAT_NAMES)[number];

/** Formats of outputs. A constant database cannot be a source. */
export const OUTPUT_FORMATS: readonly OutputFormat[] = [...FORMAT_NAMES, "cdb"];
/** The formats that lists can be written in. */
export type OutputFormat = FormatName | "cdb";

const OWN_FIELDS = {
  format: {
    type: "format",
    required: true,
    description: "Format; see [Formats](formats.md).",
    example: "rpz",
  },
  file: {
    type: "string",
    description:
      "Path below the rules directory (RULES_DIR). `{name}`, `{slug}` and `{format}` are replaced, so that one entry at the top level serves all `lists`. Default: the slug of the list with the extension of the format.",
    example: "{format}/{slug}.txt",
  },
  on_loss: {
    type: "choice",
    values: ["skip", "widen", "fail"],
    description:
      "What to do with rules that the format cannot express exactly: `skip` (the default) omits them, and never blocks more than the list; `widen` blocks more, such as all subdomains of a name, but no name that an exception allows or that is protected; `fail` refuses to publish. Skipped and widened rules are always reported.",
  },
  answer: {
    type: "choice",
    values: ["nxdomain", "null", "nodata", "refused"],
    description:
      "Answer of the resolver for a blocked name, in formats that define it: the name does not exist, 0.0.0.0 and ::, no data, or refused. `hosts` has 0.0.0.0 by default, and both with `null`.",
  },
  ttl: {
    type: "number",
    // RFC 2181, section 8.
    most: 2_147_483_647,
    description:
      "For `rpz`: time to live of answers in seconds, an integer up to 2147483647. Default: 60.",
  },
  origin: {
    type: "string",
    description:
      "For `rpz`: the name of the zone, which limits the length of names in it. Default: `rpz.local`.",
  },
  updates: {
    type: "string",
    description:
      "For `rpz`: the address of the primary, with the port after `#` if it is not 53. Each publish then writes the difference to the zone before as a script for `nsupdate`, beside the zone: `list.rpz.nsupdate`; see [Zone transfer](../guide/zone-transfer.md#change-a-few-records-of-a-large-zone).",
    example: "127.0.0.1",
  },
  split: {
    type: "object",
    fields: {
      max_rules: { type: "number", description: "Maximum number of names per file." },
      max_bytes: { type: "size", description: "Maximum size of a file.", example: "20M" },
      stable: {
        type: "boolean",
        description:
          "Whether names stay in their file from build to build, so that few files change. New names go to files that change anyway.",
      },
      for: {
        type: "choice",
        values: [
          "cloudflare-gateway",
          "cloudflare-gateway-enterprise",
          "fortigate-entry",
          "fortigate-mid",
          "fortigate-high",
          "little-snitch",
          "pan-os",
        ],
        description:
          "The service or device that the files are for. Sets `max_rules`, `max_bytes` and `stable`, and how many files there may be; see [Formats](formats.md#limits-of-services-and-devices).",
        example: "cloudflare-gateway",
      },
    },
    description:
      "Largest size of a file (`max_rules`, `max_bytes`); the rest goes into additional files: `list.txt`, `list-2.txt` …, at most 1,000 files. With `stable: true`, names stay in their file from build to build, so that few files change. `for` sets all of them to the limits of a [service or device](formats.md#limits-of-services-and-devices).",
  },
  sort: {
    type: "choice",
    values: ["name", "none"],
    description:
      "`name` sorts names by their registrable domains, independent of the order of the sources; names that involve exceptions come first in formats that have them. It needs time and memory for all names at once. `none` (the default) keeps the order of the sources.",
  },
  pack: {
    type: "choices",
    values: ["gzip", "zstd"],
    description: "Compressed copies to write beside each file: `.gz`, `.zst`.",
  },
} as const;

/** Fields of an output. */
export const OUTPUT_FIELDS: typeof OWN_FIELDS & typeof FIT_FIELD = { ...OWN_FIELDS, ...FIT_FIELD };
