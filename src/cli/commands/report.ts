import { encodeUtf8 } from "../../bytes/utf8.ts";
import { outputFailed } from "../../publish/output-failed.ts";
import { CompilerError, errorOf } from "../../diagnostics/diagnostic.ts";
import { printable } from "../../diagnostics/printable.ts";
import { ListRules } from "../../explain/list-rules.ts";
import { MappedNames } from "../../explain/plain-names.ts";
import { statsOf } from "../../explain/stats.ts";
import type { Host } from "../../host/host.ts";
import { writeWhole } from "../../host/write-whole.ts";
import { headerOf, keptBuilds, momentOf } from "../../record/kept-builds.ts";
import { largestParents } from "../../report/largest-parents.ts";
import { type ReportView, reportPage } from "../../report/report-page.ts";
import { searchIndex } from "../../report/search-index.ts";
import { type ListAnswer, answerLists } from "../answer-lists.ts";
import { type PublishedBuild, lastBuild, listNames } from "../../build/state/published-build.ts";
import type { Options } from "../flags/options.ts";
import { isFolderName } from "../../build/output-place.ts";
import { flagsOf } from "../flags/command-flags.ts";
import type { Command } from "./registry.ts";

const MOST_PARENTS = 20;

/** The last build of each list as one page that needs nothing else. */
export const reportCommand: Command = async (options, host, reporter) => {
  const [wanted, ...more] = options.args.operands;
  if (more.length > 0) throw new CompilerError([errorOf("unknown-flag", "report writes one file")]);
  const lists = await listNames(options, host);
  const isFolder = wanted !== undefined && isFolderName(wanted, host);
  if (lists.length > 1 && wanted !== undefined && !isFolder)
    throw new CompilerError([
      errorOf("several-lists", `A report file covers one list, but there are ${lists.length}`, {
        hint: "Name a folder (reports/), or select a list with --filter",
      }),
    ]);
  const answer = async (list: string): Promise<ListAnswer> => {
    const build = await lastBuild(list, options, host);
    const own = `${host.path.basename(build.path).replace(/\.txt$/, "")}.report.html`;
    const name = wanted === undefined || isFolder ? host.path.join(wanted ?? "", own) : wanted;
    await writeReport(name, build, options, host);
    reporter.info(`${reporter.style.good("written")} ${reporter.style.strong(printable(name))}`);
    return { text: () => "", documents: [{ file: name }] };
  };
  return await answerLists(lists, answer, { options, host, reporter });
};

async function writeReport(
  name: string,
  build: PublishedBuild,
  options: Options,
  host: Host,
): Promise<void> {
  const path = host.path.resolve(host.cwd, name);
  const page = encodeUtf8(reportPage(await viewOf(build, host)));
  try {
    await writeWhole(path, host, (file) => file.write(page));
    if (flagsOf("report", options.args).open) await host.openInBrowser?.(path);
  } catch (error) {
    throw outputFailed(`Cannot write or open ${printable(name)}`, error);
  }
}

async function viewOf({ path, list, record }: PublishedBuild, host: Host): Promise<ReportView> {
  const rules = await ListRules.of(record, new MappedNames(list, record));
  const index = searchIndex(list, record, rules);
  return {
    header: record.header,
    stats: statsOf(record),
    parents: largestParents(list, record, MOST_PARENTS),
    history: await historyOf(path, host),
    index,
    untried: rules.special().length - index.rules.length,
  };
}

async function historyOf(path: string, host: Host): Promise<ReportView["history"]> {
  const history: { at: string; rules: number; bytes: number }[] = [];
  for (const build of await keptBuilds(path, host)) {
    const header = await headerOf(build, host);
    if (header === undefined) continue;
    history.push({ at: momentOf(build.stamp), rules: header.rules, bytes: header.bytes });
  }
  return history;
}
