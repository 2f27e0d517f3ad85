import { Exit, EXIT_MEANINGS } from "../../diagnostics/codes.ts";
import { type CommandEntry, GROUPS, commands } from "../commands/registry.ts";
import { fitText, wrapText } from "../output/reporter.ts";
import {
  FLAGS,
  type CliFlag,
  type FlagName,
  type SETS,
  SHOWN_FLAGS,
  descriptionFor,
  takersOf,
} from "./flags.ts";
import { type Args, isFor } from "./options.ts";

/** Fixed, because help must look the same on any terminal and in files. */
export const COLUMNS = 80;
/** Descriptions of names up to this width are beside them, others below. */
const LEFT = 24;

const TITLE = "rules-compiler: compile DNS blocklists into one list, and explain every line";

/** An overview on one screen, with pointers to the full help. */
export function briefHelp(): string {
  const width = Math.max(...GROUPS.map((group) => group.length));
  const rows = GROUPS.flatMap((group) =>
    groupRows(group).map((row, index) => `  ${(index === 0 ? group : "").padEnd(width)}  ${row}`),
  );
  return `${TITLE}
Usage: rules-compiler [COMMAND] [-c FILE] [OPTIONS]

${rows.join("\n")}

Help for a command, fate or code: help WORD. Fates: help fates. All: --help
`;
}

function groupRows(group: CommandEntry["group"]): string[] {
  const own = commands.filter((entry) => entry.group === group);
  if (group === "more") return [own.map(({ name }) => name).join(" ")];
  const width = Math.max(...commands.map(({ name }) => name.length));
  return own.map(({ name, brief = "" }) => `${name.padEnd(width)}  ${brief}`);
}

/** The full help, without options of single commands. */
export function programHelp(): string {
  const examples = commands.flatMap((entry) => entry.examples.slice(0, 1));
  const variables = VARIABLES.map(
    ({ name, description, fallback }) =>
      [name, fallback === "" ? description : `${description} (default: ${fallback})`] as const,
  );
  const exits = Object.entries(Exit).map(
    ([name, code]) =>
      [String(code), EXIT_MEANINGS[name as keyof typeof Exit].replaceAll("`", "")] as const,
  );
  return `${TITLE}

Usage:
  rules-compiler [compile] [-c FILE] [-o FILE]
  rules-compiler -i SOURCE [-i SOURCE …] [--to FORMAT] [-o FILE]
  rules-compiler CONFIGURATION | URL | LIST
  rules-compiler COMMAND [OPTIONS]
  rules-compiler help COMMAND

Commands:
${table(commands.map(({ name, description }) => [name, description]))}

Options of compile:
${flagTable((flag) => isOwn(flag) && isFor(flag, "compile"))}

Options of every command:
${flagTable((flag) => !isOwn(flag))}

Environment:
${table(variables)}

Examples:
${exampleLines(examples)}

Exit codes:
${table(exits)}
`;
}

export function commandHelp(entry: CommandEntry): string {
  const { name, description, examples } = entry;
  const own = flagTable((flag) => isOwn(flag) && isFor(flag, name), name);
  return `${wrapText(`rules-compiler ${name}: ${description}`, COLUMNS).join("\n")}

Usage: ${usageOf(entry)}

Examples:
${exampleLines(examples)}
${own === "" ? "" : `\nOptions:\n${own}\n`}
Options of every command:
${flagTable((flag) => !isOwn(flag))}
`;
}

/** Rows of a terminal, without the one of the prompt. */
const ROWS = 23;

