import type { OutputConfig } from "./lists.ts";

/** Fields of `fit`. */
const FIT_FIELDS = {
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

/** Formats of lists and sources. A test compares them, and `OUTPUT_FORMATS`, with `formats/formats.ts`. */
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

/** The services and devices that `split.for` knows. */
type PresetName = NonNullable<NonNullable<OutputConfig["split"]>["for"]>;

/** The documented limits of a service or device. */
export interface SizePreset {
  readonly service: string;
  /** The format of its lists. */
  readonly format: string;
  /** Maximum number of names per file. */
  readonly names: number;
  /** Maximum size of a file. */
  readonly size?: string;
  /** Maximum number of files, if there is one. */
  readonly files?: number;
  /** Where the limit is documented. */
  readonly source: string;
  /** When we read it. */
  readonly read: string;
  readonly note: string;
}

const CLOUDFLARE = {
  format: "dnsdist",
  files: 100,
  source: "https://developers.cloudflare.com/cloudflare-one/account-limits/",
  read: "2026-11-17",
} as const;

const FORTIGATE = {
  format: "domains",
  files: 1,
  source:
    "https://docs.fortinet.com/document/fortigate/7.4.0/new-features/677896/external-resource-entry-limit-enhancements-7-4-4",
  read: "2026-11-17",
  note: "FortiOS 7.4.4 or newer. The maximum includes all other feeds of names on the device.",
} as const;

/** The limits that `split.for` knows. Only limits that the vendor documents or its software reports. */
export const SIZE_PRESETS: Readonly<Record<PresetName, SizePreset>> = {
  "cloudflare-gateway": {
    ...CLOUDFLARE,
    service: "Cloudflare Gateway (Standard)",
    names: 1000,
    note: "Lists of type `DOMAIN`. The maximum includes all other lists of the account.",
  },
  "cloudflare-gateway-enterprise": {
    ...CLOUDFLARE,
    service: "Cloudflare Gateway (Enterprise)",
    names: 5000,
    note: "As above; the account team can raise it.",
  },
  "fortigate-entry": {
    ...FORTIGATE,
    service: "FortiGate, entry level",
    names: 1_000_000,
    size: "32M",
  },
  "fortigate-mid": {
    ...FORTIGATE,
    service: "FortiGate, mid-range",
    names: 3_000_000,
    size: "64M",
  },
  "fortigate-high": {
    ...FORTIGATE,
    service: "FortiGate, high end",
    names: 5_000_000,
    size: "128M",
  },
  "little-snitch": {
    service: "Little Snitch 5",
    format: "domains",
    names: 200_000,
    source: "https://github.com/fabston/little-snitch-blocklist/issues/14",
    read: "2026-11-17",
    note: "The program's own message; we found no limit in its manual.",
  },
  "pan-os": {
    service: "PAN-OS external dynamic list",
    format: "domains",
    names: 50_000,
    files: 1,
    source:
      "https://docs.paloaltonetworks.com/pan-os/7-1/pan-os-web-interface-help/objects/objects-external-dynamic-lists.html",
    read: "2026-11-17",
    note: "All lists of names of a device together, in PAN-OS 7.1. Newer versions have room for more, by model: set `max_rules` instead.",
  },
};

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

/** Allowed names, guards, and what is published. */
export const PUBLISH_FIELDS = {
  allow: {
    type: "strings",
    description:
      "Names that must stay reachable. A name or a hosts line means that name; `||name^` and `@@||name^` the name and all its subdomains; `*.name` only the subdomains. Rules for these names are removed, in any syntax; if a broader rule blocks them, an exception is added.",
    example: ["status.example.org", "||example.net^"],
  },
  allow_sources: {
    type: "files",
    description: "Files or URLs with entries of `allow`, one per line.",
    example: ["allow.txt"],
  },
  guards: {
    type: "guards",
    description: "Checks before a list is published; see [Guards](#guards).",
  },
  patches: {
    type: "duration",
    description:
      "Writes differences between versions to `patches` beside the list, for subscribers that read `Diff-Path` (AdGuard, uBlock Origin), and keeps each for this time. Subscribers check every 6 hours.",
    example: "7d",
  },
  manifest: {
    type: "object",
    fields: {
      file: {
        type: "string",
        description: "Path below the rules directory; `{name}` and `{slug}` are replaced.",
      },
      valid_for: {
        type: "duration",
        description: "How long after the build it is valid. Default: `14d`.",
        example: "14d",
      },
      key_file: { type: "string", description: "A minisign key without a password." },
    },
    description:
      "Writes a manifest of all files with their SHA-256, a version and an expiry date: `file` (default `manifest.json`, below the rules directory), `valid_for` (default `14d`), and `key_file`, a minisign secret key, for a signature beside it. `verify` checks it.",
  },
  keep_builds: {
    type: "number",
    most: 10_000,
    description:
      "How many builds of the list stay available to `log`, `rollback` and `diff`; at least two. Default: 30, none but the last two older than 90 days.",
  },
  min_sources: {
    type: "number",
    most: 1000,
    description:
      "How many sources must have a rule for it to be published. `||name^`, `name` and `0.0.0.0 name` are rules for the same name. A hosts line with a real address, which redirects a name instead of blocking it, counts only with the same address and name; other rules are compared by their text. A rule for a parent domain does not count. Exceptions always stay. Default: 1.",
  },
} as const;
