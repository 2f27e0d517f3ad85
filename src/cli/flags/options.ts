import type { BuildOptions } from "../../library/programs.ts";
import { parseArgs } from "node:util";
import { GUARD_NAMES } from "../../diagnostics/codes.ts";
import { CompilerError, type Diagnostic, errorOf } from "../../diagnostics/render.ts";
import { durationMs, nearest, printable, sizeBytes, someOf } from "../../diagnostics/text.ts";
import { type Host, type Permit, PERMITS, type TextSink } from "../../host/host.ts";
import { type CommandEntry, commandNamed, commands } from "../commands/registry.ts";
import { hasTerminalLinks } from "../output/reporter.ts";
import { FLAGS, type CliFlag, type FlagName, type LogLevel, levelOf, takersOf } from "./flags.ts";

/** The options from the command line and the environment. */
export interface Options extends BuildOptions {
  /** The parsed command line, for command-specific options. */
  readonly args: Args;
  readonly strict: boolean;
  readonly level: LogLevel;
  readonly json: boolean;
  /** Whether standard error has colors. */
  readonly hasColor: boolean;
  /** Whether standard output has colors. */
  readonly hasDataColor: boolean;
  readonly hasLinks: boolean;
}

export function optionsOf(args: Args, host: Host): Options {
  const { env } = host;
  return {
    args,
    configPath:
      args.values.get("config")?.[0] ?? nonEmpty(env["CONFIG_PATH"]) ?? "compiler-config.json",
    inputs: args.values.get("input") ?? [],
    inputType: args.values.get("input-type")?.[0],
    filter: args.values.get("filter") ?? [],
    permit: permitsOf(args.values.get("permit") ?? []),
    output: args.values.get("output")?.[0],
    to: args.values.get("to")?.[0],
    copyToRules: args.switches.has("copy-to-rules"),
    rulesDir: nonEmpty(env["RULES_DIR"]) ?? "./rules",
    isUsualPlace: nonEmpty(env["RULES_DIR"]) === undefined && !args.values.has("output"),
    memory: sizeOf(args.values.get("memory")?.[0]),
    cacheDir: args.switches.has("no-cache")
      ? undefined
      : cacheFolderOf(args.values.get("cache-dir")?.[0], host),
    record: !args.switches.has("no-record"),
    offline: args.switches.has("offline"),
    strict: args.switches.has("strict"),
    frozen: args.switches.has("frozen"),
    update: args.values.get("update")?.[0],
    compat: args.switches.has("compat"),
    accept: acceptedOf(args.values.get("accept") ?? []),
    by: nonEmpty(args.values.get("by")?.[0]),
    level: levelOf(args.switches, env),
    json: args.switches.has("json"),
    hasColor: hasColor(args.values.get("color")?.[0], host.stderr, env),
    hasDataColor: hasColor(args.values.get("color")?.[0], host.stdout, env),
    hasLinks: hasTerminalLinks(env) && host.stdout.isTerminal,
  };
}

function cacheFolderOf(wanted: string | undefined, host: Host): string | undefined {
  return wanted === undefined ? host.cacheDir() : host.path.resolve(host.cwd, wanted);
}

function nonEmpty(value: string | undefined): string | undefined {
  return value === "" ? undefined : value;
}

function permitsOf(values: readonly string[]): readonly Permit[] {
  const words = values.flatMap((value) => value.split(",").map((word) => word.trim()));
  return words.map((word) => {
    const permit = PERMITS.find((one) => one === word);
    if (permit !== undefined) return permit;
    const meant = nearest(word, PERMITS);
    const message = `--permit must be one of ${someOf(PERMITS)}, not ${printable(word, 40)}`;
    const hint = meant === undefined ? {} : { hint: `Did you mean --permit ${meant}?` };
    throw new CompilerError([errorOf("wrong-usage", message, hint)]);
  });
}

