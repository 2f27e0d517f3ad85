import { nearest, printable, someOf } from "../diagnostics/text.ts";
import { type Answer, addressAnswer, aliasAnswer } from "../meaning/answer.ts";
import type { Optional } from "./fields.ts";
import type { ConfigNode, ConfigProblems } from "./problems.ts";

/** The value of a name in a database has a digit for every four lists. */
export const MOST_COMBINED_LISTS = 512;

/** Fields of `fit`. */
const FIT_FIELDS = {
  top: {
    type: "number",
    of: "list",
    default: "nothing",
    most: 1_000_000_000,
    description:
      "Only rules that match a name of `ranks` up to this rank stay, in the list and in all its outputs.",
    example: 100_000,
    needs: { ranks: ["top-1m.csv.zip"] },
  },
  max_rules: {
    type: "number",
    of: "output",
    default: "nothing",
    description: "Maximum number of names and other rules.",
    example: 50_000,
  },
  max_bytes: {
    type: "size",
    of: "output",
    default: "nothing",
    description: "Maximum size.",
    example: "5M",
  },
  ram: {
    type: "size",
    of: "output",
    default: "nothing",
    description:
      "Memory that the resolver may use for it, estimated from its memory per name; see [Formats](formats.md).",
    example: "64M",
  },
} as const;

