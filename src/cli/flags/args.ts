import { parseArgs } from "node:util";
import { CompilerError, type Diagnostic, errorOf } from "../../diagnostics/diagnostic.ts";
import { printable } from "../../diagnostics/printable.ts";
import { nearest } from "../../diagnostics/suggest.ts";
import { type CommandEntry, commandNamed, commands } from "../commands/registry.ts";
import { type Flag, takersOf } from "./flag.ts";
import { FLAGS, type FlagName } from "./flags.ts";

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
  const flags = (FLAGS as readonly Flag[]).filter((flag) => isFor(flag, command));
  return flags.flatMap(({ name, value }) => {
    const given = values.get(name as FlagName) ?? [];
    if (value !== undefined) return given.map((one) => `--${name}=${one}`);
    return switches.has(name as FlagName) ? [`--${name}`] : [];
  });
}

/** Whether a command takes a flag. */
export function isFor(flag: Flag, command: string): boolean {
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
  let command: CommandEntry | undefined;
  let isBrief = false;
  for (const token of tokens) {
    if (token.kind === "option") {
      const flag = FLAGS.find(({ name }) => name === token.name) as Flag | undefined;
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
      // A word after an unknown option may be its value.
      else if (problems.length === 0) problems.push(unknownWord(token.value, found !== undefined));
    }
  }
  const chosen = command ?? commands[0]!;
  for (const flag of FLAGS as readonly Flag[]) {
    const isGiven = switches.has(flag.name as FlagName) || values.has(flag.name as FlagName);
    if (isGiven && !isFor(flag, chosen.name)) problems.push(misplaced(flag, chosen));
  }
  if (problems.length > 0) throw new CompilerError(problems);
  const isNamed = command !== undefined;
  return { command: chosen, isNamed, isBrief, operands, switches, values };
}

function misplaced(flag: Flag, { name: command }: CommandEntry): Diagnostic {
  const hint = `It is an option of ${takersOf(flag)!.join(", ")}`;
  return problem(`${command} does not take --${flag.name}`, hint);
}

/** `--update` without a value means all sources. */
function withOptionalValues(words: readonly string[]): string[] {
  const flags: readonly Flag[] = FLAGS;
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
  for (const flag of FLAGS as readonly Flag[])
    options[flag.name] = {
      type: flag.value === undefined ? "boolean" : "string",
      multiple: true,
      ...(flag.short === undefined ? {} : { short: flag.short }),
    };
  return options;
}

function problem(message: string, hint?: string): Diagnostic {
  return errorOf("unknown-flag", message, hint === undefined ? {} : { hint });
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
  if (word === "version") return problem("Unknown command: version", "Did you mean --version?");
  return unknownCommand(word);
}

/** The error for a word that is not a command. */
export function unknownCommand(
  word: string,
  meant: string | undefined = nearest(
    word,
    commands.map(({ name }) => name),
  ),
): Diagnostic {
  const hint =
    meant === undefined ? "Use -c to name a configuration file" : `Did you mean "${meant}"?`;
  return problem(`Unknown command: ${printable(word, 60)}`, hint);
}
