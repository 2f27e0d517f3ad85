import { printable } from "../../diagnostics/printable.ts";
import { type ListState, listChange } from "../../explain/list-change.ts";
import type { Host } from "../../host/host.ts";
import { type ListAnswer, answerLists } from "../answer-lists.ts";
import { keptStates } from "../../build/state/kept-build.ts";
import { changeJson } from "../output/change-text.ts";
import { changelogSection } from "../output/changelog-text.ts";
import { lastBuild, listNames } from "../../build/state/published-build.ts";
import type { Command } from "./registry.ts";

/** Shows the changes of each kept build, newest first. */
export const changelogCommand: Command = async (options, host, reporter) => {
  const lists = await listNames(options, host);
  const answer = async (list: string): Promise<ListAnswer> => {
    const { path, record } = await lastBuild(list, options, host);
    const sections = await sectionsOf(path, host);
    if (sections.length === 0)
      reporter.info(
        `${lists.length === 1 ? "" : `${printable(list)}: `}Nothing to compare yet: only one build is stored`,
      );
    return {
      text: () => `# ${record.header.name}\n${sections.map(({ text }) => text).join("")}`,
      documents: sections.map(({ document }) => document),
      label: "builds",
    };
  };
  return await answerLists(lists, answer, { options, host, reporter });
};

async function sectionsOf(
  path: string,
  host: Host,
): Promise<{ readonly text: string; readonly document: object }[]> {
  const sections: { text: string; document: object }[] = [];
  let newer: { at: string; state: ListState } | undefined;
  for await (const { at, state } of keptStates(path, host)) {
    if (newer !== undefined) {
      const change = await listChange(state, newer.state);
      sections.push({
        text: changelogSection(newer.at, change, state.record?.header, newer.state.record?.header),
        document: { at: newer.at, ...changeJson(change) },
      });
    }
    newer = { at, state };
  }
  return sections;
}
