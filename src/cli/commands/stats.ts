import { Exit } from "../../diagnostics/exit.ts";
import { statsOf } from "../../explain/stats.ts";
import { lastBuild } from "../last-build.ts";
import { sendToOutput } from "../send-to-output.ts";
import { showText } from "../show-text.ts";
import { statsMarkdown, statsTable } from "../stats-text.ts";
import { columnsOf } from "../text-width.ts";
import type { Command } from "./registry.ts";

/** What each source brings, from the record of the last build. */
export const statsCommand: Command = async (options, host, talk) => {
  const { record } = await lastBuild(options, host, talk);
  const stats = statsOf(record);
  if (options.isJson) await sendToOutput(`${JSON.stringify(stats)}\n`, host);
  else if (options.args.switches.has("markdown")) await sendToOutput(statsMarkdown(stats), host);
  else await showText(statsTable(stats, talk.dataStyle, columnsOf(host.stdout)), host);
  return Exit.Done;
};
