import {
  type KeptState,
  keptChange,
  keptStates,
  listFiles,
  listNames,
} from "../../library/programs.ts";
import { CompilerError, errorOf } from "../../diagnostics/render.ts";
import { timestampText, numberText, printable, someOf } from "../../diagnostics/text.ts";
import type { DatedChange, LogOfList } from "../../documents/documents.ts";
import type { LogEvent } from "../../documents/facts.ts";
import type { Host } from "../../host/host.ts";
import { listLog } from "../../index.ts";
import { type ListAnswer, answerLists } from "../answers.ts";
import { flagsOf } from "../flags/help.ts";
import { changeJson, changelogSection } from "../output/change-text.ts";
import { renderTable } from "../output/table.ts";
import type { Command } from "./registry.ts";

/** Shows what happened to a list, newest first. With `--markdown`, it shows what each stored build changed. */
export const logCommand: Command = async (options, host, reporter) => {
  const lists = await listNames(options, host);
  const { markdown: isMarkdown } = flagsOf("log", options.args);
  const { dataStyle: style } = reporter;
  const answer = async (list: string): Promise<ListAnswer<Omit<LogOfList, "list">>> => {
    const [file] = listFiles(list, options, host);
    if (file === undefined)
      throw new CompilerError([
        errorOf("record-missing", "A list written to standard output has no log"),
      ]);
    const events = await listLog(file.path, host);
    if (events.length === 0)
      throw new CompilerError([
        errorOf("record-missing", `Nothing has happened to ${printable(file.name)} yet`),
      ]);
    if (!isMarkdown)
      return {
        text: () => `${style.strong(printable(file.name))}\n${eventTable(events)}\n`,
        document: { events },
      };
    const { name = list, changes } = await changesOf(file, options.rulesDir, host);
    if (changes.length === 0)
      reporter.info(
        `${lists.length === 1 ? "" : `${printable(list)}: `}Nothing to compare yet: only one build is stored`,
      );
    const markdown = `# ${name}\n${changes.map(({ text }) => text).join("")}`;
    const documents = changes.map(({ document }) => document);
    return { text: () => markdown, document: { events, changes: documents, markdown } };
  };
  return await answerLists(lists, answer, { options, host, reporter });
};

function eventTable(events: readonly LogEvent[]): string {
  const rows = events.map((event) => [
    event.build ?? "",
    timestampText(event.at),
    event.event,
    event.rules === undefined ? "" : numberText(event.rules),
    changeText(event),
    printable(event.by ?? "unknown", 40),
    noteText(event),
  ]);
  return renderTable([["build", "when", "event", "rules", "change", "by", "note"], ...rows], {
    align: "lllrrll",
  }).join("\n");
}

function changeText({ change }: LogEvent): string {
  if (change === undefined) return "";
  const sign = change === 0 ? "±" : change < 0 ? "−" : "+";
  return `${sign}${numberText(Math.abs(change))}`;
}

function noteText({ event, of, guards = [], isComplete, what }: LogEvent): string {
  if (what !== undefined) return printable(what);
  if (isComplete === false) return "cannot be published again";
  if (of !== undefined)
    return `${event === "held" ? "at" : "to"} the build of ${timestampText(of)}`;
  return guards.length === 0 ? "" : someOf(guards);
}

interface Changes {
  /** The name of the list. */
  readonly name: string | undefined;
  /** What each stored build changed, newest first. */
  readonly changes: readonly { readonly text: string; readonly document: DatedChange }[];
}

async function changesOf(
  { name: file, path }: { readonly name: string; readonly path: string },
  rulesDir: string,
  host: Host,
): Promise<Changes> {
  const changes: { text: string; document: DatedChange }[] = [];
  let name: string | undefined;
  let newer: { at: string; state: KeptState } | undefined;
  for await (const { at, state } of keptStates(path, host)) {
    name ??= state.record?.header.name;
    if (newer !== undefined) {
      const change = await keptChange(state, newer.state, { name: file, rulesDir }, host);
      changes.push({
        text: changelogSection(newer.at, change, state.record?.header, newer.state.record?.header),
        document: { at: newer.at, ...changeJson(change) },
      });
    }
    newer = { at, state };
  }
  return { name, changes };
}
