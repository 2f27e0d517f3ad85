import type { Exit } from "../../diagnostics/exit.ts";
import type { Host } from "../../host/host.ts";
import type { Options } from "../flags/options.ts";
import type { Talk } from "../output/talk.ts";

/** A command does its work through the host, says what a person should know, and returns the exit code. */
export type Command = (
  options: Options,
  host: Host,
  talk: Talk,
  signal: AbortSignal,
) => Promise<Exit>;

/** What commands are for, in the order of `-h`; of the last, `-h` shows only the names. */
export const GROUPS = ["begin", "build", "ask", "write", "serve", "more"] as const;

export interface CommandEntry {
  readonly name: string;
  readonly group: (typeof GROUPS)[number];
  /** A few words for `-h`, which is one screen. */
  readonly brief?: string;
  /** One line, shown by `--help` and in docs/reference/command-line.md. */
  readonly description: string;
  /** What may stand behind it, as help names it; without it, nothing may. */
  readonly operands?: string;
  /** Command lines with what they do, for its own `--help`. */
  readonly examples: readonly (readonly [string, string])[];
  /** Whether it computes for longer than a moment, so that signals must be heard meanwhile. */
  readonly computes?: true;
  /** Loaded only when it is asked for: `--version` must not wait for the compiler. */
  load(): Promise<Command>;
}

