import { Exit } from "../../diagnostics/exit.ts";
import { printable } from "../../diagnostics/printable.ts";
import { configOf } from "../config-of.ts";
import { sendToOutput } from "../send-to-output.ts";
import { countText } from "../../diagnostics/number-text.ts";
import type { Command } from "./registry.ts";

/** Checks the configuration; reads no source. */
export const validateCommand: Command = async (options, host, talk) => {
  const { config } = await configOf(options, host, talk);
  const sources = config.sources.length;
  talk.info(
    `${talk.style.good("valid")}: "${printable(config.name)}" with ${countText(sources, "source")}`,
  );
  if (options.isJson)
    await sendToOutput(`${JSON.stringify({ valid: true, name: config.name, sources })}\n`, host);
  return Exit.Done;
};
