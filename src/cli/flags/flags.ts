import { type Diagnostic, warningOf } from "../../diagnostics/render.ts";
import { printable } from "../../diagnostics/text.ts";
import type { Host } from "../../host/host.ts";

/** The options of a server, and of commands that ask one. */
const SERVER_FLAGS = [
  {
    name: "schedule",
    value: "CRON",
    only: ["serve"],
    description:
      "When to compile, as a cron expression in the time zone of TZ (default: 0 */6 * * *)",
  },
  {
    name: "port",
    value: "PORT",
    only: ["serve", "status"],
    description: "Port of the server (default: PORT, or 5000)",
  },
  {
    name: "listen",
    value: "ADDRESS",
    only: ["serve"],
    description: "Address to listen on; 0.0.0.0 or :: for all (default: 127.0.0.1)",
  },
  {
    name: "run-timeout",
    value: "TIME",
    only: ["serve"],
    description: "Stop a run that takes longer than this; 0 disables the limit (default: 15m)",
  },
  {
    name: "token-file",
    value: "FILE",
    only: ["serve"],
    description:
      "File with the token that POST requests must present (default: SERVE_TOKEN_FILE, or a new token in the cache folder)",
  },
] as const;

const BUILD_FLAGS = [
  {
    name: "config",
    short: "c",
    value: "FILE",
    sets: ["building", "answering"],
    only: ["validate"],
    description:
      "Configuration file: .json, .jsonc, .yaml or .yml, or a folder with one (default: CONFIG_PATH, or the first that exists of compiler-config.json, .jsonc, .yaml, .yml and rules-compiler.yaml, .yml, .json, .jsonc, or the only file with sources)",
  },
  {
    name: "output",
    short: "o",
    value: "FILE",
    sets: ["building", "answering"],
    description:
      "Write the list alone to this file (- is standard output), or everything into this folder (with / at the end), instead of the rules directory",
    whenAnswering: "The list or the folder that was written with -o",
  },
  {
    name: "copy-to-rules",
    short: "r",
    sets: ["building", "answering"],
    description:
      "Publish everything in the rules directory (RULES_DIR, default ./rules), and copy the list to -o",
    whenAnswering: "The list is in the rules directory, too (it was written with -r)",
  },
  {
    name: "input",
    short: "i",
    value: "SOURCE",
    repeats: true,
    sets: ["building"],
    only: ["init"],
    description:
      "Compile this URL or file without a configuration (to standard output unless -o is set; may be repeated, overrides -c; the same as URL or FILE alone)",
  },
  {
    name: "input-type",
    short: "t",
    value: "TYPE",
    sets: ["building"],
    only: ["init", "lint"],
    description:
      "Format of the -i sources: adblock, hosts, domains, rpz or any other format (default: that of the extension, or adblock)",
  },
  {
    name: "to",
    value: "FORMAT",
    only: ["compile"],
    description:
      "Convert the list to this format: hosts, rpz, unbound … (default: that of the extension of -o, or adblock)",
  },
  {
    name: "filter",
    value: "NAME",
    repeats: true,
    sets: ["building", "answering"],
    only: ["validate"],
    description:
      "Select one of several lists by its name or file name; may be repeated, * matches any text",
  },
  {
    name: "memory",
    value: "SIZE",
    sets: ["building"],
    description:
      "Use about this much memory, such as 128M or 2G; the rest goes to the temporary folder (default: half the memory of the machine or container)",
  },
  {
    name: "cache-dir",
    value: "DIR",
    sets: ["building"],
    only: ["why", "stats", "export", "allow", "block", "audit", "init"],
    description:
      "Folder for cached sources and earlier builds (default: rules-compiler in the user's cache folder)",
  },
  {
    name: "no-cache",
    sets: ["building"],
    only: ["why", "stats", "export", "audit", "init"],
    description: "Neither read nor write the cache",
  },
  {
    name: "no-record",
    isHidden: true,
    only: ["compile", "serve", "watch"],
    description: "Keep no record of the build, to measure what it costs",
  },
  {
    name: "offline",
    sets: ["building"],
    only: ["audit", "init"],
    description: "Make no requests; use cached copies of any age",
  },
  {
    name: "frozen",
    sets: ["building"],
    description: "Build exactly the sources locked in rules.lock, or fail",
  },
  {
    name: "update",
    value: "SOURCE",
    isOptional: true,
    sets: ["building"],
    description:
      "Write rules.lock next to the configuration; with the name or URL of a source, update only that source",
  },
  {
    name: "strict",
    only: ["compile", "serve", "apply", "lint", "validate"],
    description:
      "Exit with code 3 if a source failed (and was skipped or replaced by a cached copy)",
    texts: { validate: "Unknown keys are errors", lint: "Exit with code 9 for warnings, too" },
  },
  {
    name: "accept",
    value: "NAME",
    repeats: true,
    sets: ["building"],
    only: ["apply"],
    description:
      "Publish once despite this guard, named by its code: source-shrunk, blocks-protected …",
  },
  {
    name: "end",
    only: ["hold"],
    description: "End the hold; the next run publishes again",
  },
  {
    name: "exact",
    only: ["allow", "block"],
    description: "Decide about the name alone, without the names below it",
  },
  {
    name: "reason",
    value: "TEXT",
    only: ["allow", "block"],
    description: "The reason; the command why shows it",
  },
  {
    name: "ref",
    value: "TEXT",
    only: ["allow", "block"],
    description: "Where it was discussed, such as the URL of an issue",
  },
  {
    name: "until",
    value: "TIME",
    only: ["allow", "block"],
    description: "Until this day, or for this time: 2026-12-31, 7d, 12h",
  },
  {
    name: "remove",
    only: ["allow", "block"],
    description: "Take decisions about the names back",
  },
  {
    name: "list",
    only: ["allow", "block"],
    description: "Show the decisions to allow names",
    texts: { block: "Show the decisions to block names" },
  },
  {
    name: "by",
    isHidden: true,
    value: "NAME",
    only: ["compile", "apply", "rollback", "hold", "allow", "block"],
    description: "Who asks: serve tells it to the runs that it starts",
  },
  {
    name: "permit",
    value: "WHAT",
    repeats: true,
    sets: ["building", "answering"],
    only: ["validate"],
    description:
      "What the configuration may do, separated by commas: hooks (run what it lists under after, then prove its resolvers), plugins (run its modules), paths (write outside the rules directory). Programs run with your permissions",
  },
  {
    name: "compat",
    sets: ["building"],
    description:
      "Behave like HostlistCompiler: trust every source, also in private networks, and accept empty ones",
  },
] as const;