/** Every command; the first is the default. */
export const commands: readonly CommandEntry[] = [
  {
    name: "compile",
    group: "build",
    brief: "compile the list (the default)",
    description: "Compile the list (the default)",
    examples: [
      ["-c my-list.yaml", "compile into ./rules/<name of the list>.txt"],
      ["-c my-list.yaml -o list.txt", "compile into list.txt"],
      ["-i hosts.txt -t hosts -o list.txt", "compile one list without a configuration"],
      ["-c my-list.yaml -o - | wc -l", "the list on standard output"],
    ],
    load: async () => (await import("./compile.ts")).compileCommand,
  },
  {
    name: "watch",
    group: "build",
    brief: "compile again whenever a local file changes",
    computes: true,
    description:
      "Compile, and again whenever the configuration or a local list changes; show the difference",
    examples: [["watch -c my-list.yaml", "until it is stopped with Ctrl+C"]],
    load: async () => (await import("./watch.ts")).watchCommand,
  },
  {
    name: "validate",
    group: "more",
    description: "Check the configuration and stop",
    examples: [["validate -c my-list.yaml", "check the configuration only"]],
    load: async () => (await import("./validate.ts")).validateCommand,
  },
  {
    name: "plan",
    group: "build",
    brief: "show what the next publish would change",
    computes: true,
    description: "Show what the next publish would change, and whether a guard would refuse it",
    examples: [
      ["plan", "exit code 0, or 5 when the list would be refused"],
      ["plan --exit-code", "exit code 10 when something changes"],
      ["plan -c my-list.yaml --markdown", "for a pull request"],
      ["plan -c my-list.yaml --save my.plan", "keep it, to apply it later"],
    ],
    load: async () => (await import("./plan.ts")).planCommand,
  },
  {
    name: "apply",
    group: "build",
    brief: "publish exactly what plan --save saved",
    computes: true,
    operands: "PLAN",
    description: "Publish exactly what plan --save saved, if the list is still the one it was for",
    examples: [["apply my.plan", "publish it"]],
    load: async () => (await import("./apply.ts")).applyCommand,
  },
  {
    name: "diff",
    group: "ask",
    brief: "compare two lists, builds or configurations",
    computes: true,
    operands: "OLD NEW",
    description:
      "Compare two lists, builds, or the lists of two configurations: rules, and what they do to names",
    examples: [
      ["diff old.txt new.txt", "rules that came and went, names newly blocked and freed"],
      ["diff -c my-list.yaml @1 @0", "the last build with the one before"],
      ["diff -c my-list.yaml @2026-11-14 @0", "with the last one of that day"],
    ],
    load: async () => (await import("./diff.ts")).diffCommand,
  },
  {
    name: "changelog",
    group: "ask",
    brief: "show what the last builds changed",
    computes: true,
    description: "Tell what the kept builds of the list changed, newest first, for people to read",
    examples: [["changelog -c my-list.yaml > CHANGES.md", "one section a build, as Markdown"]],
    load: async () => (await import("./changelog.ts")).changelogCommand,
  },
  {
    name: "why",
    group: "ask",
    brief: "tell whether a name is blocked, and by which line",
    computes: true,
    operands: "NAME…",
    description:
      "Tell whether names are blocked, by which rule, and which lines of which sources say so",
    examples: [
      ["why -c my-list.yaml ads.example.com", "one name"],
      ["why -c my-list.yaml -- '||ads.example.com^'", "a rule"],
      [
        "why -c my-list.yaml - < names.txt",
        "many names, one a line: verdict, rule and source of each",
      ],
    ],
    load: async () => (await import("./why.ts")).whyCommand,
  },
  {
    name: "stats",
    group: "ask",
    brief: "show what each source brings and shares",
    computes: true,
    description:
      "Show what each source brings to the list, what they share, and which are not needed",
    examples: [
      ["stats -c my-list.yaml", "one row a source"],
      ["stats -c my-list.yaml --markdown > STATS.md", "for a README"],
    ],
    load: async () => (await import("./stats.ts")).statsCommand,
  },
  {
    name: "lines",
    group: "ask",
    brief: "list the lines that were dropped, by reason",
    computes: true,
    description:
      "List the lines of the last build that had a fate: dropped for a reason, or live; without one, count them",
    examples: [
      ["lines", "how many lines were dropped, for which reasons"],
      ["lines --fate bad-syntax", "those that are not rules, as file:line: text"],
      ['lines --fate bad-syntax -s "Some hosts file"', "of one source"],
    ],
    load: async () => (await import("./lines.ts")).linesCommand,
  },
  {
    name: "report",
    group: "ask",
    brief: "write the last build as one page",
    computes: true,
    operands: "[FILE]",
    description:
      "Write the last build as one page: what sources bring and share, what became of lines, a search",
    examples: [
      ["report -c my-list.yaml --open", "write my-list.report.html and look at it"],
      ["report -c my-list.yaml public/index.html", "write it there"],
    ],
    load: async () => (await import("./report.ts")).reportCommand,
  },
  {
    name: "verify",
    group: "more",
    operands: "MANIFEST",
    description: "Check a release: its signature, its expiry, and the digest of every file",
    examples: [
      ["verify rules/manifest.json --key minisign.pub", "exit code 0 when all is well"],
      [
        "verify rules/manifest.json --key minisign.pub --state last.json",
        "refuse a release that is older than the last good one",
      ],
    ],
    load: async () => (await import("./verify.ts")).verifyCommand,
  },
  {
    name: "audit",
    group: "begin",
    brief: "see what the lists that you run add and share",
    computes: true,
    operands: "FILE",
    description:
      "Look at the lists that other software runs: what each adds, which are dead, what one list of them would be",
    examples: [
      ["audit /opt/AdGuardHome/AdGuardHome.yaml", "AdGuard Home's"],
      [
        "audit /etc/pihole/gravity.db",
        "Pi-hole's; also blocky, HostlistCompiler, or one address a line",
      ],
    ],
    load: async () => (await import("./audit.ts")).auditCommand,
  },
  {
    name: "init",
    group: "begin",
    brief: "write a configuration: from other software, or addresses",
    operands: "[FILE]",
    description:
      "Write a configuration to begin with: from what other software runs, or from addresses",
    examples: [
      ["init --from AdGuardHome.yaml", "write compiler-config.yaml with the same lists"],
      ["init -i https://example.org/hosts.txt -t hosts home.yaml", "from addresses"],
      ["init", "be asked"],
    ],
    load: async () => (await import("./init.ts")).initCommand,
  },
  {
    name: "lint",
    group: "write",
    brief: "check a list file that you write",
    computes: true,
    operands: "FILE…",
    description:
      "Find the problems of a list file that you write, by line and column, and fix some",
    examples: [
      ["lint my-rules.txt", "what resolvers would not get, and what is there twice"],
      ["lint my-rules.txt --fix", "remove repeated lines, and blanks at ends of lines"],
      ["lint rules/*.txt --report github", "beside the lines of a pull request; also: sarif"],
    ],
    load: async () => (await import("./lint.ts")).lintCommand,
  },
  {
    name: "serve",
    group: "serve",
    brief: "compile on a schedule and serve the lists",
    description: "Compile on a schedule and serve the lists, their health and their figures",
    examples: [
      ["serve -c my-list.yaml", "every six hours, on port 5000 of this machine"],
      ['serve --schedule "30 4 * * *" --time-zone Europe/Berlin', "at half past four"],
      ["serve -c my-list.yaml --listen 0.0.0.0", "for the whole network"],
    ],
    load: async () => (await import("./serve.ts")).serveCommand,
  },
  {
    name: "health",
    group: "more",
    description: "Check the health of a server on this machine",
    examples: [["health --port 8080", "exit code 0 when the server there is healthy, else 11"]],
    load: async () => (await import("./health.ts")).healthCommand,
  },
  {
    name: "completions",
    group: "more",
    operands: "SHELL",
    description: "Print a script that completes commands and options in bash, zsh or fish",
    examples: [
      ["completions bash >> ~/.bashrc", "bash, from the next shell on"],
      ["completions fish | source", "fish, for this shell"],
    ],
    load: async () => (await import("./completions.ts")).completionsCommand,
  },
  {
    name: "limits",
    group: "more",
    description: "Show what an account of the DNS API may use and has used",
    examples: [
      ["limits --dns-api-url https://api.example.com", "what the account may use"],
      ["limits --check rules/my-list.txt", "whether the list fits, with DNS_API_URL set"],
    ],
    load: async () => (await import("./limits.ts")).limitsCommand,
  },
  {
    name: "help",
    group: "more",
    operands: "[COMMAND]",
    description: "Print help for a command, or one screen of all commands",
    examples: [["help plan", "what plan takes and does"]],
    load: async () => (await import("./help.ts")).helpCommand,
  },
];
