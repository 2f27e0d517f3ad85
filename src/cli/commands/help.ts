import { COUNTS, RANKS } from "../../library/programs.ts";
import { CODES, type Code, Exit, GUARD_NAMES, codeEntry } from "../../diagnostics/codes.ts";
import { CompilerError, errorOf } from "../../diagnostics/render.ts";
import { nearest } from "../../diagnostics/text.ts";
import { sendToOutput } from "../../host/files.ts";
import { PERMITS } from "../../host/host.ts";
import { FATE_ENTRIES, FORMAT_NAMES, type FateEntry, OUTPUT_FORMATS } from "../../index.ts";
import {
  type CliFlag,
  SHOWN_FLAGS,
  descriptionFor,
  takersOf,
  wholeDescription,
} from "../flags/flags.ts";
import { COLUMNS, briefHelp, commandHelp, quoted, table } from "../flags/help.ts";
import { isFor, unknownCommand } from "../flags/options.ts";
import { LINT_REPORTS } from "../output/explanation-text.ts";
import { wrapText } from "../output/reporter.ts";
import { type Command, commandNamed, commands } from "./registry.ts";

/** Same as `COMMAND --help`, or as `-h` without a command. Also explains fates and the codes of problems. */
export const helpCommand: Command = async (options, host) => {
  const [wanted, ...more] = options.args.operands;
  if (more.length > 0)
    throw new CompilerError([
      errorOf("wrong-usage", "help takes one command, fate or code at a time"),
    ]);
  await sendToOutput(wanted === undefined ? briefHelp() : helpFor(wanted), host);
  return Exit.Done;
};

function helpFor(wanted: string): string {
  const entry = commandNamed(wanted);
  if (entry !== undefined) return commandHelp(entry);
  if (wanted === FATE_TOPIC) return fatesHelp();
  const fate = FATE_ENTRIES.get(wanted);
  const code = CODE_NAMES.find((one) => one === wanted);
  // Some words are both.
  const texts = [
    ...(fate === undefined ? [] : [fateHelp(fate)]),
    ...(code === undefined ? [] : [codeHelp(code)]),
  ];
  if (texts.length > 0) return texts.join("\n");
  const names = commands.map(({ name }) => name);
  const meant = nearest(wanted, [...names, FATE_TOPIC, ...FATE_ENTRIES.keys(), ...CODE_NAMES]);
  const hint = meant === undefined ? "All commands: help. All fates: help fates" : undefined;
  throw new CompilerError([unknownCommand(wanted, meant, hint)]);
}

/** Prints a shell completion script. */
export const completionsCommand: Command = async (options, host) => {
  const [shell, ...more] = options.args.operands;
  const script =
    shell !== undefined && more.length === 0 && Object.hasOwn(COMPLETIONS, shell)
      ? COMPLETIONS[shell]
      : undefined;
  if (script === undefined)
    throw new CompilerError([
      errorOf("wrong-usage", `completions needs a shell: ${Object.keys(COMPLETIONS).join(", ")}`, {
        hint: "Such as: rules-compiler completions bash",
      }),
    ]);
  await sendToOutput(script(), host);
  return Exit.Done;
};

const CODE_NAMES = Object.keys(CODES) as Code[];

/** The topic with every fate. */
const FATE_TOPIC = "fates";

