import { type CommandEntry, commands } from "./commands/registry.ts";
import { FLAGS, type Flag, VARIABLES } from "./flags.ts";

/** Help for one command, or for the program. */
export function helpText(command: CommandEntry | undefined): string {
  return command === undefined ? programHelp() : commandHelp(command);
}

function programHelp(): string {
  const examples = commands.flatMap((entry) => entry.examples.slice(0, 2));
  return `rules-compiler: many DNS blocklists in, one list out, every line accounted for

Usage:
  rules-compiler [compile] [-c FILE] [-o FILE]
  rules-compiler -i SOURCE [-i SOURCE …] -o FILE
  rules-compiler COMMAND [OPTIONS]
  rules-compiler COMMAND --help

Examples:
${exampleLines(examples)}

Commands:
${table(commands.map(({ name, description }) => [name, description]))}

Options:
${flagTable((flag) => flag.only === undefined)}

Environment:
${table(VARIABLES.map(({ name, description, fallback }) => [name, fallback === "" ? description : `${description} (default: ${fallback})`]))}

Exit codes: 0 done, 1 bug, 2 usage or configuration, 3 degraded (--strict), 4 sources failed, 5 refused by a guard,
6 output failed, 7 another run is at it, 8 DNS API failed, 9 lint found problems, 130/143 stopped by a signal
`;
}

function commandHelp({ name, description, examples }: CommandEntry): string {
  const own = flagTable((flag) => flag.only?.includes(name) === true);
  return `rules-compiler ${name}: ${description}

Examples:
${exampleLines(examples)}

Options:
${own === "" ? flagTable((flag) => flag.only === undefined) : `${own}\n  and those of all commands: rules-compiler --help`}
`;
}

function exampleLines(examples: CommandEntry["examples"]): string {
  return examples.map(([words, what]) => `  rules-compiler ${words}\n      ${what}`).join("\n");
}

function flagTable(isWanted: (flag: Flag) => boolean): string {
  const flags = (FLAGS as readonly Flag[]).filter(isWanted);
  return table(flags.map((flag) => [flagUsage(flag), flag.description]));
}

export function flagUsage({ name, short, value }: Flag): string {
  const long = `--${name}${value === undefined ? "" : ` ${value}`}`;
  return short === undefined ? `    ${long}` : `-${short}, ${long}`;
}

function table(rows: readonly (readonly [string, string])[]): string {
  if (rows.length === 0) return "";
  const width = Math.min(28, Math.max(...rows.map(([left]) => left.length)));
  return rows
    .map(([left, right]) =>
      left.length > width
        ? `  ${left}\n  ${" ".repeat(width)}  ${right}`
        : `  ${left.padEnd(width)}  ${right}`,
    )
    .join("\n");
}
