import { CompilerError, errorOf } from "../../diagnostics/diagnostic.ts";
import { Exit } from "../../diagnostics/exit.ts";
import { nearest } from "../../diagnostics/suggest.ts";
import { unknownCommand } from "../flags/args.ts";
import { FATE_TOPIC, briefHelp, commandHelp, fateHelp, fatesHelp } from "../flags/help.ts";
import { sendToOutput } from "../../host/send-to-output.ts";
import { FATE_ENTRIES } from "../../explain/glossary.ts";
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