/** What a list or an output has space for. */
export const FIT_FIELD: {
  readonly fit: { readonly type: "object"; readonly fields: typeof FIT_FIELDS } & Optional;
} = {
  fit: {
    type: "object",
    fields: FIT_FIELDS,
    default: "nothing",
    description:
      "What there is space for. A list keeps the rules of the `top` most popular names of `ranks`, so that a small list blocks what many people meet. An output has limits (`max_rules`, `max_bytes`, `ram`), which include exceptions and their file; rules for popular names have priority, then those of earlier sources. Exceptions always stay. Rules that are left out are reported per source.",
    example: { top: 100_000 },
    needs: { ranks: ["top-1m.csv.zip"] },
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
    description: "Format of the file; see [Formats](formats.md).",
    example: "rpz",
  },
  file: {
    type: "string",
    default: "the slug of the list with the extension of the format",
    description:
      "Path below the rules directory (RULES_DIR). `{name}`, `{slug}` and `{format}` are replaced, so that one entry at the top level serves all `lists`.",
    example: "{format}/{slug}.txt",
  },
  on_loss: {
    type: "choice",
    default: "`skip`",
    values: {
      skip: "Omits them, and never blocks more than the list",
      widen:
        "Blocks more, such as all subdomains of a name, but no name that an exception allows or that is protected",
      fail: "Refuses to publish",
    },
    description:
      "What to do with rules that the format cannot express exactly. Skipped and widened rules are always reported.",
    example: "widen",
  },
  answer: {
    type: "answer",
    default: "the first of the [format](formats.md#answers)",
    values: {
      nxdomain: "The name does not exist",
      null: "0.0.0.0 and ::. Without it, `hosts` has 0.0.0.0 alone",
      nodata: "The name exists and has no address",
      refused: "The resolver refuses to answer",
      "{ address: [192.0.2.10, 2001:db8::10] }":
        "The addresses of a page, and nothing for other types of questions. Without an IPv6 address, the name has none",
      "{ cname: page.example.net }":
        "Whatever is true of the page. The list never blocks this name",
    },
    description:
      "Answer of the resolver for a blocked name, in [formats that have it](formats.md#answers). A [block page](../guide/answers.md) appears for `http://` addresses only.",
    example: { address: ["192.0.2.10", "2001:db8::10"] },
    beside: { format: "rpz" },
  },
  ttl: {
    type: "number",
    default: "`60`",
    // RFC 2181, section 8.
    most: 2_147_483_647,
    description: "For `rpz`: time to live of answers in seconds, an integer up to 2147483647.",
    example: 300,
  },
  origin: {
    type: "string",
    default: "`rpz.local`",
    description: "For `rpz`: the name of the zone, which limits the length of names in it.",
    example: "blocked.example.net",
  },
  updates: {
    type: "string",
    default: "nothing",
    description:
      "For `rpz`: the address of the primary, with the port after `#` if it is not 53. Each publish then writes the difference to the zone before as a script for `nsupdate`, beside the zone: `list.rpz.nsupdate`; see [Zone transfer](../guide/zone-transfer.md#change-a-few-records-of-a-large-zone).",
    example: "127.0.0.1",
  },
  split: {
    type: "object",
    default: "nothing",
    fields: {
      max_rules: {
        type: "number",
        default: "nothing",
        description: "Maximum number of names per file.",
        example: 1000,
      },
      max_bytes: {
        type: "size",
        default: "nothing",
        description: "Maximum size of a file.",
        example: "20M",
      },
      stable: {
        type: "boolean",
        default: "`false`",
        description:
          "Whether names stay in their file from build to build, so that few files change. New names go to files that change anyway.",
        example: true,
        beside: { max_rules: 1000 },
      },
      for: {
        type: "choice",
        default: "nothing",
        values: {
          "cloudflare-gateway": "Cloudflare Gateway (Standard)",
          "cloudflare-gateway-enterprise": "Cloudflare Gateway (Enterprise)",
          "fortigate-entry": "FortiGate, entry level",
          "fortigate-mid": "FortiGate, mid-range",
          "fortigate-high": "FortiGate, high end",
          "little-snitch": "Little Snitch 5",
          "pan-os": "PAN-OS external dynamic list",
        },
        description:
          "The service or device that the files are for. Sets `max_rules`, `max_bytes` and `stable`, and how many files there may be; see [its limits](formats.md#limits-of-services-and-devices).",
        example: "fortigate-mid",
      },
    },
    description:
      "Largest size of a file; the rest goes into additional files: `list.txt`, `list-2.txt` …, at most 1,000 files.",
    example: { max_rules: 1000 },
    beside: { format: "domains" },
  },
  clients: {
    type: "strings",
    default: "all",
    description:
      "For `adblock`: the clients of AdGuard Home that the file is for: IP addresses, ranges such as `192.168.1.0/24`, or names from its settings. Every rule gets `$client`, so that it does nothing for others; see [a list for the kids' devices](../guide/several-lists.md#a-list-for-the-kids-devices).",
    example: ["Kids tablet", "192.168.1.20"],
    beside: { format: "adblock" },
  },
  tags: {
    type: "choices",
    default: "all",
    values: {
      device_audio: "Audio devices",
      device_camera: "Cameras",
      device_gameconsole: "Game consoles",
      device_laptop: "Laptops",
      device_nas: "Network storage",
      device_other: "Other devices",
      device_pc: "Desktop computers",
      device_phone: "Phones",
      device_printer: "Printers",
      device_securityalarm: "Security alarms",
      device_tablet: "Tablets",
      device_tv: "Televisions",
      os_android: "Android",
      os_ios: "iOS",
      os_linux: "Linux",
      os_macos: "macOS",
      os_other: "Other operating systems",
      os_windows: "Windows",
      user_admin: "Administrators",
      user_child: "Children",
      user_regular: "Regular users",
    },
    description:
      "For `adblock`: the tags of AdGuard Home's clients that the file is for, by `$ctag`. With `clients` as well, a client must be one of them and have one of the tags.",
    example: ["user_child"],
    beside: { format: "adblock" },
  },
  sort: {
    type: "choice",
    default: "`none`",
    values: {
      name: "By registrable domains, independent of the order of the sources; names that involve exceptions come first in formats that have them. Needs time and memory for all names at once",
      none: "In the order of the sources",
    },
    description: "The order of names in the file.",
    example: "name",
  },
  pack: {
    type: "choices",
    default: "nothing",
    values: { gzip: "A copy whose name ends in `.gz`", zstd: "A copy whose name ends in `.zst`" },
    description: "Compressed copies to write beside each file.",
    example: ["gzip"],
  },
} as const;

/** An answer, as a configuration has it. */
export type AnswerConfig =
  | "nxdomain"
  | "null"
  | "nodata"
  | "refused"
  | { readonly address: readonly string[] }
  | { readonly cname: string };

/** Without the forms that are objects. */
const ANSWER_WORDS: readonly string[] = Object.keys(OWN_FIELDS.answer.values).filter(
  (value) => !value.startsWith("{"),
);

