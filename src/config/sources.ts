import { someOf } from "../diagnostics/text.ts";
import type { SourceConfig } from "./lists.ts";
import type { ConfigNode, ConfigProblems } from "./problems.ts";

/** Feeds that sources can be, beside the formats of lists, each with its meaning. A test compares them with `feeds/registry.ts`. */
export const FEEDS = {
  urls: "URLs or names, one per line",
  csv: "A column of a table; needs `column`",
  ndjson: "One JSON text per line; needs `pointer`",
  urlhaus: "URLhaus of abuse.ch, as CSV or JSON",
  openphish: "OpenPhish; the same as `urls`",
  phishtank: "PhishTank, as CSV or JSON. Entries that are not verified are left out",
  threatfox: "ThreatFox of abuse.ch, as CSV or JSON. Only names and URLs are taken",
  misp: "Warning lists of MISP, and events of its feeds",
  stix: "The indicators of a STIX 2.1 bundle that are valid at the time of the build",
  tranco: "Popular names as `rank,name`, for `ranks` and `expand`",
  umbrella: "Popular names as `rank,name`, for `ranks` and `expand`",
} as const;
/** The feeds that a source can be. */
export type FeedName = keyof typeof FEEDS;
export const FEED_NAMES = Object.keys(FEEDS) as readonly FeedName[];

