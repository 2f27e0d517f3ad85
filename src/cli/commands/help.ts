import { Exit } from "../../diagnostics/codes.ts";
import { CompilerError, errorOf } from "../../diagnostics/render.ts";
import { nearest } from "../../diagnostics/text.ts";
import { sendToOutput } from "../../host/files.ts";
import { FATE_ENTRIES } from "../../index.ts";
import {
  COMPLETIONS,
  FATE_TOPIC,
  briefHelp,
  commandHelp,
  fateHelp,
  fatesHelp,
} from "../flags/help.ts";
import { unknownCommand } from "../flags/options.ts";
import { type Command, commandNamed, commands } from "./registry.ts";

/** Same as `COMMAND --help`, or as `-h` without a command. Also explains fates. */
export const helpCommand: Command = async (options, host) => {
  const [wanted, ...more] = options.args.operands;
  if (more.length > 0)
    throw new CompilerError([errorOf("unknown-flag", "help takes one command or fate at a time")]);
  await sendToOutput(wanted === undefined ? briefHelp() : helpFor(wanted), host);
  return Exit.Done;
};

function helpFor(wanted: string): string {
  const entry = commandNamed(wanted);
  if (entry !== undefined) return commandHelp(entry);
  if (wanted === FATE_TOPIC) return fatesHelp();
  const fate = FATE_ENTRIES.get(wanted);
  if (fate !== undefined) return fateHelp(fate);
  const names = commands.map(({ name }) => name);
  throw new CompilerError([
    unknownCommand(wanted, nearest(wanted, [...names, FATE_TOPIC, ...FATE_ENTRIES.keys()])),
  ]);
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
      errorOf("unknown-flag", `completions needs a shell: ${Object.keys(COMPLETIONS).join(", ")}`, {
        hint: "Such as: rules-compiler completions bash",
      }),
    ]);
  await sendToOutput(script(), host);
  return Exit.Done;
};