/** Every fate with its meaning, by rank, and the words for what is counted. */
function fatesHelp(): string {
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

function fateHelp({ name, rank, meaning, rankMeaning, advice }: FateEntry): string {
  return [
    `${name}: ${plain(meaning)}`,
    `Rank: ${rank}. ${rankMeaning}.`,
    `What to do: ${plain(advice)}.`,
    `The lines: rules-compiler stats --fate ${name}`,
  ]
    .map((text) => `${wrapText(text, COLUMNS).join("\n")}\n`)
    .join("");
}

/** The code of a problem, such as that in `error[same-file]`. */
function codeHelp(code: Code): string {
  const { exit, meaning, hint } = codeEntry(code);
  const kind = exit === undefined ? "A warning or a note" : `An error; exit code ${exit}`;
  return [`${code}: ${plain(meaning)}`, `${kind}.`, `What to do: ${plain(hint)}.`]
    .map((text) => `${wrapText(text, COLUMNS).join("\n")}\n`)
    .join("");
}

function plain(markdown: string): string {
  return markdown.replaceAll("`", "");
}

const ALL = SHOWN_FLAGS;

/** Values of options. All other options complete files. */
const VALUES: Readonly<Record<string, readonly string[]>> = {
  "input-type": FORMAT_NAMES,
  to: OUTPUT_FORMATS,
  format: [...OUTPUT_FORMATS, ...Object.keys(LINT_REPORTS)],
  accept: GUARD_NAMES,
  permit: PERMITS,
  fate: [...FATE_ENTRIES.keys()],
  color: ["auto", "always", "never"],
};

/** What `help` explains. */
const TOPICS = [...commands.map(({ name }) => name), FATE_TOPIC, ...FATE_ENTRIES.keys()].join(" ");

/** Shell completion scripts, generated from the tables of commands and options. */
export const COMPLETIONS: Readonly<Record<string, () => string>> = { bash, zsh, fish };

function completedFlags(command: string): readonly CliFlag[] {
  return ALL.filter((flag) => isFor(flag, command));
}

function wordsOf(flags: readonly CliFlag[]): string {
  return flags
    .flatMap(({ name, short }) => [`--${name}`, ...(short === undefined ? [] : [`-${short}`])])
    .join(" ");
}

function bash(): string {
  const cases = commands
    .map(({ name }) => `    ${name}) flags="${wordsOf(completedFlags(name))}" ;;`)
    .join("\n");
  const values = Object.entries(VALUES)
    .map(
      ([name, words]) =>
        `    ${namesOf(name)}) COMPREPLY=($(compgen -W "${words.join(" ")}" -- "$word")); return ;;`,
    )
    .join("\n");
  const taking = ALL.filter(({ name, value }) => value !== undefined && VALUES[name] === undefined);
  return `# bash completion for rules-compiler: eval "$(rules-compiler completions bash)"
_rules_compiler() {
  local word="\${COMP_WORDS[COMP_CWORD]}" before="\${COMP_WORDS[COMP_CWORD-1]}" command="" flags one
  COMPREPLY=()
  case "$before" in
${values}
    ${taking.map(({ name }) => namesOf(name)).join("|")}) compopt -o default 2>/dev/null; return ;;
  esac
  for one in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$one" in
      ${commands.map(({ name }) => name).join("|")}) command="$one"; break ;;
    esac
  done
  case "\${command:-compile}" in
${cases}
  esac
  if [[ "$word" == -* ]]; then
    COMPREPLY=($(compgen -W "$flags" -- "$word"))
  elif [[ -z "$command" ]]; then
    COMPREPLY=($(compgen -W "${commands.map(({ name }) => name).join(" ")}" -- "$word"))
  elif [[ "$command" == help ]]; then
    COMPREPLY=($(compgen -W "${TOPICS}" -- "$word"))
  else
    compopt -o default 2>/dev/null
  fi
}
complete -F _rules_compiler rules-compiler
`;
}

/** The spellings of an option. */
function namesOf(name: string): string {
  const short = ALL.find((flag) => flag.name === name)?.short;
  return short === undefined ? `--${name}` : `--${name}|-${short}`;
}

function zsh(): string {
  const described = commands.map(
    ({ name, description }) => `    ${quoted(`${name}:${description.replaceAll(":", "\\:")}`)}`,
  );
  const cases = commands.map(
    ({ name }) =>
      `    ${name}) _arguments -s ${completedFlags(name)
        .flatMap((flag) => zshFlag(flag, name))
        .join(" ")} ${name === "help" ? `'*:topic:(${TOPICS})'` : "'*:file:_files'"} ;;`,
  );
  return `#compdef rules-compiler
# zsh completion for rules-compiler: put it into a folder of $fpath as _rules-compiler
_rules_compiler() {
  local -a names
  local command
  names=(
${described.join("\n")}
  )
  command=compile
  if (( CURRENT == 2 )) && [[ $words[2] != -* ]]; then
    _describe -t commands 'command' names
    return
  fi
  if (( \${names[(I)$words[2]:*]} )); then
    command=$words[2]
    words=("\${(@)words[1]}" "\${(@)words[3,-1]}")
    (( CURRENT-- ))
  fi
  case $command in
${cases.join("\n")}
  esac
}
if [[ $funcstack[1] == _rules-compiler ]]; then
  _rules_compiler "$@"
else
  compdef _rules_compiler rules-compiler
fi
`;
}

function zshFlag(flag: CliFlag, command: string): string[] {
  const { name, short, value, repeats } = flag;
  const text = descriptionFor(flag, command).replaceAll(/[[\]:]/g, "\\$&");
  const words = VALUES[name];
  const action = words === undefined ? "_files" : `(${words.join(" ")})`;
  const wanted = value === undefined ? "" : `:${value}:${action}`;
  const star = repeats === true ? "*" : "";
  const spellings = [`--${name}`, ...(short === undefined ? [] : [`-${short}`])];
  return spellings.map((one) => quoted(`${star}${one}[${text}]${wanted}`));
}

function fish(): string {
  const names = commands.map(({ name }) => name).join(" ");
  const lines = commands.map(
    ({ name, description }) =>
      `complete -c rules-compiler -n "not __fish_seen_subcommand_from ${names}" -a ${name} -d ${quoted(description)}`,
  );
  const flags = ALL.map((flag) => {
    const { name, short, value } = flag;
    const only = takersOf(flag);
    const seen = only === undefined ? "" : `__fish_seen_subcommand_from ${only.join(" ")}`;
    // Without a command, the default one applies.
    const isDefault = only?.includes(commands[0]!.name) === true;
    const none = isDefault ? `; or not __fish_seen_subcommand_from ${names}` : "";
    const when = seen === "" ? "" : ` -n "${seen}${none}"`;
    const words = VALUES[name];
    const wanted =
      value === undefined
        ? ""
        : words === undefined
          ? " -r -F"
          : ` -x -a ${quoted(words.join(" "))}`;
    return `complete -c rules-compiler${when} -l ${name}${short === undefined ? "" : ` -s ${short}`}${wanted} -d ${quoted(wholeDescription(flag))}`;
  });
  const topics = `complete -c rules-compiler -n "__fish_seen_subcommand_from help" -x -a ${quoted(TOPICS)}`;
  return `# fish completion for rules-compiler: rules-compiler completions fish > ~/.config/fish/completions/rules-compiler.fish
${[...lines, ...flags, topics].join("\n")}
`;
}