/** Fields that only sources have; `fields.ts` has those that they share with lists. */
export const SOURCE_ONLY_FIELDS = {
  source: {
    type: "source",
    required: true,
    description:
      "Address (http, https) or path of the list. A relative path is looked up beside the configuration file, then in the working directory.",
    example: "https://example.org/hosts.txt",
  },
  name: {
    type: "string",
    default: "the URL or path",
    description: "Label of the source in the output and in reports.",
    example: "Example hosts",
  },
  type: {
    type: "source-type",
    default: "`adblock`",
    description:
      "Format of the list, or a [feed](../guide/feeds.md). Lines of `adblock`, `hosts` and `domains` are detected automatically; the type decides ambiguous ones: except in `adblock`, every line that begins with `#` is a comment. `json` with `pointer` is a feed, too.",
    example: "hosts",
  },
  column: {
    type: "column",
    default: "nothing; `csv` needs it",
    description: "For `csv`: the column with names or URLs, by its name or by its number from 1.",
    example: "url",
    beside: { type: "csv" },
  },
  delimiter: {
    type: "string",
    default: "`,`",
    description: "For `csv`: the character between columns.",
    example: ";",
    beside: { type: "csv", column: "url" },
  },
  pointer: {
    type: "string",
    default: "nothing; `ndjson` needs it",
    description:
      "For `json` and `ndjson`: a JSON Pointer (RFC 6901) to names or URLs, in which `*` matches any key or index. `json` without a pointer is the [format](formats.md#json) of lists.",
    example: "/data/*/host",
    beside: { type: "json" },
  },
  where: {
    type: "matches",
    default: "nothing",
    description:
      "For `csv`, `json`, `ndjson` and feeds made of them: only rows with these values, by column, or by key of the object that contains the value.",
    example: { url_status: "online" },
    beside: { type: "urlhaus" },
  },
  urls: {
    type: "choice",
    default: "`whole`",
    values: {
      whole: "A URL is a rule for its host only if it has no path",
      host: "A URL is always a rule for its host, except on hosts that many people share",
    },
    description: "For feeds: when a URL is a rule for its host.",
    example: "host",
    beside: { type: "openphish" },
  },
  mirrors: {
    type: "strings",
    default: "nothing",
    description:
      "Mirrors of the list. The next one is tried if the previous one fails or takes longer than 5 seconds.",
    example: ["https://mirror.example/hosts.txt"],
  },
  required: {
    type: "boolean",
    default: "`true` for files, `false` for URLs",
    description:
      "Whether nothing is published while neither the source nor its cached copy can be used. Otherwise, the list is published without the source.",
    example: true,
  },
  max_stale: {
    type: "duration",
    default: "`180d`, or `7d` if more than half of its names changed within 30 days",
    description:
      "Maximum age of the cached copy that is used when the source cannot be read. Then the source is left out, or with `required`, nothing is published.",
    example: "2d",
  },
  remember: {
    type: "duration",
    default: "nothing",
    description:
      "For how long rules stay after the source had them, for feeds that contain only the newest: the list gets the union of what was seen in that time. Exceptions are not remembered. For feeds and lists of type `adblock`, `hosts` and `domains`. The cache contains what was seen.",
    example: "30d",
  },
  dead: {
    type: "choice",
    default: "`report`",
    values: {
      report: "Reports show lines for dead names; nothing is dropped",
      drop: "Lines for dead names are dropped, and come back when the name does",
    },
    description:
      "What to do about names that do not exist, by what [`alive`](../guide/alive.md) has seen. `drop` is wrong for feeds of threats, whose names sleep and come back.",
    example: "drop",
  },
  max_age: {
    type: "duration",
    default: "nothing",
    description:
      "How long ago a rule may have been seen first; older ones are dropped, also if the source still has them. Needs `remember`; a rule that was away for longer than that counts as new.",
    example: "90d",
    beside: { remember: "30d" },
  },
  timeout: {
    type: "duration",
    default: "`120s`",
    description:
      "How long the source may take from its first request, including retries, mirrors and includes.",
    example: "30s",
  },
  member: {
    type: "string",
    default: "the only file of the archive",
    description:
      "Which file of an archive (`.zip`, `.tar.gz`, `.tar.zst`) is the list; `*` matches any text.",
    example: "*/domains",
    beside: { source: "https://example.org/lists.tar.gz" },
  },
  max_bytes: {
    type: "size",
    default: "`256M`",
    description:
      "How large the source may be, decompressed and with its includes. All downloads of a run share a quarter of what is free.",
    example: "1G",
  },
  auth: {
    type: "object",
    default: "nothing",
    fields: {
      bearer_file: {
        type: "string",
        default: "nothing",
        description: "File with a token, for `Authorization: Bearer`.",
        example: "abuse-ch.key",
      },
      basic_file: {
        type: "string",
        default: "nothing",
        description: "File with `user:password`, for `Authorization: Basic`.",
        example: "lists.password",
      },
    },
    description:
      "Key of the source in a file: `bearer_file` or `basic_file`, relative to the configuration. It is sent to the server of `source` only, never to mirrors or other servers that it redirects to, and never shown or stored.",
    example: { bearer_file: "abuse-ch.key" },
  },
  headers_file: {
    type: "string",
    default: "nothing",
    description:
      "File with further headers of requests, such as `Auth-Key: …`, one a line. The same holds for them as for `auth`.",
    example: "headers.txt",
  },
  key: {
    type: "string-or-list",
    default: "nothing",
    description:
      "Public key of minisign, or several. The source is used only if the file `<URL>.minisig` has a signature of its bytes by one of them, for a mirror beside the mirror; otherwise it counts as failed. The same holds for its includes. See [signed sources](../guide/bad-upstreams.md#signed-sources).",
    example: "RWQf6LRCGA9i53mlYecO4IzT51TGPpvWucNSCh1CBM0QTaLn73Y7GFO3",
  },
  allow_private: {
    type: "boolean",
    default: "`false`",
    description:
      "Whether the source may be on this machine or in a private network. Otherwise, only public IP addresses are contacted, also after name resolution and redirects.",
    example: true,
    beside: { source: "http://192.168.1.5/hosts.txt" },
  },
  check_count: {
    type: "boolean",
    default: "`true`",
    description:
      "Whether a remote list that names its number of entries in a comment, such as `! Number of entries: 1234`, must have 90 % of them. One that has fewer was truncated on its way and counts as failed, also when it is fetched for the first time.",
    example: false,
  },
  secret: {
    type: "boolean",
    default: "`false`",
    description:
      "Whether the path of its URL is secret. Only the server is then shown, stored or published. User names, passwords and queries of URLs are always hidden.",
    example: true,
  },
  trust: {
    type: "choice",
    default: "`full` for files, `standard` for URLs",
    values: {
      full: "Everything",
      standard:
        "Nothing that rewrites answers, blocks or allows everything or a public suffix, or cancels rules of other sources",
      "block-only": "The same as `standard`, but no exceptions either",
    },
    description: "What the lines of the source may do.",
    example: "block-only",
  },
} as const;