/** The answer of a configuration; undefined if it is invalid. */
export function answerOf(config: AnswerConfig): Answer | undefined {
  if (typeof config === "string") return { kind: config };
  return "cname" in config ? aliasAnswer(config.cname) : addressAnswer(config.address);
}

/** A word, `{ address: [...] }` or `{ cname: name }`. */
export function answerIn(
  node: ConfigNode,
  path: string,
  problems: ConfigProblems,
): AnswerConfig | undefined {
  const found = answerValue(node);
  if (typeof found !== "string" && answerOf(found) !== undefined) return found;
  if (typeof found === "string" && ANSWER_WORDS.includes(found)) return found as AnswerConfig;
  const isObject = typeof found !== "string";
  const cause = !isObject
    ? `${path} must be one of ${ANSWER_WORDS.join(", ")}, or an object with address or cname`
    : "cname" in found
      ? `${path}.cname is not the name of a page: ${printable(found.cname, 60)}`
      : `${path}.address must be IP addresses: ${someOf(found.address)}`;
  problems.invalid(
    node.offset,
    cause,
    'Examples: "nxdomain", { "address": ["192.0.2.10", "2001:db8::10"] }, { "cname": "page.example.net" }',
  );
  return undefined;
}

/** The value of a node, if it has the form of an answer; "" otherwise. */
function answerValue(node: ConfigNode): AnswerConfig | "" {
  if (node.kind === "scalar") return node.value === null ? "null" : (String(node.value) as "null");
  const [entry, ...more] = node.kind === "object" ? node.entries : [];
  if (entry === undefined || more.length > 0) return "";
  const texts = (entry.node.kind === "array" ? entry.node.items : [entry.node]).map((one) =>
    one.kind === "scalar" ? String(one.value) : "",
  );
  if (entry.key === "address") return { address: texts };
  return entry.key === "cname" && entry.node.kind === "scalar" ? { cname: texts[0]! } : "";
}

/** Fields of an output. */
export const OUTPUT_FIELDS: typeof OWN_FIELDS & typeof FIT_FIELD = { ...OWN_FIELDS, ...FIT_FIELD };

/** The services and devices that `split.for` knows. */
type PresetName = keyof typeof OWN_FIELDS.split.fields.for.values;

/** The documented limits of a service or device. */
export interface SizePreset {
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
    names: 1000,
    note: "Lists of type `DOMAIN`. The maximum includes all other lists of the account.",
  },
  "cloudflare-gateway-enterprise": {
    ...CLOUDFLARE,
    names: 5000,
    note: "As above; the account team can raise it.",
  },
  "fortigate-entry": {
    ...FORTIGATE,
    names: 1_000_000,
    size: "32M",
  },
  "fortigate-mid": {
    ...FORTIGATE,
    names: 3_000_000,
    size: "64M",
  },
  "fortigate-high": {
    ...FORTIGATE,
    names: 5_000_000,
    size: "128M",
  },
  "little-snitch": {
    format: "domains",
    names: 200_000,
    source: "https://github.com/fabston/little-snitch-blocklist/issues/14",
    read: "2026-11-17",
    note: "The program's own message; we found no limit in its manual.",
  },
  "pan-os": {
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
    values: {
      cdb: "A constant database for dnsdist with every name once, whose values say what lists block it, and a Lua file that chooses lists for clients",
      "unbound-tags":
        "Every name once for unbound, with the tags of the lists that block it; clients get lists by tags",
    },
    required: true,
    description: "Format of the file.",
    example: "unbound-tags",
    needs: { lists: [{ name: "Light" }, { name: "Pro" }] },
  },
  file: {
    type: "string",
    required: true,
    description: "Path, relative to the rules directory (RULES_DIR).",
    example: "unbound-tags.conf",
    needs: { lists: [{ name: "Light" }, { name: "Pro" }] },
  },
  lists: {
    type: "strings",
    default: "all",
    description: "Names of the lists, at most 512.",
    example: ["Light", "Pro"],
    needs: { lists: [{ name: "Light" }, { name: "Pro" }] },
  },
} as const;

