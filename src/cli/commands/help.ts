import { CompilerError, errorOf } from "../../diagnostics/diagnostic.ts";
import { Exit } from "../../diagnostics/exit.ts";
import { unknownCommand } from "../flags/args.ts";
import { briefHelp, commandHelp } from "../flags/help.ts";
import { sendToOutput } from "../../host/send-to-output.ts";
import { type Command, commandNamed } from "./registry.ts";

/** Same as `COMMAND --help`, or as `-h` without a command. */
export const helpCommand: Command = async (options, host) => {
  const [wanted, ...more] = options.args.operands;
  if (more.length > 0)
    throw new CompilerError([errorOf("unknown-flag", "help takes one command at a time")]);
  const entry = wanted === undefined ? undefined : commandNamed(wanted);
  if (wanted !== undefined && entry === undefined)
    throw new CompilerError([unknownCommand(wanted)]);
  await sendToOutput(entry === undefined ? briefHelp() : commandHelp(entry), host);
  return Exit.Done;
};
