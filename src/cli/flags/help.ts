import { EXIT_MEANINGS, Exit } from "../../diagnostics/exit.ts";
import { isFor } from "./args.ts";
import { type CommandEntry, GROUPS, commands } from "../commands/registry.ts";
import { type Flag, descriptionFor, takersOf } from "./flag.ts";
import { SHOWN_FLAGS } from "./flags.ts";
import { COUNTS, FATE_ENTRIES, type FateEntry, RANKS } from "../../explain/glossary.ts";
import { VARIABLES } from "./variables.ts";
import { wrapText } from "../output/text-width.ts";

/** Fixed, because help must look the same on any terminal and in files. */
const COLUMNS = 80;
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

Options of a command: help COMMAND. Fates of lines: help fates. All: --help
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
  rules-compiler -i SOURCE [-i SOURCE …] -o FILE
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

/** The topic with every fate. */
export const FATE_TOPIC = "fates";

/** Every fate with its meaning, by rank, and the words for what is counted. */
export function fatesHelp(): string {
  const fates = [...FATE_ENTRIES.values()];
  const sections = RANKS.map((rank) => {
    const own = fates.filter((fate) => fate.rank === rank);
    const heading = wrapText(`${rank}: ${own[0]!.rankMeaning}.`, COLUMNS).join("\n");
    return `${heading}\n${table(own.map(({ name, meaning }) => [name, plain(meaning)]))}`;
  });
  return `Every line of a source is kept or dropped, and has one of these fates.

${sections.join("\n\n")}

Counts:
${table(Object.values(COUNTS))}

One fate: rules-compiler help FATE. Its lines: rules-compiler stats --fate FATE
`;
}

export function fateHelp({ name, rank, meaning, rankMeaning, advice }: FateEntry): string {
  return [
    `${name}: ${plain(meaning)}`,
    `Rank: ${rank}. ${rankMeaning}.`,
    `What to do: ${plain(advice)}.`,
    `The lines: rules-compiler stats --fate ${name}`,
  ]
    .map((text) => `${wrapText(text, COLUMNS).join("\n")}\n`)
    .join("");
}

function plain(markdown: string): string {
  return markdown.replaceAll("`", "");
}

/** Whether only some commands take it. */
function isOwn(flag: Flag): boolean {
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

function flagTable(isWanted: (flag: Flag) => boolean, command = "compile"): string {
  const flags = SHOWN_FLAGS.filter(isWanted);
  return table(flags.map((flag) => [flagUsage(flag), descriptionFor(flag, command)]));
}

export function flagUsage({ name, short, value, isOptional }: Flag): string {
  const wanted = value === undefined ? "" : isOptional === true ? ` [${value}]` : ` ${value}`;
  const long = `--${name}${wanted}`;
  return short === undefined ? `    ${long}` : `-${short}, ${long}`;
}

function table(rows: readonly (readonly [string, string])[]): string {
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
