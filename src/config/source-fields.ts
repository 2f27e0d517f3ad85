/** Fields that only a source has; `fields.ts` has those that it shares with lists. */
export const OWN_SOURCE_FIELDS = {
  source: {
    type: "source",
    required: true,
    description:
      "Address (http, https) or path of the list. A relative path is looked up beside the configuration file, then in the working directory.",
    example: "https://example.org/hosts.txt",
  },
  name: {
    type: "string",
    description:
      "Label of the source in the output and in reports. Without it the source itself is the label.",
    example: "Example hosts",
  },
  type: {
    type: "source-type",
    description:
      "What the list is written in: `adblock`, `hosts`, `domains`, or any other of the [formats](formats.md). Lines of the first three are recognised by themselves; the type settles doubtful ones: in all but `adblock` every line that begins with `#` is a comment.",
    example: "hosts",
  },
  mirrors: {
    type: "strings",
    description:
      "Further addresses of the same list. The next one is asked when the one before fails or takes longer than 5 seconds.",
    example: ["https://mirror.example/hosts.txt"],
  },
  optional: {
    type: "boolean",
    description:
      "Whether the list may be compiled without this source when neither it nor a cached copy is available.",
  },
  max_stale: {
    type: "duration",
    description: "The same as at the top level, for this source.",
    example: "2d",
  },
  timeout: {
    type: "duration",
    description:
      "How long the source may take with all its tries, mirrors and includes, from its first request on. Without it `120s`.",
    example: "30s",
  },
  allow_private: {
    type: "boolean",
    description:
      "Whether the source may be on this machine or in a private network. By default, only public IP addresses are contacted, also after name resolution and redirects.",
  },
  volatile: {
    type: "boolean",
    description:
      "Whether nearly all of its names may be others from one day to the next. Without it, a remote source of 1,000 names or more that has less than 30 % in common with its last good copy is held.",
  },
  secret: {
    type: "boolean",
    description:
      "Whether the path of its address is secret. Only the server is then shown, stored or published. User names, passwords and queries of addresses are always hidden.",
  },
  trust: {
    type: "trust",
    description:
      "What its lines may do. `full` (the default for files): everything. `standard` (the default for addresses): nothing that rewrites answers, blocks or allows everything or a public suffix, or takes back the rules of others. `block-only`: no exceptions either.",
    example: "block-only",
  },
} as const;