export const COMBINED_FIELD: {
  readonly combined: {
    readonly type: "objects";
    readonly fields: typeof COMBINED_FIELDS;
  } & Optional;
} = {
  combined: {
    type: "objects",
    fields: COMBINED_FIELDS,
    default: "nothing",
    description:
      "Files that have the names of several `lists` once, and say for each name which lists block it.",
    example: [{ format: "unbound-tags", file: "unbound-tags.conf" }],
    needs: { lists: [{ name: "Light" }, { name: "Pro" }] },
  },
};

/** Allowed names, guards, and what is published. */
export const PUBLISH_FIELDS = {
  allow: {
    type: "strings",
    default: "nothing",
    description:
      "Names that must stay reachable. A name or a hosts line means that name; `||name^` and `@@||name^` the name and all its subdomains; `*.name` only the subdomains. Rules for these names are removed, in any syntax; if a broader rule blocks them, an exception is added.",
    example: ["status.example.org", "||example.net^"],
  },
  allow_sources: {
    type: "files",
    default: "nothing",
    description: "Files or URLs with entries of `allow`, one per line.",
    example: ["allow.txt"],
  },
  min_sources: {
    type: "number",
    default: "`1`",
    most: 1000,
    description:
      "How many sources must have a rule for it to be published. `||name^`, `name` and `0.0.0.0 name` are rules for the same name. A hosts line with a real address, which redirects a name instead of blocking it, counts only with the same address and name; other rules are compared by their text. A rule for a parent domain does not count. Exceptions always stay.",
    example: 2,
    needs: { sources: ["https://example.org/hosts.txt", "https://example.net/hosts.txt"] },
  },
  guards: {
    type: "guards",
    default: "those of its keys",
    description: "Checks before a list is published.",
    example: { max_shrink: 30, may_block: ["games"] },
  },
  patches: {
    type: "duration",
    default: "nothing",
    description:
      "Writes differences between versions to `patches` beside the list, for subscribers that read `Diff-Path` (AdGuard, uBlock Origin), and keeps each for this time. Subscribers check every 6 hours.",
    example: "7d",
  },
  manifest: {
    type: "object",
    default: "nothing",
    fields: {
      file: {
        type: "string",
        default: "`manifest.json`",
        description: "Path below the rules directory; `{name}` and `{slug}` are replaced.",
        example: "{slug}.manifest.json",
      },
      valid_for: {
        type: "duration",
        default: "`14d`",
        description: "How long after the build it is valid.",
        example: "3d",
      },
      key_file: {
        type: "string",
        default: "nothing",
        description:
          "A secret key of minisign without a password, for a signature beside the manifest.",
        example: "/etc/rules-compiler/minisign.key",
      },
    },
    description:
      "Writes a manifest of all files with their SHA-256, a version and an expiry date, which `verify` checks. All its keys have defaults: `manifest: {}`.",
    example: { valid_for: "3d" },
  },
  notice: {
    type: "string",
    default: "nothing",
    description:
      "Writes a file below the rules directory that names each source with its URL and the licence of its header; `{name}` and `{slug}` are replaced. Many licences ask for it.",
    example: "{slug}.notice.txt",
  },
  keep_builds: {
    type: "number",
    default: "`30`, none but the last two older than 90 days",
    most: 10_000,
    description:
      "How many builds of the list stay available to `log`, `rollback` and `diff`; at least two.",
    example: 100,
  },
} as const;

/** The format that software reads, for people who name the software. */
const FORMAT_OF: Readonly<Record<string, string>> = {
  abp: "adblock",
  adguard: "adblock",
  adguardhome: "adblock",
  bind: "rpz",
  clash: "mihomo",
  "dnscrypt-proxy": "dnscrypt",
  "knot-resolver": "rpz",
  named: "rpz",
  "pi-hole": "pihole",
  plain: "domains",
  powerdns: "rpz",
  singbox: "sing-box",
  text: "domains",
  txt: "adblock",
  zone: "rpz",
};

/** The format that a misspelt word, or the name of a resolver, means. */
export function meantFormat(word: string, formats: readonly string[]): string | undefined {
  const format = FORMAT_OF[word.toLowerCase()];
  return format !== undefined && formats.includes(format) ? format : nearest(word, formats);
}
