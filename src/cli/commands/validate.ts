import { Exit } from "../../diagnostics/exit.ts";
import { printable } from "../../diagnostics/printable.ts";
import { listsInPlace } from "../config-of.ts";
import { refuseSameFiles } from "../same-files.ts";
import { sendToOutput } from "../output/send-to-output.ts";
import { countText } from "../../diagnostics/number-text.ts";
import type { Command } from "./registry.ts";

/** Checks the configuration; reads no source. */
export const validateCommand: Command = async (options, host, talk) => {
  const [first, ...others] = await listsInPlace(options, host, talk);
  refuseSameFiles([first!, ...others], { ...options, output: undefined }, host);
  const { name, sources: all, lists } = first!.whole;
  const sources = all.length;
  const several = lists === undefined ? "" : ` and ${countText(1 + others.length, "list")}`;
  talk.info(
    `${talk.style.good("valid")}: "${printable(name)}" with ${countText(sources, "source")}${several}`,
  );
  const counted = lists === undefined ? {} : { lists: 1 + others.length };
  if (options.json)
    await sendToOutput(`${JSON.stringify({ valid: true, name, sources, ...counted })}\n`, host);
  return Exit.Done;
};
