import { CompilerError, errorOf } from "../../diagnostics/diagnostic.ts";
import { Exit } from "../../diagnostics/exit.ts";
import { COMPLETIONS } from "../flags/completions.ts";
import { sendToOutput } from "../../host/send-to-output.ts";
import type { Command } from "./registry.ts";

/** Prints a shell completion script. */
export const completionsCommand: Command = async (options, host) => {
  const [shell, ...more] = options.args.operands;
  const script =
    shell !== undefined && more.length === 0 && Object.hasOwn(COMPLETIONS, shell)
      ? COMPLETIONS[shell]
      : undefined;
  if (script === undefined)
    throw new CompilerError([
      errorOf("unknown-flag", `completions needs a shell: ${Object.keys(COMPLETIONS).join(", ")}`),
    ]);
  await sendToOutput(script(), host);
  return Exit.Done;
};
