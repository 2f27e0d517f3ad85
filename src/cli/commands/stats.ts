import { printable } from "../../diagnostics/printable.ts";
import { statsOf } from "../../explain/stats.ts";
import { type ListAnswer, answerLists } from "../answer-lists.ts";
import { lastBuild, listNames } from "../../build/state/published-build.ts";
import { markdownText } from "../output/markdown-text.ts";
import { statsMarkdown, statsTable } from "../output/stats-text.ts";
import { columnsOf } from "../output/text-width.ts";
import { flagsOf } from "../flags/command-flags.ts";
import type { Command } from "./registry.ts";

/** Shows what each source contributes, from the record of the last build. */
export const statsCommand: Command = async (options, host, reporter) => {
  const lists = await listNames(options, host);
  const { dataStyle: style } = reporter;
  const { markdown: isMarkdown } = flagsOf("stats", options.args);
  const answer = async (list: string): Promise<ListAnswer> => {
    const { record } = await lastBuild(list, options, host);
    const stats = statsOf(record);
    const text = (): string => {
      const figures = isMarkdown
        ? statsMarkdown(stats)
        : statsTable(stats, style, columnsOf(host.stdout));
      if (lists.length === 1) return figures;
      const title = isMarkdown ? `## ${markdownText(list)}\n` : style.strong(printable(list));
      return `${title}\n${figures}\n`;
    };
    return { text, documents: [stats] };
  };
  return await answerLists(lists, answer, { options, host, reporter });
};
