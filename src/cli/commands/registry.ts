import type { Exit } from "../../diagnostics/codes.ts";
import type { Host } from "../../host/host.ts";
import type { Options } from "../flags/options.ts";
import type { Reporter } from "../output/reporter.ts";

/** A command works through the host, reports to the user, and returns the exit code. */
export type Command = (
  options: Options,
  host: Host,
  reporter: Reporter,
  signal: AbortSignal,
) => Promise<Exit>;

/** Groups of commands, in the order of `-h`. For the last group, `-h` shows only names. */
export const GROUPS = ["begin", "build", "ask", "write", "serve", "more"] as const;

export interface CommandEntry {
  readonly name: string;
  readonly group: (typeof GROUPS)[number];
  /** A short description for `-h`, which must fit on one screen. */
  readonly brief?: string;
  /** One line, shown by `--help` and in docs/reference/command-line.md. */
  readonly description: string;
  /** The operands as shown in help. If undefined, the command takes none. */
  readonly operands?: string;
  /** Command lines and their descriptions, for the command's `--help`. */
  readonly examples: readonly (readonly [string, string])[];
  /** Whether it blocks the event loop for long, so that signals must be watched from a thread. */
  readonly computes?: true;
  /** Loads the command on demand: `--version` must not wait for the compiler. */
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
      ["https://example.org/hosts.txt -o list.txt", "compile lists without a configuration"],
      ["-i list.txt --to rpz -o list.rpz", "convert a list; the extension alone says it, too"],
      ["-c my-list.yaml -o - | wc -l", "write the list to standard output"],
    ],
    load: async () => (await import("./compile.ts")).compileCommand,
  },
  {
    name: "watch",
    group: "build",
    brief: "recompile when a local file changes",
    computes: true,
    description:
      "Compile, recompile when the configuration or a local list changes, and show the changes",
    examples: [["watch -c my-list.yaml", "stop with Ctrl+C"]],
    load: async () => (await import("./watch.ts")).watchCommand,
  },
  {
    name: "validate",
    group: "more",
    description: "Check the configuration without compiling",
    examples: [["validate -c my-list.yaml", "report problems of the configuration"]],
    load: async () => (await import("./validate.ts")).validateCommand,
  },
  {
    name: "plan",
    group: "build",
    brief: "show what the next publish would change",
    computes: true,
    description: "Show what the next publish would change, and whether a guard would refuse it",
    examples: [
      ["plan", "exit code 0, or 5 if a guard would refuse the list"],
      ["plan --exit-code", "exit code 10 if something changes"],
      ["plan -c my-list.yaml --markdown", "for a pull request"],
      ["plan -c my-list.yaml --save my.plan", "save the plan for apply"],
      ["plan --traffic querylog.json", "what would change for your queries"],
    ],
    load: async () => (await import("./plan.ts")).planCommand,
  },
  {
    name: "apply",
    group: "build",
    brief: "publish a saved plan",
    computes: true,
    operands: "PLAN",
    description: "Publish a saved plan, unless the published list has changed since",
    examples: [["apply my.plan", "publish the plan"]],
    load: async () => (await import("./apply.ts")).applyCommand,
  },
  {
    name: "rollback",
    group: "build",
    brief: "publish an earlier build again",
    computes: true,
    operands: "[BUILD]",
    description: "Publish an earlier build again: the list, its other formats and the manifest",
    examples: [
      ["rollback", "back to the last build with other rules than the published one"],
      ["rollback @2026-11-14", "back to that day; the next run publishes again"],
    ],
    load: async () => (await import("./rollback.ts")).rollbackCommand,
  },
  {
    name: "hold",
    group: "build",
    brief: "stay at a build: runs publish nothing",
    computes: true,
    operands: "[BUILD]",
    description:
      "Keep the published list, or publish an earlier build again and keep it: runs publish nothing until the hold ends",
    examples: [
      ["hold", "stay at the published list"],
      ["hold @1", "go back one build, and stay there"],
      ["hold --end", "let later runs publish again"],
    ],
    load: async () => (await import("./hold.ts")).holdCommand,
  },
  {
    name: "allow",
    group: "build",
    brief: "keep a name reachable; block is the opposite",
    computes: true,
    operands: "NAME…",
    description:
      "Keep names reachable, with all names below them: write the decision beside the configuration, and build again without fetching",
    examples: [
      ["allow shop.example.com --reason 'The shop does not load'", "a pasted URL works, too"],
      ["allow shop.example.com --until 7d", "for a week"],
      ["allow shop.example.com --remove", "take the decision back; --list shows all"],
    ],
    load: async () => (await import("./decide.ts")).decideCommand("allow"),
  },
  {
    name: "block",
    group: "more",
    computes: true,
    operands: "NAME…",
    description:
      "Block names, with all names below them: write the decision beside the configuration, and build again without fetching",
    examples: [
      ["block ads.example.com", "the name and all below it"],
      ["block example.com --exact", "the name alone"],
    ],
    load: async () => (await import("./decide.ts")).decideCommand("block"),
  },
  {
    name: "diff",
    group: "ask",
    brief: "compare two lists, builds or configurations",
    computes: true,
    operands: "OLD NEW",
    description: "Compare two lists, builds or configurations: rules, and which names they block",
    examples: [
      ["diff old.txt new.txt", "rules added and removed, names newly blocked and unblocked"],
      ["diff -c my-list.yaml @1 @0", "compare the last two builds"],
      ["diff -c my-list.yaml @2026-11-14 @0", "compare with the last build of that day"],
    ],
    load: async () => (await import("./diff.ts")).diffCommand,
  },
  {
    name: "log",
    group: "ask",
    brief: "show what happened to the list: builds, holds, refusals",
    computes: true,
    description:
      "Show what happened to the list, newest first: builds, rollbacks, holds and refusals, and who asked",
    examples: [
      ["log -c my-list.yaml", "one line per event; @0 is the published build, @1 the one before"],
      ["log -c my-list.yaml --markdown > CHANGES.md", "what each build changed, for a release"],
    ],
    load: async () => (await import("./log.ts")).logCommand,
  },
  {
    name: "why",
    group: "ask",
    brief: "show whether a name is blocked, and by which line",
    computes: true,
    operands: "NAME…",
    description:
      "Show whether names are blocked, by which rule, and from which lines of which sources",
    examples: [
      ["why -c my-list.yaml ads.example.com", "one name"],
      ["why -c my-list.yaml -- '||ads.example.com^'", "a rule"],
      [
        "why -c my-list.yaml - < names.txt",
        "many names, one per line: verdict, rule and source of each",
      ],
    ],
    load: async () => (await import("./why.ts")).whyCommand,
  },
  {
    name: "stats",
    group: "ask",
    brief: "show what each source contributes, and dropped lines",
    computes: true,
    description:
      "Show what each source contributes, how sources overlap, which are redundant, and which lines were dropped",
    examples: [
      ["stats -c my-list.yaml", "one row per source"],
      ["stats -c my-list.yaml --markdown > STATS.md", "for a README"],
      ["stats -c my-list.yaml --fate", "number of dropped lines per reason"],
      ["stats -c my-list.yaml --fate bad-syntax", "lines that are not valid rules"],
      ["stats -c my-list.yaml --html", "write my-list.report.html"],
      ["stats -c my-list.yaml --traffic querylog.json", "which sources block your queries"],
    ],
    load: async () => (await import("./stats.ts")).statsCommand,
  },
  {
    name: "export",
    group: "more",
    computes: true,
    operands: "[FILE]",
    description: "Write every line of the last build with its fate as CSV, for databases",
    examples: [["export lines.csv.zst", "write a compressed file; .csv and .csv.gz, too"]],
    load: async () => (await import("./export.ts")).exportCommand,
  },
  {
    name: "verify",
    group: "more",
    operands: "MANIFEST",
    description: "Check a release: its signature, its expiry, and the digest of every file",
    examples: [
      ["verify rules/manifest.json --key minisign.pub", "exit code 0 if the release is valid"],
      [
        "verify rules/manifest.json --key minisign.pub --state last.json",
        "reject a release that is older than the last good one",
      ],
    ],
    load: async () => (await import("./verify.ts")).verifyCommand,
  },
  {
    name: "audit",
    group: "begin",
    brief: "analyse the lists that you use now",
    computes: true,
    operands: "FILE",
    description:
      "Analyse the lists that other software uses: what each contributes, which are dead, and the size of one compiled list",
    examples: [
      ["audit /opt/AdGuardHome/AdGuardHome.yaml", "lists of AdGuard Home"],
      [
        "audit /etc/pihole/gravity.db",
        "lists of Pi-hole; also blocky, HostlistCompiler, or one URL per line",
      ],
    ],
    load: async () => (await import("./audit.ts")).auditCommand,
  },
  {
    name: "init",
    group: "begin",
    brief: "write a configuration from other software or URLs",
    computes: true,
    operands: "[URL…] [FILE]",
    description:
      "Write a new configuration: import the lists of other software, or start from URLs",
    examples: [
      ["init --from AdGuardHome.yaml", "write compiler-config.yaml with the same lists"],
      ["init https://example.org/hosts.txt https://example.org/ads.txt", "start from URLs"],
      ["init", "answer two questions"],
    ],
    load: async () => (await import("./init.ts")).initCommand,
  },
  {
    name: "lint",
    group: "write",
    brief: "check a list file for problems",
    computes: true,
    operands: "FILE…",
    description: "Check a list file for problems and optionally fix them",
    examples: [
      ["lint my-rules.txt", "report lines that resolvers ignore, and duplicates"],
      ["lint my-rules.txt --fix", "remove duplicate lines and trailing blanks"],
      ["lint rules/*.txt --format github", "annotate a pull request; also: sarif"],
    ],
    load: async () => (await import("./lint.ts")).lintCommand,
  },
  {
    name: "serve",
    group: "serve",
    brief: "compile on a schedule and serve the lists",
    description: "Compile on a schedule and serve lists, health and metrics over HTTP",
    examples: [
      ["serve -c my-list.yaml", "compile every six hours, listen on localhost:5000"],
      ['serve --schedule "30 4 * * *"', "compile at 4:30 each day, in the time zone of TZ"],
      ["serve -c my-list.yaml --listen 0.0.0.0", "listen on all interfaces"],
    ],
    load: async () => (await import("./serve.ts")).serveCommand,
  },
  {
    name: "prove",
    group: "serve",
    brief: "ask resolvers whether they answer from the list",
    description:
      "Ask the resolvers of the configuration whether they answer from the published list",
    examples: [
      ["prove -c my-list.yaml", "one line per resolver; exit code 12 if one is not proved"],
      ["prove -c my-list.yaml --wait 2m", "give resolvers two minutes to load the list"],
      ["prove -c my-list.yaml --wait 0 --json", "ask once, for monitoring"],
    ],
    load: async () => (await import("./prove.ts")).proveCommand,
  },
  {
    name: "alive",
    group: "more",
    description:
      "Ask a resolver whether the names of the published lists exist, and keep what it says in observations.txt beside the configuration",
    examples: [
      [
        "alive -c my-list.yaml --resolver 127.0.0.1",
        "ask unbound on this machine, 20 names a second",
      ],
      ["alive -c my-list.yaml --from dead.txt=0.5", "take what another tool saw"],
      ["alive -c my-list.yaml", "show what is known, without a question"],
    ],
    load: async () => (await import("./alive.ts")).aliveCommand,
  },
  {
    name: "status",
    group: "more",
    operands: "[URL]",
    description: "Show a running server: lists, runs, sources, held lists and resolvers",
    examples: [
      ["status", "the server on this machine; exit code 0 if it is healthy, else 11"],
      ["status http://192.0.2.7:5000", "another server"],
    ],
    load: async () => (await import("./status.ts")).statusCommand,
  },
  {
    name: "completions",
    group: "more",
    operands: "SHELL",
    description: "Print a completion script for bash, zsh or fish",
    examples: [
      ["completions bash >> ~/.bashrc", "bash, from the next session"],
      ["completions fish | source", "fish, for the current session"],
    ],
    load: async () => (await import("./help.ts")).completionsCommand,
  },
  {
    name: "limits",
    group: "more",
    operands: "[FILE]",
    description:
      "Show limits and usage of a DNS API account, and check whether a compiled list fits; needs DNS_API_URL",
    examples: [
      ["limits", "limits and usage"],
      ["limits rules/my-list.txt", "exit code 5 if the list does not fit"],
    ],
    load: async () => (await import("./limits.ts")).limitsCommand,
  },
  {
    name: "help",
    group: "more",
    operands: "[COMMAND | FATE | CODE]",
    description:
      "Print help for a command, a fate of lines or the code of a problem, or an overview of all commands",
    examples: [
      ["help plan", "options and examples of plan"],
      ["help public-suffix", "what the fate means, and what to do about such lines"],
      ["help same-file", "what error[same-file] means, and what to do"],
      ["help fates", "every fate"],
    ],
    load: async () => (await import("./help.ts")).helpCommand,
  },
];

/** Names that work and are not shown: the health check of a container calls `health`. */
const HIDDEN_NAMES: Readonly<Record<string, string>> = { health: "status" };

/** The command with this name. */
export function commandNamed(word: string): CommandEntry | undefined {
  const wanted = Object.hasOwn(HIDDEN_NAMES, word) ? HIDDEN_NAMES[word] : word;
  return commands.find(({ name }) => name === wanted);
}
