/** Every option and environment variable, once. Parsing, `--help` and docs/reference/command-line.md come from these tables; commands are in commands/registry.ts. */

/** Commands that take the same options: they make a list, or answer from one that was made. */
const SETS = {
  building: ["compile", "watch", "plan", "serve"],
  answering: ["why", "stats", "lines", "diff", "changelog", "report"],
} as const;

export interface Flag {
  readonly name: string;
  readonly short?: string;
  /** What its value is called in help; a switch has none. */
  readonly value?: string;
  /** May stand without its value, which is then `*`. */
  readonly isOptional?: boolean;
  /** May be given more than once. */
  readonly repeats?: boolean;
  /** Sets of commands that take it, ... */
  readonly sets?: readonly (keyof typeof SETS)[];
  /** ... and further commands. Without both, every command takes it. */
  readonly only?: readonly string[];
  readonly description: string;
}

export const FLAGS = [
  {
    name: "config",
    short: "c",
    value: "FILE",
    sets: ["building", "answering"],
    only: ["validate"],
    description:
      "Configuration file: .json, .jsonc, .yaml or .yml (default: CONFIG_PATH, or the first that is there of compiler-config.json, .jsonc, .yaml, .yml and rules-compiler.yaml, .yml, .json, .jsonc)",
  },
  {
    name: "output",
    short: "o",
    value: "FILE",
    sets: ["building", "answering"],
    description:
      "Write the list to this file or folder instead of the rules directory; - is standard output",
  },
  {
    name: "copy-to-rules",
    short: "r",
    sets: ["building", "answering"],
    description:
      "With -o, also write the list into the rules directory (RULES_DIR, default ./rules)",
  },
  {
    name: "input",
    short: "i",
    value: "SOURCE",
    repeats: true,
    sets: ["building"],
    only: ["init"],
    description:
      "Compile this address or file without a configuration; may be repeated, wins over -c",
  },
  {
    name: "input-type",
    short: "t",
    value: "TYPE",
    sets: ["building"],
    only: ["init", "lint"],
    description:
      "Type of the -i sources: adblock, hosts, domains, rpz or any other format (default: adblock)",
  },
  {
    name: "filter",
    value: "NAME",
    repeats: true,
    sets: ["building", "answering"],
    only: ["validate"],
    description:
      "Of a configuration with several lists, only this one, by its name or file name; may be repeated, * stands for anything",
  },
  {
    name: "memory",
    value: "SIZE",
    sets: ["building"],
    description:
      "Use about this much memory, 128M or 2G; the rest goes to the temporary folder (default: half of what the machine or the container has)",
  },
  {
    name: "cache-dir",
    value: "DIR",
    sets: ["building"],
    only: ["why", "lines", "audit", "init"],
    description:
      "Keep last good copies of sources and what is known of builds here (default: rules-compiler in the user's cache folder)",
  },
  {
    name: "no-cache",
    sets: ["building"],
    only: ["why", "lines", "audit", "init"],
    description: "Neither use nor keep copies of sources",
  },
  {
    name: "no-record",
    only: ["compile", "serve", "watch"],
    description:
      "Keep no record of the build; why, stats and plan then have nothing to answer from",
  },
  {
    name: "offline",
    sets: ["building"],
    only: ["audit", "init"],
    description: "Fetch nothing; use the copies that were kept, whatever their age",
  },
  {
    name: "frozen",
    sets: ["building"],
    description: "Build from the very files that rules.lock names, to the same bytes, or fail",
  },
  {
    name: "update",
    value: "SOURCE",
    isOptional: true,
    sets: ["building"],
    description:
      "Write rules.lock beside the configuration; with the name or address of a source, fetch only that one and take the others as they are locked",
  },
  {
    name: "strict",
    only: ["compile", "serve", "apply", "lint"],
    description: "End with 3 when a source failed and the list was made without it or from a copy",
  },
  {
    name: "accept",
    value: "NAME",
    repeats: true,
    sets: ["building"],
    only: ["apply"],
    description:
      "Publish this once although a guard refused it, by the code of its refusal: list-shrunk, blocks-protected …",
  },
  {
    name: "plugins",
    sets: ["building", "answering"],
    only: ["validate"],
    description:
      "Run the modules that the configuration names in plugins; they can do anything that you can",
  },
  {
    name: "compat",
    sets: ["building"],
    description:
      "Do as HostlistCompiler does: trust every source, wherever it is, and take empty ones",
  },
  {
    name: "schedule",
    value: "CRON",
    only: ["serve"],
    description: "When to compile, as cron says it (default: 0 */6 * * *)",
  },
  {
    name: "time-zone",
    value: "ZONE",
    only: ["serve"],
    description: "The zone of the schedule, such as Europe/Berlin (default: the machine's)",
  },
  {
    name: "jitter",
    value: "TIME",
    only: ["serve"],
    description: "Run up to this much later than the schedule says, at random (default: 5m)",
  },
  {
    name: "port",
    value: "PORT",
    only: ["serve", "health"],
    description: "Port of the server (default: PORT, or 5000)",
  },
  {
    name: "listen",
    value: "ADDRESS",
    only: ["serve"],
    description: "Address to listen on; 0.0.0.0 or :: for all (default: 127.0.0.1)",
  },
  {
    name: "max-age",
    value: "TIME",
    only: ["serve"],
    description:
      "/health fails when the last good list is older (default: three times the schedule's interval)",
  },
  {
    name: "run-timeout",
    value: "TIME",
    only: ["serve"],
    description: "End a run that takes longer than this; 0 for never (default: 15m)",
  },
  {
    name: "connections-per-client",
    value: "COUNT",
    only: ["serve"],
    description:
      "At most this many connections from one address; more close the slowest of them (default: 64)",
  },
  {
    name: "dns-api-url",
    value: "URL",
    only: ["limits"],
    description: "Address of the DNS API (default: DNS_API_URL)",
  },
  {
    name: "dns-api-path",
    value: "PATH",
    only: ["limits"],
    description: "Path of the limits below it (default: DNS_API_PATH, or /v1/limits)",
  },
  {
    name: "check",
    value: "FILE",
    only: ["limits"],
    description: "Tell whether this compiled list fits the account; end with 5 if not",
  },
  {
    name: "fate",
    value: "FATE",
    repeats: true,
    only: ["lines"],
    description: "What became of the lines to list, such as bad-syntax; may be repeated",
  },
  {
    name: "source",
    short: "s",
    value: "SOURCE",
    repeats: true,
    only: ["lines"],
    description: "Only lines of this source, by its name or address; may be repeated",
  },
  { name: "markdown", only: ["stats", "plan"], description: "Print as Markdown" },
  {
    name: "exit-code",
    only: ["plan", "diff"],
    description: "End with 10 when something changes",
  },
  {
    name: "save",
    value: "FILE",
    only: ["plan"],
    description: "Save the plan here, for apply to publish exactly that",
  },
  {
    name: "key",
    value: "KEY",
    only: ["verify"],
    description: "The minisign public key, or a file with it, that must have signed the manifest",
  },
  {
    name: "from",
    value: "FILE",
    only: ["init"],
    description: "Take over the lists of other software: the files that audit reads",
  },
  {
    name: "name",
    value: "NAME",
    only: ["init", "verify"],
    description: "Name of the new list; for verify, of the list that the release must be of",
  },
  {
    name: "state",
    value: "FILE",
    only: ["verify"],
    description:
      "Remember the newest good release here, and refuse older ones and those of other lists",
  },
  {
    name: "format",
    value: "FORMAT",
    repeats: true,
    only: ["init"],
    description: "Also write the list in this format: hosts, unbound, rpz …",
  },
  {
    name: "fix",
    only: ["lint"],
    description: "Fix what can be fixed without a change to what the list means to anybody",
  },
  {
    name: "report",
    value: "FORM",
    only: ["lint"],
    description: "Form of what is found: text, json, sarif or github (default: text)",
  },
  { name: "open", only: ["report"], description: "Show the page in the browser" },
  {
    name: "validate",
    only: ["compile", "validate"],
    description: "Check the configuration and stop",
  },
  { name: "debug", short: "d", description: "Say more: every step, with times (also DEBUG=true)" },
  { name: "verbose", short: "v", description: "The same as --debug; messages have all names" },
  { name: "quiet", short: "q", description: "Say nothing but errors" },
  {
    name: "json",
    description:
      "Print the report as JSON on standard output, and problems as JSON lines on standard error",
  },
  {
    name: "color",
    value: "WHEN",
    description: "Colours: auto, always or never (default: auto; NO_COLOR and CI are respected)",
  },
  { name: "version", description: "Print the version" },
  {
    name: "help",
    short: "h",
    description: "Print help; -h prints one screen, and with a command both print its own",
  },
] as const;

