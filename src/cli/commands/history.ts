import { listFiles } from "../../build/list-files.ts";
import { type HistoryEntry, listHistory } from "../../build/list-history.ts";
import { listNames } from "../../build/state/published-build.ts";
import { CompilerError, errorOf } from "../../diagnostics/diagnostic.ts";
import { momentText } from "../../diagnostics/moment-text.ts";
import { countText, numberText } from "../../diagnostics/number-text.ts";
import { printable } from "../../diagnostics/printable.ts";
import { someOf } from "../../diagnostics/some-of.ts";
import { type ListAnswer, answerLists } from "../answer-lists.ts";
import { flagsOf } from "../flags/command-flags.ts";
import { renderTable } from "../output/table.ts";
import type { Command } from "./registry.ts";

/** Shows what happened to a list, oldest first. With `--verify`, it only checks. */
export const historyCommand: Command = async (options, host, reporter) => {
  const lists = await listNames(options, host);
  const { verify } = flagsOf("history", options.args);
  const { dataStyle: style } = reporter;
  const answer = async (list: string): Promise<ListAnswer> => {
    const [file] = listFiles(list, options, host);
    if (file === undefined)
      throw new CompilerError([
        errorOf("record-missing", "A list written to standard output has no history"),
      ]);
    const { entries, problems } = await listHistory(file, host);
    if (verify) for (const one of problems) if (one.severity !== "error") reporter.diagnostic(one);
    const errors = problems.filter(({ severity }) => severity === "error");
    if (verify && errors.length > 0) throw new CompilerError(errors);
    if (!verify) for (const one of problems) reporter.diagnostic({ ...one, severity: "warning" });
    const count = countText(entries.length, "entry", "entries");
    const head = entries.at(-1)?.hash ?? "none";
    return {
      text: () =>
        verify
          ? `${style.good("good")}: ${count} of ${printable(file.name)}, head ${head}\n`
          : `${style.strong(printable(file.name))}\n${historyText(entries)}\n`,
      documents: verify ? [{ isGood: true, entries: entries.length, head }] : entries,
      label: verify ? "check" : "entries",
    };
  };
  return await answerLists(lists, answer, { options, host, reporter });
};

function historyText(entries: readonly HistoryEntry[]): string {
  const rows = entries.map((entry) => [
    momentText(entry.at),
    entry.event,
    entry.rules === undefined ? "" : numberText(entry.rules),
    printable(entry.by, 40),
    entry.to?.slice(0, 12) ?? "",
    noteText(entry),
  ]);
  return renderTable([["when", "event", "rules", "by", "list", "note"], ...rows], {
    align: "llrlll",
  }).join("\n");
}

function noteText({ of, guards = [], found, from = [] }: HistoryEntry): string {
  if (of !== undefined) return `the build of ${momentText(of)}`;
  if (found !== undefined) return printable(found, 80);
  if (guards.length > 0) return someOf(guards);
  return from.length === 0 ? "" : `from ${countText(from.length, "source")}`;
}