function acceptedOf(names: readonly string[]): readonly string[] {
  for (const name of names) {
    if ((GUARD_NAMES as readonly string[]).includes(name)) continue;
    const message = `--accept must be one of ${GUARD_NAMES.join(", ")}, not ${printable(name, 40)}`;
    const meant = nearest(name, GUARD_NAMES);
    throw new CompilerError([problem(message, meant && `Did you mean --accept ${meant}?`)]);
  }
  return names;
}

/** Parses `256M`, `2G`, `500000k` or a number of bytes. */
function sizeOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const bytes = sizeBytes(text);
  if (bytes === undefined)
    throw new CompilerError([
      problem(`--memory must be a size, not ${printable(text, 40)}`, "Such as: --memory 256M"),
    ]);
  return bytes;
}

function hasColor(when: string | undefined, sink: TextSink, env: Host["env"]): boolean {
  if (when === "always") return true;
  if (when === "never") return false;
  if (when !== undefined && when !== "auto")
    throw new CompilerError([
      problem(
        `--color must be auto, always or never, not ${printable(when, 40)}`,
        `Such as: --color ${/^(?:no|off|false|0)$/i.test(when) ? "never" : "always"}`,
      ),
    ]);
  return (
    sink.isTerminal && !nonEmpty(env["NO_COLOR"]) && !nonEmpty(env["CI"]) && env["TERM"] !== "dumb"
  );
}

/** The parsed command line: checked against the tables, but not interpreted. */
export interface Args {
  readonly command: CommandEntry;
  /** Whether the user named the command, or it is the default. */
  readonly isNamed: boolean;
  /** Whether the user asked for help with `-h`. */
  readonly isBrief: boolean;
  /** The operands after the command, for commands that take any. */
  readonly operands: readonly string[];
  readonly switches: ReadonlySet<FlagName>;
  readonly values: ReadonlyMap<FlagName, readonly string[]>;
}

/** The same options as arguments for another command, omitting those that it does not take. */
export function wordsFor(command: string, { switches, values }: Args): string[] {
  const flags = (FLAGS as readonly CliFlag[]).filter((flag) => isFor(flag, command));
  return flags.flatMap(({ name, value }) => {
    const given = values.get(name as FlagName) ?? [];
    if (value !== undefined) return given.map((one) => `--${name}=${one}`);
    return switches.has(name as FlagName) ? [`--${name}`] : [];
  });
}

/** Whether a command takes a flag. */
export function isFor(flag: CliFlag, command: string): boolean {
  return takersOf(flag)?.includes(command) ?? true;
}

/** Whether a command takes the flag with this name. */
export function takes(command: string, name: FlagName): boolean {
  return isFor(
    FLAGS.find((flag) => flag.name === name)!,
    command,
  );
}