/** The commands that take an option; undefined when all do. */
export function takersOf({ sets, only }: Flag): readonly string[] | undefined {
  if (sets === undefined && only === undefined) return undefined;
  return [...(sets ?? []).flatMap((set) => SETS[set]), ...(only ?? [])];
}

export type FlagName = (typeof FLAGS)[number]["name"];

/** Environment variables that the program reads. */
export const VARIABLES = [
  {
    name: "CONFIG_PATH",
    description: "Path of the configuration file",
    fallback: "compiler-config.json",
  },
  {
    name: "RULES_DIR",
    description: "Directory that the list is written into",
    fallback: "./rules",
  },
  { name: "DEBUG", description: "Debug output: `true` or `false`", fallback: "false" },
  {
    name: "RULESCOMPILER_Logging__LogLevel__Default",
    description: "How much is printed: Trace, Debug, Information, Warning, Error, Critical or None",
    fallback: "Information",
  },
  { name: "PORT", description: "Port of `serve`, and where `health` asks", fallback: "5000" },
  {
    name: "DNS_API_URL",
    description: "Address of the DNS API, for `limits`",
    fallback: "",
  },
  {
    name: "DNS_API_PATH",
    description: "Path of the limits below that address",
    fallback: "/v1/limits",
  },
  {
    name: "DNSAPI_DnsApi__ApiKey_FILE",
    description: "File that holds the key of the DNS API; wins over the two below",
    fallback: "",
  },
  { name: "DNSAPI_DnsApi__ApiKey", description: "The key of the DNS API itself", fallback: "" },
  {
    name: "DNSAPI_API_KEY",
    description: "The same, where DNSAPI_DnsApi__ApiKey is not set",
    fallback: "",
  },
  { name: "NO_COLOR", description: "Any value switches colours off", fallback: "" },
  {
    name: "SOURCE_DATE_EPOCH",
    description: "Seconds since 1970 to put into the header instead of the present time",
    fallback: "",
  },
] as const;
