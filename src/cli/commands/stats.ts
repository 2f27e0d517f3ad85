import {
  lastBuild,
  listNames,
  statsOf,
  trafficLogs,
  trafficStats,
} from "../../library/programs.ts";
import { CompilerError, errorOf } from "../../diagnostics/render.ts";
import { printable } from "../../diagnostics/text.ts";
import type { StatsOfList } from "../../documents/documents.ts";
import { type ListAnswer, answerLists } from "../answers.ts";
import { type CommandFlags, flagsOf } from "../flags/help.ts";
import { columnsOf } from "../output/reporter.ts";
import { statsMarkdown, statsTable, trafficMarkdown, trafficTable } from "../output/stats-text.ts";
import { markdownText } from "../output/table.ts";
import type { Command } from "./registry.ts";

/** Shows what each source contributes, from the record of the last build. */
export const statsCommand: Command = async (options, host, reporter, signal) => {
  const asked = flagsOf("stats", options.args);
  const other = await otherForm(asked);
  if (other !== undefined) return await other(options, host, reporter, signal);
  const lists = await listNames(options, host);
  const { dataStyle: style } = reporter;
  const { markdown: isMarkdown, traffic: files } = asked;
  const logs = trafficLogs(files, host, options.args.switches.has("verbose"));
  const answer = async (list: string): Promise<ListAnswer<Omit<StatsOfList, "list">>> => {
    const build = await lastBuild(list, options, host);
    const stats = statsOf(build.record);
    const traffic = logs && (await trafficStats(build, logs, options.cacheDir, host));
    const text = (): string => {
      const figures =
        traffic === undefined
          ? isMarkdown
            ? statsMarkdown(stats)
            : statsTable(stats, style, columnsOf(host.stdout))
          : isMarkdown
            ? trafficMarkdown(stats, traffic)
            : trafficTable(stats, traffic, style, columnsOf(host.stdout));
      if (lists.length === 1) return figures;
      const title = isMarkdown ? `## ${markdownText(list)}\n` : style.strong(printable(list));
      return `${title}\n${figures}\n`;
    };
    return { text, document: { ...stats, ...(traffic && { traffic }) } };
  };
  return await answerLists(lists, answer, { options, host, reporter });
};

/** The form of the answer, if another than the figures is asked for. Throws a `CompilerError`. */
async function otherForm({
  fate,
  source,
  html,
  matrix,
  markdown,
  traffic,
}: CommandFlags<"stats">): Promise<Command | undefined> {
  const forms = [fate.length > 0, html !== undefined, matrix !== undefined, markdown];
  if (forms.filter(Boolean).length > 1)
    throw usage("stats takes one of --fate, --html, --matrix and --markdown");
  if (fate.length === 0 && source.length > 0) throw usage("-s needs --fate");
  if (fate.length > 0 && traffic.length > 0) throw usage("--traffic and --fate exclude each other");
  if (fate.length > 0) return (await import("../answers.ts")).answerFates;
  if (matrix !== undefined) {
    if (traffic.length > 0) throw usage("--traffic and --matrix exclude each other");
    return (await import("../answers.ts")).answerMatrix;
  }
  if (html !== undefined) return (await import("../answers.ts")).answerWithPage;
  return undefined;
}

function usage(message: string): CompilerError {
  return new CompilerError([errorOf("wrong-usage", message)]);
}