/** A name or a number from 1 to 999, as text. */
export function columnOf(
  node: ConfigNode,
  path: string,
  problems: ConfigProblems,
): string | undefined {
  const value = node.kind === "scalar" ? node.value : undefined;
  if (typeof value === "string" && value !== "") return value;
  if (typeof value === "number" && Number.isInteger(value) && value > 0 && value < 1000)
    return String(value);
  problems.invalid(
    node.offset,
    `${path} must be the name of a column, or its number`,
    "Write 1 for the first column",
  );
  return undefined;
}

/** Texts by key. */
export function matchesOf(
  node: ConfigNode,
  path: string,
  problems: ConfigProblems,
): Record<string, string> | undefined {
  if (node.kind !== "object") {
    problems.invalid(
      node.offset,
      `${path} must be an object`,
      'Write { "status": "online" } with a column and its value',
    );
    return undefined;
  }
  const matches: Record<string, string> = Object.create(null);
  for (const { key, node: value } of node.entries)
    if (value.kind === "scalar") matches[key] = String(value.value);
    else
      problems.invalid(value.offset, `${path} must contain only texts`, "Write one value per key");
  return matches;
}

type FeedField = "column" | "delimiter" | "pointer" | "where" | "urls";

/** The types that each field is for. */
const TYPES: Readonly<Record<FeedField, readonly string[]>> = {
  column: ["csv"],
  delimiter: ["csv"],
  pointer: ["json", "ndjson"],
  where: ["csv", "json", "ndjson", "urlhaus", "phishtank", "threatfox", "misp", "stix"],
  urls: ["json", ...FEED_NAMES],
};

/** Whether a source is a feed, not a list. */
export function isFeed({ type, pointer }: Pick<SourceConfig, "type" | "pointer">): boolean {
  return FEED_NAMES.includes(type as FeedName) || (type === "json" && pointer !== undefined);
}

/** Problems of a source whose fields have the right types. */
export function* feedProblems(
  source: SourceConfig,
  at: string,
): Generator<{ readonly message: string; readonly hint: string }> {
  const { type = "adblock", column, pointer, delimiter } = source;
  for (const [field, types] of Object.entries(TYPES))
    if (source[field as FeedField] !== undefined && !types.includes(type))
      yield {
        message: `${at}.${field} is not for type ${type}`,
        hint: `It is for ${someOf(types)}`,
      };
  if (type === "csv" && column === undefined)
    yield {
      message: `${at}.column is required for type csv`,
      hint: "Name the column with names or URLs",
    };
  if (type === "ndjson" && pointer === undefined)
    yield {
      message: `${at}.pointer is required for type ndjson`,
      hint: 'Write "/host" or similar',
    };
  if (pointer !== undefined && !/^(?:\/(?:[^~/]|~[01])*)*$/.test(pointer))
    yield {
      message: `${at}.pointer is not a JSON Pointer`,
      hint: 'Begin each step with /, as in "/data/*/host"',
    };
  for (const field of ["urls", "where"] as const)
    if (type === "json" && pointer === undefined && source[field] !== undefined)
      yield {
        message: `${at}.${field} needs a pointer`,
        hint: "Without a pointer, json is a list",
      };
  if (delimiter !== undefined && !/^[\t!$%&*+,/:;<=>?@^_|~]$/.test(delimiter))
    yield {
      message: `${at}.delimiter must be one character, and not a letter, digit, blank or quote`,
      hint: 'Write ";" or "\\t"',
    };
}
