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
    description: "Files or addresses with entries of `allow`, one per line.",
    example: ["allow.txt"],
  },
  ranked: {
    type: "number",
    most: 1_000_000_000,
    description:
      "Keep only rules that match a name of `ranks` up to this rank, so that a small list blocks what many people meet. Exceptions stay.",
  },
  guards: {
    type: "guards",
    description: "Checks before a list is published; see [Guards](#guards).",
  },
  patches: {
    type: "object",
    fields: {
      expires: {
        type: "duration",
        description: "How long subscribers wait before they check for the next patch.",
        example: "6h",
      },
      keep: { type: "duration", description: "How long patches are kept.", example: "7d" },
    },
    description:
      "Keeps differences between versions in `patches` beside the list, for subscribers that read `Diff-Path` (AdGuard, uBlock Origin). `expires` (default `6h`) is how often they check, `keep` (default `7d`) how long a difference is kept.",
  },
  manifest: {
    type: "object",
    fields: {
      file: {
        type: "string",
        description: "Path below the rules directory; `{name}` and `{slug}` are replaced.",
      },
      expires: { type: "duration", description: "How long it is valid.", example: "14d" },
      key_file: { type: "string", description: "A minisign key without a password." },
    },
    description:
      "Writes a manifest of all files with their SHA-256, a version and an expiry date: `file` (default `manifest.json`, below the rules directory), `expires` (default `14d`), and `key_file`, a minisign secret key, for a signature beside it. `verify` checks it.",
  },
  keep: {
    type: "object",
    fields: {
      builds: { type: "number", most: 10_000, description: "How many builds are kept." },
      days: { type: "number", most: 10_000, description: "For how many days." },
    },
    description:
      "How many builds of the list stay available to `log`, `rollback` and `diff`: at most `builds` (default 30), none older than `days` (default 90). The last two stay at any age.",
  },
  min_sources: {
    type: "number",
    most: 1000,
    description:
      "How many sources must have a rule for it to be published. `||name^`, `name` and `0.0.0.0 name` are rules for the same name. A hosts line with a real address, which redirects a name instead of blocking it, counts only with the same address and name; other rules are compared by their text. A rule for a parent domain does not count. Exceptions always stay. Default: 1.",
  },
} as const;
