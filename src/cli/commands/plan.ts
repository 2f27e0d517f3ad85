import {
  BuildSession,
  type DryRun,
  combinedChanges,
  digestsBefore,
  holdFacts,
  openProject,
  planChanges,
  planLists,
  savePlan,
  trafficChange,
  trafficLogs,
  unfinishedPublish,
} from "../../library/programs.ts";
import { Exit } from "../../diagnostics/codes.ts";
import type { Style } from "../../diagnostics/render.ts";
import { countText, printable } from "../../diagnostics/text.ts";
import type { PlannedDocument } from "../../documents/documents.ts";
import type { FileChange } from "../../documents/facts.ts";
import { sendToOutput } from "../../host/files.ts";
import { shadowHost } from "../../host/memory-files.ts";
import type { ListChange } from "../../index.ts";
import { changeExit } from "../answers.ts";
import { flagsOf, shellWord } from "../flags/help.ts";
import { BuildScreen } from "../output/build-screen.ts";
import { changeJson, fileText, planMarkdown, planText } from "../output/change-text.ts";
import { trafficChangeJson } from "../output/stats-text.ts";
import { sendDocument, showText } from "../output/table.ts";
import type { Command } from "./registry.ts";

/** Shows what the next publish would change, and whether a guard would refuse it. Publishes nothing. */
export const planCommand: Command = async (options, host, reporter, signal) => {
  const { save: savePath, traffic: files } = flagsOf("plan", options.args);
  const logs = trafficLogs(files, host, options.args.switches.has("verbose"));
  const { lists } = await openProject(options, host);
  for (const warning of lists[0]?.project.warnings ?? [])
    if (warning.severity !== "note") reporter.diagnostic(warning);
  const { show } = new BuildScreen(options, host, reporter);
  const context = { options, host, signal, emit: show };
  const session = new BuildSession(await planLists(lists, options, host), context);
  const isMarkdown = options.args.switches.has("markdown");
  const documents: PlannedDocument[] = [];
  const exits: Exit[] = [];
  const runs: DryRun[] = [];
  const combined: FileChange[] = [];
  try {
    for (const { files: own } of session.plans)
      for (const one of own.slice(0, 1))
        for (const warning of await unfinishedPublish(one, host)) reporter.diagnostic(warning);
    const before = await digestsBefore(session);
    const shadow = shadowHost(host);
    for await (const { file, old, run, change, hold } of planChanges(session, shadow)) {
      for (const warning of run.coverWarnings) reporter.diagnostic(warning);
      if (hold === undefined)
        exits.push(run.violations.length > 0 ? Exit.Guard : changeExit(change, options));
      const traffic = logs && (await trafficChange(old, run.state, logs));
      const isVerbose = reporter.shows("debug");
      const shown = { ...screenOf(file, run, change), isVerbose, traffic, hold };
      if (options.json) {
        const { report, violations } = shown;
        documents.push({
          list: report.name,
          file,
          report,
          violations,
          ...(hold && { held: holdFacts(hold) }),
          ...changeJson(change, run.compiled.ranks),
          ...(traffic && { traffic: trafficChangeJson(traffic, isVerbose) }),
          ...(isMarkdown && { markdown: planMarkdown(shown) }),
        });
      } else if (isMarkdown) await sendToOutput(planMarkdown(shown), host);
      else await showText(planText(shown, reporter.dataStyle), host);
      if (savePath !== undefined && (hold === undefined || lists.length === 1)) runs.push(run);
    }
    if (savePath !== undefined) {
      await savePlan(savePath, runs, before, session);
      reporter.info(savedText(savePath, runs, reporter.style));
    }
    const [first] = lists;
    if (first !== undefined)
      combined.push(...(await combinedChanges(first.project, context, shadow)));
  } finally {
    session.close();
  }
  if (combined.length > 0) {
    if (options.args.switches.has("exit-code")) exits.push(Exit.Changes);
    const text = combined.map((one) => `${fileText(one)}\n`).join("");
    if (!options.json) await showText(text, host);
  }
  if (options.json)
    await sendDocument({ lists: documents, ...(combined.length > 0 && { combined }) }, host);
  return [Exit.Guard, Exit.Changes].find((exit) => exits.includes(exit)) ?? Exit.Done;
};

/** What was saved, and what comes next. */
function savedText(path: string, runs: readonly DryRun[], style: Style): string {
  const codes = new Set(runs.flatMap(({ violations }) => violations.map(({ code }) => code)));
  const accepted = [...codes].map((code) => ` --accept ${code}`).join("");
  const next = `rules-compiler apply ${shellWord(path)}${accepted}`;
  const lists = runs.length === 1 ? "" : `${countText(runs.length, "list")}; `;
  return `${style.good("saved")} ${style.strong(printable(path))}: ${lists}to publish it: ${next}`;
}

function screenOf(
  file: string,
  { compiled, violations, warnings }: DryRun,
  change: ListChange,
): Omit<Parameters<typeof planText>[0], "isVerbose" | "traffic" | "hold"> {
  const all = [...compiled.diagnostics, ...warnings];
  const { report, ranks } = compiled;
  return { file, report, change, violations, warnings: all, ranks };
}