/** The help of a command on one screen: its own options first; others only by name where there is no room. */
export function commandBrief(entry: CommandEntry): string {
  const { name, description, examples } = entry;
  const head = [
    ...wrapText(`rules-compiler ${name}: ${description}`, COLUMNS),
    `Usage: ${usageOf(entry)}`,
    "",
    ...briefRows(examples.slice(0, 3).map(([words, what]) => [`rules-compiler ${words}`, what])),
    "",
  ];
  const own = SHOWN_FLAGS.filter((flag) => isOwn(flag) && isFor(flag, name));
  const sorted = own.toSorted((a, b) => placeOf(a) - placeOf(b));
  const shared = SHOWN_FLAGS.filter((flag) => !isOwn(flag));
  const end = ["", `Everything: rules-compiler help ${name}`];
  for (let shown = sorted.length; ; shown--) {
    const rows = sorted
      .slice(0, shown)
      .map((flag) => [flagUsage(flag).trim(), clauseOf(descriptionFor(flag, name))] as const);
    const others = [...sorted.slice(shown), ...shared].map(shortest).join(" ");
    const lines = [...head, ...briefRows(rows), ...wrapText(`  also: ${others}`, COLUMNS), ...end];
    if (lines.length <= ROWS || shown === 0) return `${lines.join("\n")}\n`;
  }
}

/** Options of one or two commands come first, then those with a letter. */
function placeOf(flag: CliFlag): number {
  const takers = takersOf(flag)!.length;
  return takers <= 2 ? 0 : flag.short === undefined ? takers : 1;
}

function briefRows(rows: readonly (readonly [string, string])[]): string[] {
  const width = Math.max(0, ...rows.map(([left]) => left.length));
  const room = COLUMNS - width - 4;
  return rows.flatMap(([left, right]) => {
    if (room < LEFT) return fitText(`  ${left}`, COLUMNS);
    const [first = "", ...rest] = wrapText(right, room);
    return [`  ${left.padEnd(width)}  ${first}`, ...rest.map((line) => indented(line, width + 4))];
  });
}

