/** What this program and others have and have not. Every cell says where it can be checked. */

const TOOLS = [
  ["HostlistCompiler", "2.1.1", "https://github.com/AdguardTeam/HostlistCompiler"],
  ["adblock-compiler", "0.92.0", "https://github.com/jaypatrick/adblock-compiler"],
  ["hBlock", "3.5.0", "https://github.com/hectorm/hblock"],
  ["Pi-hole", "6.2.2", "https://github.com/pi-hole/pi-hole"],
  ["blocky", "of 2026-08-21", "https://github.com/0xERR0R/blocky"],
] as const;

type Cell = readonly [text: string, evidence: string];

interface Row {
  readonly what: string;
  readonly here: Cell;
  readonly others: readonly [Cell, Cell, Cell, Cell, Cell];
}

const ROWS: readonly Row[] = [
  {
    what: "Adblock-style rules",
    here: ["yes", "[transformations](../reference/transformations.md)"],
    others: [
      ["yes", "`src/rule.js`"],
      ["yes", "parser AGTree in `src/`"],
      ["no", "its sources are names, extracted beforehand by hMirror"],
      ["yes", "`gravity.sh`, lists in ABP style"],
      ["partly: names", "`parsers/hosts.go` strips `||` and `^`"],
    ],
  },
  {
    what: "Formats written",
    here: ["19", "[formats](../reference/formats.md)"],
    others: [
      ["1", "writes adblock-style rules"],
      ["1", "the command says that `--format` is not yet supported and will be ignored"],
      ["8 and templates", "README, formats and `--template`"],
      ["own database", "`gravity.db`"],
      ["none, it answers", "a resolver"],
    ],
  },
  {
    what: "Time limits and retries",
    here: ["yes", "[failing sources](bad-upstreams.md)"],
    others: [
      [
        "no",
        "a server that never answers, and one that answers 503: the first hangs, the second fails",
      ],
      ["yes", "downloader: 30 s, three retries"],
      ["retries", "`--retry`, 0 by default"],
      ["limit to connect", "curl options in `gravity.sh`"],
      ["yes", "`downloads` in its configuration"],
    ],
  },
  {
    what: "Asks only for changes",
    here: ["yes", "[unchanged lists](run.md#on-a-small-machine)"],
    others: [
      ["no", "sends `Pragma: no-cache`"],
      ["no", "not in the path of the command"],
      ["no", "curl without validators"],
      ["yes", "ETag and `-z` in `gravity.sh`"],
      ["if enabled", "pull request 2087"],
    ],
  },
  {
    what: "A source fails",
    here: ["last good copy", "[failing sources](bad-upstreams.md)"],
    others: [
      ["run fails", "one source that answers 503"],
      ["run fails", "one source that answers 503"],
      ["run fails, or source left out", "`--continue`"],
      ["last copy", 'prints "using previously cached list"'],
      ["last copy", "keeps the loaded group"],
    ],
  },
  {
    what: "A login page instead of a list",
    here: ["rejected", "[failing sources](bad-upstreams.md)"],
    others: [
      ["accepted", "a page of HTML with status 200: exit code 0, no rules"],
      ["accepted", "the same"],
      ["accepted", "no check of the content"],
      ["accepted", "no check of the content"],
      ["by errors", "`maxErrorsPerSource`"],
    ],
  },
  {
    what: "Why a name is blocked",
    here: ["list, line, since when", "[why](questions.md)"],
    others: [
      ["no", "no such command"],
      ["no", "no such command"],
      ["no", "README: clone hMirror and search"],
      ["lists", "`pihole -q`"],
      ["group and rule", "log and API"],
    ],
  },
  {
    what: "What lists share",
    here: ["yes", "[stats](questions.md)"],
    others: [
      ["no", "no such command"],
      ["no", "no such command"],
      ["no", "no such command"],
      ["counts", "counts for each list"],
      ["no", "no such command"],
    ],
  },
  {
    what: "Lockfile for the same bytes again",
    here: ["yes", "[locks](bad-upstreams.md)"],
    others: [
      ["no", "no such option"],
      ["no", "no such option"],
      ["no", "no such option"],
      ["no", "no such option"],
      ["no", "no such option"],
    ],
  },
];

/** Returns a page with the table and its evidence between its markers. */
export function withComparison(page: string): string {
  const marker = /(<!-- comparison -->\n)[^]*?(<!-- \/comparison -->)/;
  return page.replace(marker, (_, start: string, end: string) => `${start}${comparison()}${end}`);
}

function comparison(): string {
  const versions = TOOLS.map(([name, version]) => `${name} ${version}`).join(", ");
  const heads = [
    "",
    "rules-compiler",
    ...TOOLS.map(([name, , address]) => `[${name}](${address})`),
  ];
  const rows = ROWS.map(({ what, here, others }) => [
    what,
    `**${here[0]}**`,
    ...others.map(([text]) => text),
  ]);
  const table = [heads, heads.map(() => "---"), ...rows]
    .map((cells) => `| ${cells.join(" | ")} |\n`)
    .join("");
  const evidence = ROWS.flatMap(({ what, here, others }) => [
    `**${what}**\n`,
    `- rules-compiler: ${here[0]} (${here[1]})`,
    ...others.map(([text, where], index) => `- ${TOOLS[index]![0]}: ${text} (${where})`),
    "",
  ]).join("\n");
  return `What each has and has not, as of November 2026: ${versions}. Pi-hole and blocky are resolvers: they answer
queries, which this program does not. hBlock writes hosts files for one machine.

${table}
<details>
<summary>Where each cell can be checked: in the files of that version, or by running it</summary>

${evidence}
</details>
`;
}
