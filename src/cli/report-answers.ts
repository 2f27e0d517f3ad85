import { pathToFileURL } from "node:url";
import { CompilerError, errorOf } from "../diagnostics/diagnostic.ts";
import { printable } from "../diagnostics/printable.ts";
import { trafficLogs } from "../explain/traffic-logs.ts";
import { trafficStats } from "../explain/traffic-stats.ts";
import { type ListAnswer, answerLists } from "./answer-lists.ts";
import { openRanks } from "../build/name-ranks.ts";
import { lastBuild, listNames } from "../build/state/published-build.ts";
import { isFolderName } from "../build/with-output-target.ts";
import { flagsOf } from "./flags/command-flags.ts";
import { buildReport } from "../report/build-report.ts";
import { writeText } from "../build/write-text.ts";
import type { Command } from "./commands/registry.ts";

/** Writes the last build of each list as a self-contained page. */
export const answerWithPage: Command = async (options, host, reporter) => {
  const { html, traffic: files } = flagsOf("stats", options.args);
  const wanted = html === "*" ? undefined : html;
  const lists = await listNames(options, host);
  const isFolder = wanted !== undefined && isFolderName(wanted, host);
  if (lists.length > 1 && wanted !== undefined && !isFolder)
    throw new CompilerError([
      errorOf("several-lists", `A report file covers one list, but there are ${lists.length}`, {
        hint: "Name a folder (reports/), or select a list with --filter",
      }),
    ]);
  if (wanted !== undefined && !isFolder && !/\.html?$/i.test(wanted))
    throw new CompilerError([
      errorOf(
        "unknown-flag",
        `--html writes a page, and ${printable(wanted)} does not end in .html`,
        {
          hint: "Name a file that ends in .html, or a folder (reports/). The configuration is named with -c",
        },
      ),
    ]);
  const logs = trafficLogs(files, host);
  const answer = async (list: string): Promise<ListAnswer> => {
    const build = await lastBuild(list, options, host);
    const own = `${host.path.basename(build.path).replace(/\.txt$/, "")}.report.html`;
    const name = wanted === undefined || isFolder ? host.path.join(wanted ?? "", own) : wanted;
    const traffic = logs && (await trafficStats(build, logs, options.cacheDir, host));
    const more = { traffic, ranks: await openRanks(options, host) };
    const path = host.path.resolve(host.cwd, name);
    await writeText(path, await buildReport(build, host, more), host);
    const { style } = reporter;
    const shown = style.link(style.strong(printable(name)), pathToFileURL(path).href);
    reporter.info(`${style.good("written")} ${shown}`);
    return { text: () => "", documents: [{ file: name }] };
  };
  return await answerLists(lists, answer, { options, host, reporter });
};
