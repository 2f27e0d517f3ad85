import { type BuildEntry, buildsOf } from "../../build/state/builds-of.ts";
import { lastBuild, listNames } from "../../build/state/published-build.ts";
import { momentText } from "../../diagnostics/moment-text.ts";
import { numberText } from "../../diagnostics/number-text.ts";
import { printable } from "../../diagnostics/printable.ts";
import { type ListAnswer, answerLists } from "../answer-lists.ts";
import { renderTable } from "../output/table.ts";
import type { Command } from "./registry.ts";

/** Lists the kept builds, newest first. */
export const buildsCommand: Command = async (options, host, reporter) => {
  const lists = await listNames(options, host);
  const { dataStyle: style } = reporter;
  const answer = async (list: string): Promise<ListAnswer> => {
    const { path, name } = await lastBuild(list, options, host);
    const builds = await buildsOf(path, host);
    return {
      text: () => `${style.strong(printable(name))}\n${buildsText(builds)}\n`,
      documents: builds,
      label: "builds",
    };
  };
  return await answerLists(lists, answer, { options, host, reporter });
};

function buildsText(builds: readonly BuildEntry[]): string {
  const rows = builds.map((entry) => [
    entry.build,
    momentText(entry.at),
    numberText(entry.rules),
    changeText(entry),
    printable(entry.by ?? "unknown", 40),
    noteText(entry),
  ]);
  return renderTable([["build", "when", "rules", "change", "asked by", "note"], ...rows], {
    align: "llrrll",
  }).join("\n");
}

function changeText({ change, isSame }: BuildEntry): string {
  if (isSame) return "same list";
  if (change === undefined) return "";
  const sign = change === 0 ? "±" : change < 0 ? "−" : "+";
  return `${sign}${numberText(Math.abs(change))}`;
}

function noteText({ of, isComplete }: BuildEntry): string {
  if (!isComplete) return "cannot be published again";
  if (of === undefined) return "";
  return `rollback to ${of.startsWith("@") ? of : `the build of ${momentText(of)}`}`;
}