/** Throws a `CompilerError` that names every invalid argument. */
export function readArgs(argv: readonly string[]): Args {
  // `deno task compile -- -c x` passes the `--` on.
  const words = argv[0] === "--" ? argv.slice(1) : [...argv];
  const { tokens } = parseArgs({
    args: withOptionalValues(words),
    options: parserOptions(),
    strict: false,
    allowPositionals: true,
    tokens: true,
  });
  const switches = new Set<FlagName>();
  const values = new Map<FlagName, string[]>();
  const problems: Diagnostic[] = [];
  const operands: string[] = [];
  const places: string[] = [];
  let command: CommandEntry | undefined;
  let isBrief = false;
  for (const token of tokens) {
    if (token.kind === "option") {
      const flag = FLAGS.find(({ name }) => name === token.name) as CliFlag | undefined;
      if (flag === undefined) problems.push(unknownFlag(token.rawName));
      else if (flag.value === undefined) {
        if (token.value !== undefined) problems.push(problem(`${token.rawName} takes no value`));
        switches.add(flag.name as FlagName);
        isBrief ||= token.rawName === "-h";
      } else {
        const known = values.get(flag.name as FlagName);
        if (token.value === undefined || token.value === "")
          problems.push(problem(`${token.rawName} needs a value: ${flag.value}`));
        else if (known === undefined) values.set(flag.name as FlagName, [token.value]);
        else if (flag.repeats === true) known.push(token.value);
        else problems.push(problem(`${token.rawName} is set twice`));
      }
    } else if (token.kind === "positional") {
      const found = commandNamed(token.value);
      if (command?.operands !== undefined) operands.push(token.value);
      else if (found !== undefined && command === undefined) command = found;
      else if (found === undefined && isPlace(token.value)) places.push(token.value);
      // A word after an unknown option may be its value.
      else if (problems.length === 0) problems.push(unknownWord(token.value, found !== undefined));
    }
  }
  const chosen = command ?? commands[0]!;
  if (problems.length === 0) problems.push(...usePlaces(places, chosen, values));
  for (const flag of FLAGS as readonly CliFlag[]) {
    const isGiven = switches.has(flag.name as FlagName) || values.has(flag.name as FlagName);
    if (isGiven && !isFor(flag, chosen.name)) {
      const given = values.get(flag.name as FlagName) ?? [];
      problems.push(misplaced(flag, chosen, given[0]));
    }
  }
  if (problems.length > 0) throw new CompilerError(problems);
  const isNamed = command !== undefined;
  return { command: chosen, isNamed, isBrief, operands, switches, values };
}

const CONFIG_FILE = /\.(?:jsonc?|ya?ml)$/i;
/** A list in JSON has the extension of its format. */
const LIST_FILE = /\.sing-box\.json$/i;

/** Whether a word is a URL, a file or a folder, and not a misspelled command. */
function isPlace(word: string): boolean {
  return /[./\\]/.test(word);
}

/** Uses a configuration or a folder as the value of `-c`, and URLs and lists as those of `-i`. */
function usePlaces(
  places: readonly string[],
  { name: command }: CommandEntry,
  values: Map<FlagName, string[]>,
): Diagnostic[] {
  return places.flatMap((place) => {
    const isUrl = /^[a-z][a-z0-9+.-]+:\/\//i.test(place);
    const isConfig = CONFIG_FILE.test(place) && !LIST_FILE.test(place);
    const flag = !isUrl && (isConfig || /(?:^|[/\\])\.{0,2}$/.test(place)) ? "config" : "input";
    const known = values.get(flag) ?? [];
    const [short, what] = flag === "config" ? ["-c", "configuration"] : ["-i", "list"];
    if (!takes(command, flag))
      return problem(`${command} does not take a ${what}: ${printable(place, 80)}`);
    if (flag === "config" && known.length > 0)
      return problem(
        `More than one configuration: ${printable(known[0]!, 80)} and ${printable(place, 80)}`,
        `Run it once for each, or use ${short} once`,
      );
    values.set(flag, [...known, place]);
    return [];
  });
}

function misplaced(flag: CliFlag, { name: command }: CommandEntry, value = ""): Diagnostic {
  const hint =
    command === "init" && flag.name === "output"
      ? `Name the configuration without -o: rules-compiler init ${printable(value, 80)}`
      : `It is an option of ${takersOf(flag)!.join(", ")}`;
  return problem(`${command} does not take --${flag.name}`, hint);
}

/** `--update` without a value means all sources. */
function withOptionalValues(words: readonly string[]): string[] {
  const flags: readonly CliFlag[] = FLAGS;
  const optional = new Set(
    flags.filter((flag) => flag.isOptional === true).map(({ name }) => `--${name}`),
  );
  return words.map((word, index) => {
    const next = words[index + 1];
    const isAlone = next === undefined || next.startsWith("-");
    return optional.has(word) && isAlone ? `${word}=*` : word;
  });
}

function parserOptions(): Record<
  string,
  { type: "string" | "boolean"; short?: string; multiple?: boolean }
