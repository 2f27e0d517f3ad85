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