const OTHER_FLAGS = [
  {
    name: "fate",
    value: "FATE",
    isOptional: true,
    repeats: true,
    only: ["stats"],
    description:
      "List the lines with this fate, such as bad-syntax, as file:line: text; without a value, count the lines per fate",
  },
  {
    name: "source",
    short: "s",
    value: "SOURCE",
    repeats: true,
    only: ["stats"],
    description: "With --fate, only lines of this source, by name or URL; may be repeated",
  },
  {
    name: "html",
    value: "FILE",
    isOptional: true,
    only: ["stats"],
    description:
      "Write an HTML page to this file or folder: sources, overlaps, dropped lines, and a search (default: the name of the list and .report.html)",
  },
  {
    name: "matrix",
    value: "csv",
    isOptional: true,
    only: ["stats"],
    description:
      "Compare the lists of a configuration: what they share, who had it first, what changed; as CSV with --matrix csv",
  },
  {
    name: "markdown",
    only: ["stats", "plan", "log"],
    description: "Print as Markdown; with --json of plan and log, as the field markdown",
    texts: { log: "Print what each build changed as Markdown; with --json, as the field markdown" },
  },
  {
    name: "traffic",
    value: "FILE",
    repeats: true,
    only: ["stats", "plan", "audit", "why"],
    description:
      "Count what the list does for the queries of this log: of AdGuard Home, Pi-hole, dnsmasq, unbound, BIND or dnsdist, the output of dnstap-read, or one name per line; - is standard input; may be repeated; with --verbose, also per client",
  },
  {
    name: "exit-code",
    only: ["plan", "diff"],
    description: "Exit with code 10 if something changes",
  },
  {
    name: "save",
    value: "FILE",
    only: ["plan"],
    description: "Save the plan to this file, to publish it with apply",
  },
  {
    name: "wait",
    value: "TIME",
    only: ["prove", "compile", "serve"],
    description: "How long a resolver may take to load the list (default: 30s)",
    texts: {
      compile: "How long a resolver may take, after --permit hooks (default: 30s)",
      serve: "How long a resolver may take, after --permit hooks (default: 30s)",
    },
  },
  {
    name: "resolver",
    value: "NAME",
    repeats: true,
    only: ["why", "alive"],
    description:
      "Ask this resolver of the configuration which names the name is an alias of, and answer for each",
    texts: {
      alive: "Address of a recursive resolver without a list; may be repeated: all must agree",
    },
  },
  {
    name: "rate",
    value: "NUMBER",
    only: ["alive"],
    description: "How many names a second to ask about (default: 20)",
  },
  {
    name: "parked",
    value: "FILE",
    only: ["alive"],
    description: "File with the name servers of parked names, one per line",
  },
  {
    name: "key",
    value: "KEY",
    only: ["verify"],
    description: "minisign public key, or a file that holds it, to verify the signature with",
  },
  {
    name: "from",
    value: "FILE",
    only: ["init", "alive"],
    description: "Import the lists of other software from a file that audit can read",
    texts: {
      alive:
        "What another tool saw, perhaps with a weight (dead.txt=0.7): a list of dead names, JSON lines of massdns or zdns, lines such as name NXDOMAIN, or observations of another machine",
    },
  },
  {
    name: "name",
    value: "NAME",
    only: ["init", "verify"],
    description: "Name of the new list (default: that of its file, or My list)",
    texts: { verify: "Expected name of the list" },
  },
  {
    name: "state",
    value: "FILE",
    only: ["verify"],
    description:
      "Store the newest good release in this file; reject older releases and those of other lists",
  },
  {
    name: "format",
    value: "FORMAT",
    repeats: true,
    only: ["init", "lint"],
    description: "Also write the list in this format: hosts, unbound, rpz …",
    texts: { lint: "Form of the report: text, json, sarif or github" },
  },
  {
    name: "fix",
    only: ["lint"],
    description: "Fix problems where the fix does not change what the list blocks",
  },
  {
    name: "validate",
    only: ["compile", "validate"],
    description: "Check the configuration without compiling",
  },
  { name: "debug", short: "d", description: "Show every step with its duration (also DEBUG=true)" },
  { name: "verbose", short: "v", description: "Same as --debug; messages list all names" },
  { name: "quiet", short: "q", description: "Show errors and news only: what begins or ends" },
  {
    name: "json",
    description:
      "Print the report as JSON to standard output, and problems as JSON lines to standard error",
  },
  {
    name: "color",
    value: "WHEN",
    description: "Use colours: auto, always or never (default: auto; respects NO_COLOR and CI)",
  },
  { name: "version", description: "Print the version, and the commit if it is not a release" },
  {
    name: "help",
    short: "h",
    description: "Print help, with a command its own; -h prints one screen",
  },
] as const;