/** The beginning of a description, up to the first detail. */
function clauseOf(description: string): string {
  return description.split(/[;(]|: /, 1)[0]!.trim();
}

function shortest({ name, short }: CliFlag): string {
  return short === undefined ? `--${name}` : `-${short}`;
}

/** Whether only some commands take it. */
function isOwn(flag: CliFlag): boolean {
  return takersOf(flag) !== undefined;
}

/** The usage line, such as `diff [OPTIONS] OLD NEW`. */
export function usageOf({ name, operands }: CommandEntry): string {
  const words = name === commands[0]!.name ? `[${name}]` : name;
  return `rules-compiler ${words} [OPTIONS]${operands === undefined ? "" : ` ${operands}`}`;
}

function exampleLines(examples: CommandEntry["examples"]): string {
  return examples
    .map(([words, what]) => `  rules-compiler ${words}\n${indented(what, 6)}`)
    .join("\n");
}

function flagTable(isWanted: (flag: CliFlag) => boolean, command = "compile"): string {
  const flags = SHOWN_FLAGS.filter(isWanted);
  return table(flags.map((flag) => [flagUsage(flag), descriptionFor(flag, command)]));
}

export function flagUsage({ name, short, value, isOptional }: CliFlag): string {
  const wanted = value === undefined ? "" : isOptional === true ? ` [${value}]` : ` ${value}`;
  const long = `--${name}${wanted}`;
  return short === undefined ? `    ${long}` : `-${short}, ${long}`;
}

export function table(rows: readonly (readonly [string, string])[]): string {
  if (rows.length === 0) return "";
  const width = Math.min(LEFT, Math.max(...rows.map(([left]) => left.length)));
  return rows
    .map(([left, right]) => {
      const text = indented(right, width + 4);
      return left.length > width ? `  ${left}\n${text}` : `  ${left}${text.slice(left.length + 2)}`;
    })
    .join("\n");
}

function indented(text: string, indent: number): string {
  const lines = wrapText(text, COLUMNS - indent);
  return lines.map((line) => " ".repeat(indent) + line).join("\n");
}

/** Environment variables that the program reads. */
export const VARIABLES = [
  {
    name: "CONFIG_PATH",
    description: "Path of the configuration file, or of a folder with one",
    fallback: "compiler-config.json",
  },
  {
    name: "RULES_DIR",
    description: "Directory for compiled lists",
    fallback: "./rules",
  },
  { name: "DEBUG", description: "Debug output: `true` or `false`", fallback: "false" },
  {
    name: "RULESCOMPILER_Logging__LogLevel__Default",
    description: "Log level: Trace, Debug, Information, Warning, Error, Critical or None",
    fallback: "Information",
  },
  { name: "PORT", description: "Port of `serve` and `status`", fallback: "5000" },
  {
    name: "SERVE_TOKEN_FILE",
    description: "File with the token of `serve`",
    fallback: "",
  },
  {
    name: "SERVE_HOSTNAME",
    description: "Names of `serve` in the public DNS, separated by commas",
    fallback: "",
  },
  {
    name: "DNS_API_URL",
    description: "URL of the DNS API, for `limits`",
    fallback: "",
  },
  {
    name: "DNS_API_PATH",
    description: "Path of the limits endpoint",
    fallback: "/v1/limits",
  },
  {
    name: "DNSAPI_DnsApi__ApiKey_FILE",
    description: "File that holds the key of the DNS API; overrides the two variables below",
    fallback: "",
  },
  { name: "DNSAPI_DnsApi__ApiKey", description: "Key of the DNS API", fallback: "" },
  {
    name: "DNSAPI_API_KEY",
    description: "Key of the DNS API, if DNSAPI_DnsApi__ApiKey is not set",
    fallback: "",
  },
  { name: "HTTP_PROXY", description: "Proxy for lists at http: URLs", fallback: "" },
  {
    name: "HTTPS_PROXY",
    description: "Proxy for lists at https: URLs, and for the DNS API",
    fallback: "",
  },
  {
    name: "NO_PROXY",
    description: "Hosts that are contacted without a proxy, separated by commas",
    fallback: "",
  },
  {
    name: "TZ",
    description: "Time zone of the schedule of `serve`, such as Europe/Berlin",
    fallback: "",
  },
  { name: "NO_COLOR", description: "Any value disables colours", fallback: "" },
  {
    name: "SOURCE_DATE_EPOCH",
    description: "Unix time in seconds, written to the header instead of the current time",
    fallback: "",
  },
] as const;

/** A word that a shell reads as it is. */
export function shellWord(text: string): string {
  return /^[\w./@:%+=-]+$/.test(text) ? text : quoted(text);
}

/** Quotes a text for a shell. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

type AnyFlag = (typeof FLAGS)[number];
type SetName = keyof typeof SETS;

/** The commands that take an option; the type-level equivalent of `takersOf`. */
type Takers<F> =
  | (F extends { sets: readonly (infer Set extends SetName)[] }
      ? (typeof SETS)[Set][number]
      : never)
  | (F extends { only: readonly (infer Command)[] } ? Command : never);

type FlagsOf<Command> = AnyFlag extends infer F
  ? F extends AnyFlag
    ? Command extends Takers<F>
      ? F
      : never
    : never
  : never;

type Camel<Name extends string> = Name extends `${infer Head}-${infer Tail}`
  ? `${Head}${Capitalize<Camel<Tail>>}`
  : Name;

type FlagValue<F> = F extends { repeats: true }
  ? readonly string[]
  : F extends { value: string }
    ? string | undefined
    : boolean;

/** The command-specific options of a command: switches, values, and lists of values. */
export type CommandFlags<Command extends string> = {
  readonly [F in FlagsOf<Command> as Camel<F["name"]>]: FlagValue<F>;
};

type CommandName = Takers<AnyFlag>;

/** The options that the user gave for a command, by name. */
export function flagsOf<Command extends CommandName>(
  command: Command,
  { switches, values }: Args,
): CommandFlags<Command> {
  const flags = (FLAGS as readonly CliFlag[]).filter((flag) => isFor(flag, command));
  const entries = flags.map((flag) => {
    const name = flag.name as FlagName;
    const given = values.get(name);
    const value =
      flag.value === undefined
        ? switches.has(name)
        : flag.repeats === true
          ? (given ?? [])
          : given?.[0];
    return [name.replaceAll(/-(.)/g, (_, letter: string) => letter.toUpperCase()), value] as const;
  });
  // The types above are derived from the same table.
  return Object.fromEntries(entries) as CommandFlags<Command>;
}