> {
  const options: Record<
    string,
    { type: "string" | "boolean"; short?: string; multiple?: boolean }
  > = {};
  for (const flag of FLAGS as readonly CliFlag[])
    options[flag.name] = {
      type: flag.value === undefined ? "boolean" : "string",
      multiple: true,
      ...(flag.short === undefined ? {} : { short: flag.short }),
    };
  return options;
}

function problem(message: string, hint?: string): Diagnostic {
  return errorOf("wrong-usage", message, hint === undefined ? {} : { hint });
}

function unknownFlag(rawName: string): Diagnostic {
  const meant = nearest(
    rawName.replace(/^-+/, ""),
    FLAGS.map(({ name }) => name),
  );
  const hint = meant === undefined ? undefined : `Did you mean --${meant}?`;
  return problem(`Unknown option: ${printable(rawName, 60)}`, hint);
}

function unknownWord(word: string, isCommand: boolean): Diagnostic {
  if (isCommand) return problem(`More than one command: ${word}`);
  const hint = MEANT.get(word.toLowerCase());
  return hint === undefined
    ? unknownCommand(word)
    : problem(`Unknown command: ${printable(word, 60)}`, hint);
}

const OTHER_WORDS: Readonly<Record<string, string>> = {
  '"allow"': "unblock whitelist allowlist unban",
  '"block"': "blacklist denylist deny ban",
  '"compile"': "build update upgrade refresh run fetch generate",
  '"rollback"': "undo revert restore",
  '"log"': "history builds",
  '"why"': "search query check explain ask",
  '"stats"': "list lists sources",
  '"serve"': "server start daemon",
  '"validate"': "test",
  '"init"': "import setup create new",
  '"rules-compiler LIST -o FILE"': "convert",
  "--version": "version",
  '"stats --html"': "report html",
};
/** What people call a command. The nearest name could be the opposite: `unblock` is not `block`. */
const MEANT = new Map([
  ...Object.entries(OTHER_WORDS).flatMap(([command, words]) =>
    words.split(" ").map((word) => [word, `Did you mean ${command}?`] as const),
  ),
  ...["add", "remove", "delete", "enable", "disable", "subscribe", "unsubscribe"].map(
    (word) => [word, "Edit sources in the configuration, then: rules-compiler plan"] as const,
  ),
]);

/** The error for a word that is not a command. */
export function unknownCommand(
  word: string,
  meant: string | undefined = nearest(
    word,
    commands.map(({ name }) => name),
  ),
  otherwise = `If it is a file or a folder, write ./${printable(word, 60)}`,
): Diagnostic {
  const hint = meant === undefined ? otherwise : `Did you mean "${meant}"?`;
  return problem(`Unknown command: ${printable(word, 60)}`, hint);
}

const DEFAULT_WAIT = "30s";

/** Throws a `CompilerError` for anything but a duration or 0. */
export function durationOf(name: FlagName, text: string): number {
  const ms = text === "0" ? 0 : durationMs(text);
  if (ms !== undefined) return ms;
  throw new CompilerError([
    problem(
      `--${name} must be a duration such as 90s, 5m or 12h, not ${printable(text, 40)}`,
      `Such as: --${name} ${/^\d{1,6}$/.test(text) ? text : "90"}s`,
    ),
  ]);
}

/** How long a resolver may take to load a list. */
export function proofWait({ values }: Args): number {
  return durationOf("wait", values.get("wait")?.[0] ?? DEFAULT_WAIT);
}

/** Parses a format name. Throws a `CompilerError` that lists the valid formats. */
export function formatOption<T extends string>(
  option: string,
  value: string,
  formats: readonly T[],
): T {
  if (formats.includes(value as T)) return value as T;
  const meant = nearest(value, formats);
  const hint = meant === undefined ? {} : { hint: `Did you mean ${meant}?` };
  const message = `${option} must be one of ${formats.join(", ")}`;
  throw new CompilerError([errorOf("wrong-usage", message, hint)]);
}