/** The table of all options, for parsing, `--help` and docs/reference/command-line.md. Commands are in commands/registry.ts. */
export const FLAGS: readonly [
  ...typeof BUILD_FLAGS,
  ...typeof SERVER_FLAGS,
  ...typeof OTHER_FLAGS,
] = [...BUILD_FLAGS, ...SERVER_FLAGS, ...OTHER_FLAGS];

/** The options that help, completions and the reference show. */
export const SHOWN_FLAGS: readonly CliFlag[] = (FLAGS as readonly CliFlag[]).filter(
  ({ isHidden }) => isHidden !== true,
);

export type FlagName = (typeof FLAGS)[number]["name"];

/** Sets of commands that share options: they build a list, or answer from a published one. */
export const SETS = {
  building: ["compile", "watch", "plan", "serve"],
  answering: [
    "why",
    "stats",
    "diff",
    "log",
    "export",
    "rollback",
    "hold",
    "allow",
    "block",
    "apply",
    "prove",
    "alive",
  ],
} as const;

export interface CliFlag {
  readonly name: string;
  readonly short?: string;
  /** Whether it works and is not shown: the program passes it to itself, or measurements need it. */
  readonly isHidden?: boolean;
  /** The name of its value in help; undefined for a switch. */
  readonly value?: string;
  /** Whether the value may be omitted, which means `*`. */
  readonly isOptional?: boolean;
  /** Whether it may be repeated. */
  readonly repeats?: boolean;
  /** Sets of commands that take it, ... */
  readonly sets?: readonly (keyof typeof SETS)[];
  /** ... and further commands. If both are undefined, every command takes it. */
  readonly only?: readonly string[];
  readonly description: string;
  /** What it means for commands that answer from a published list, if that differs. */
  readonly whenAnswering?: string;
  /** What it means for single commands, if that differs. */
  readonly texts?: Readonly<Record<string, string>>;
}

/** What an option means for a command. */
export function descriptionFor(
  { description, whenAnswering, texts = {} }: CliFlag,
  command: string,
): string {
  const isAnswering = (SETS.answering as readonly string[]).includes(command);
  return texts[command] ?? (isAnswering ? whenAnswering : undefined) ?? description;
}

/** What an option means, with what differs for single commands. */
export function wholeDescription({ description, texts = {} }: CliFlag): string {
  const others = [...new Set(Object.values(texts))].map((text) => {
    const commands = Object.keys(texts).filter((name) => texts[name] === text);
    return `. For ${commands.join(" and ")}: ${text}`;
  });
  return description + others.join("");
}

/** The commands that take an option; undefined if all do. */
export function takersOf({ sets, only }: CliFlag): readonly string[] | undefined {
  if (sets === undefined && only === undefined) return undefined;
  return [...(sets ?? []).flatMap((set) => SETS[set]), ...(only ?? [])];
}

/** From quiet to verbose. `news` has the ends of conditions, too. */
export const LEVELS = ["none", "error", "warning", "news", "info", "debug"] as const;
export type LogLevel = (typeof LEVELS)[number];

const VARIABLE = "RULESCOMPILER_Logging__LogLevel__Default";
/** Log levels of the .NET compiler. */
const NAMED: Readonly<Record<string, LogLevel>> = {
  Trace: "debug",
  Debug: "debug",
  Information: "info",
  Warning: "warning",
  Error: "error",
  Critical: "error",
  None: "none",
};

/** Flags take precedence over `DEBUG`, and `DEBUG` over the log level of the .NET compiler. */
export function levelOf(switches: ReadonlySet<FlagName>, env: Host["env"]): LogLevel {
  if (switches.has("quiet")) return "news";
  if (switches.has("debug") || switches.has("verbose")) return "debug";
  if (/^true$/i.test(env["DEBUG"] ?? "")) return "debug";
  return namedLevel(env[VARIABLE] ?? "") ?? "info";
}

function namedLevel(value: string): LogLevel | undefined {
  const name = Object.keys(NAMED).find((one) => one.toLowerCase() === value.toLowerCase());
  return name === undefined ? undefined : NAMED[name];
}

/** Variables with unknown values. Other programs use `DEBUG` too, so this is never an error. */
export function ignoredVariables(env: Host["env"]): Diagnostic[] {
  const ignored: Diagnostic[] = [];
  const debug = env["DEBUG"] ?? "";
  if (!/^(?:true|false|)$/i.test(debug))
    ignored.push(unknownValue("DEBUG", "true or false", debug, "Debug output needs DEBUG=true"));
  const level = env[VARIABLE] ?? "";
  const names = Object.keys(NAMED);
  const choice = `${names.slice(0, -1).join(", ")} or ${names.at(-1)!}`;
  if (level !== "" && namedLevel(level) === undefined)
    ignored.push(unknownValue(VARIABLE, choice, level, "Information is used instead"));
  return ignored;
}

function unknownValue(name: string, wanted: string, value: string, hint: string): Diagnostic {
  const message = `${name} must be ${wanted}, not ${printable(value, 40)}`;
  return warningOf("environment-ignored", message, { hint });
}
