import {
  type BuildRecord,
  askedName,
  besideOthers,
  buildReport,
  fateLines,
  isFolderName,
  lastBuild,
  listFiles,
  listNames,
  livenessFinder,
  livenessText,
  openLastBuild,
  openRanks,
  openVerdicts,
  trafficLogs,
  trafficStats,
  unfinishedPublish,
} from "../library/programs.ts";
import { pathToFileURL } from "node:url";
import { Exit } from "../diagnostics/codes.ts";
import { CompilerError, errorOf } from "../diagnostics/render.ts";
import { countText, nearest, printable } from "../diagnostics/text.ts";
import type { FailedList, FatesOfList, PageOfList } from "../documents/documents.ts";
import type { LineOfFate } from "../documents/facts.ts";
import { sendToOutput, writeText } from "../host/files.ts";
import type { Host } from "../host/host.ts";
import { FATE_ENTRIES, type ListChange, isSameList as isSame } from "../index.ts";
import type { Command } from "./commands/registry.ts";
import { flagsOf } from "./flags/help.ts";
import type { Options } from "./flags/options.ts";
import { withList } from "./output/build-screen.ts";
import { type Reporter, columnsOf } from "./output/reporter.ts";
import { matrixCsv, matrixTable } from "./output/stats-text.ts";
import { fateTable, lineText, sendDocument, showText, sortedCounts } from "./output/table.ts";

/** What an option with an optional value has without one. */
const ALL = "*";

/** Shows the lines of the last build with the given fates. Without the name of a fate, it counts the lines per fate. */
export const answerFates: Command = async (options, host, reporter) => {
  const { fate, source: wanted } = flagsOf("stats", options.args);
  const names = fate.filter((name) => name !== ALL).map(fateOf);
  const lists = await listNames(options, host);
  const records: BuildRecord[] = [];
  for (const list of lists) {
    const { file, record } = await openLastBuild(list, options, host);
    await file.close();
    records.push(record);
  }
  checkSources(records, wanted);
  const documents: FatesOfList[] = [];
  for (const [index, record] of records.entries()) {
    const list = lists[index]!;
    if (lists.length > 1) reporter.info(printable(list));
    const sources = sourcesOf(record, wanted);
    if (names.length > 0)
      await listLines({ list, record }, { names, sources }, { options, host, reporter });
    else {
      const fates = sortedCounts(record, sources);
      documents.push({ list, fates });
      if (!options.json) await showText(fateTable(fates), host);
    }
  }
  if (options.json && names.length === 0) await sendDocument({ lists: documents }, host);
  return Exit.Done;
};

async function listLines(
  { list, record }: { list: string; record: BuildRecord },
  { names, sources }: { names: readonly string[]; sources: ReadonlySet<number> },
  { options, host, reporter }: { options: Options; host: Host; reporter: Reporter },
): Promise<void> {
  const counts = new Map<string, number>(names.map((name) => [name, 0]));
  const unseen: string[] = [];
  const aliveOf = names.includes("dead") ? await livenessFinder(options, host) : undefined;
  const textOf = (line: LineOfFate): string => {
    const { fate, text = "" } = line;
    const alive = fate === "dead" ? aliveOf?.(askedName(text)) : undefined;
    if (options.json) return JSON.stringify({ list, ...line, ...(alive && { alive }) });
    const shown = lineText(fromHere(line, host), reporter.dataStyle, columnsOf(host.stdout));
    return alive === undefined
      ? shown
      : `${shown}  ${reporter.dataStyle.faint(livenessText(alive))}`;
  };
  const { cacheDir } = options;
  for await (const lines of fateLines(record, { fates: names, sources }, cacheDir, host)) {
    for (const { fate } of lines) counts.set(fate, counts.get(fate)! + 1);
    if (lines[0]!.text === undefined) unseen.push(printable(fromHere(lines[0]!, host).file));
    await sendToOutput(lines.map((line) => `${textOf(line)}\n`).join(""), host);
  }
  for (const file of unseen) reporter.info(`${file} has changed since the build, or is not cached`);
  for (const [name, count] of counts)
    reporter.info(`${countText(count, "line")}: ${name}, ${FATE_ENTRIES.get(name)?.meaning}`);
}

/** Makes the path of a local file relative to the working directory. */
function fromHere(line: LineOfFate, { cwd, path }: Host): LineOfFate {
  return line.path === undefined ? line : { ...line, file: path.relative(cwd, line.path) };
}

function fateOf(wanted: string): string {
  if (FATE_ENTRIES.has(wanted)) return wanted;
  const meant = nearest(wanted, [...FATE_ENTRIES.keys()]);
  throw new CompilerError([
    errorOf("wrong-usage", `Unknown fate: ${printable(wanted, 40)}`, {
      hint:
        meant === undefined ? "rules-compiler stats --fate shows them" : `Did you mean "${meant}"?`,
    }),
  ]);
}

/** Indices of the sources with these names or URLs; all sources if none is given. */
function sourcesOf({ header }: BuildRecord, wanted: readonly string[]): Set<number> {
  const all = [...header.sources.entries()];
  const isMeant = (...texts: string[]): boolean =>
    texts.some((text) => wanted.some((name) => name.toLowerCase() === text.toLowerCase()));
  const found = all.filter(
    ([, { label, source }]) => wanted.length === 0 || isMeant(label, source),
  );
  return new Set(found.map(([index]) => index));
}

/** Reports a source name that does not exist in any list. */
function checkSources(records: readonly BuildRecord[], wanted: readonly string[]): void {
  const unknown = wanted.find((name) => records.every((one) => sourcesOf(one, [name]).size === 0));
  if (unknown === undefined) return;
  const labels = records.flatMap(({ header }) => header.sources.map(({ label }) => label));
  const meant = nearest(unknown, labels);
  throw new CompilerError([
    errorOf("wrong-usage", `No source matches -s ${printable(unknown, 60)}`, {
      hint:
        meant === undefined
          ? "rules-compiler stats shows the names of the sources"
          : `Did you mean "${printable(meant, 60)}"?`,
    }),
  ]);
}

/** Shows the lists of the configuration beside each other. */
export const answerMatrix: Command = async (options, host, reporter) => {
  const { matrix } = flagsOf("stats", options.args);
  if (matrix !== ALL && matrix !== "csv")
    throw new CompilerError([
      errorOf("wrong-usage", `--matrix has no form ${printable(matrix!, 40)}`, {
        hint: "Write --matrix, --matrix csv or --matrix --json",
      }),
    ]);
  const lists = await listNames(options, host);
  if (lists.length < 2)
    throw new CompilerError([
      errorOf("several-lists", "--matrix compares lists, and the configuration has one", {
        hint: "rules-compiler stats shows what the sources of a list share, and stats --json all of it",
      }),
    ]);
  const all = await besideOthers(lists, options, host);
  if (options.json) await sendDocument({ lists: all }, host);
  else if (matrix === "csv") await sendToOutput(matrixCsv(all), host);
  else await showText(matrixTable(all, reporter.dataStyle, columnsOf(host.stdout)), host);
  return Exit.Done;
};

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
        "wrong-usage",
        `--html writes a page, and ${printable(wanted)} does not end in .html`,
        {
          hint: "Name a file that ends in .html, or a folder (reports/). The configuration is named with -c",
        },
      ),
    ]);
  const logs = trafficLogs(files, host);
  const beside = lists.length > 1 ? await besideOthers(lists, options, host) : undefined;
  const answer = async (list: string): Promise<ListAnswer<Omit<PageOfList, "list">>> => {
    const build = await lastBuild(list, options, host);
    const own = `${host.path.basename(build.path).replace(/\.txt$/, "")}.report.html`;
    const name = wanted === undefined || isFolder ? host.path.join(wanted ?? "", own) : wanted;
    const traffic = logs && (await trafficStats(build, logs, options.cacheDir, host));
    const verdicts = await openVerdicts(options, host);
    const { cacheDir } = options;
    const more = { traffic, beside, ranks: await openRanks(options, host), verdicts, cacheDir };
    const path = host.path.resolve(host.cwd, name);
    await writeText(path, await buildReport(build, host, more), host);
    const { style } = reporter;
    const shown = style.link(style.strong(printable(name)), pathToFileURL(path).href);
    reporter.info(`${style.good("written")} ${shown}`);
    return { text: () => "", document: { file: name } };
  };
  return await answerLists(lists, answer, { options, host, reporter });
};

/** The answer of a command about one list. */
export interface ListAnswer<Part extends object> {
  /** Human-readable output. */
  readonly text: () => string;
  /** The same for programs, without the name of the list. */
  readonly document: Part;
  readonly exit?: Exit;
}

/** Answers for each selected list: in sequence as text, or as one JSON document. A list that fails does not block the others. */
export async function answerLists<Part extends object>(
  lists: readonly string[],
  answer: (list: string) => Promise<ListAnswer<Part>>,
  { options, host, reporter }: { options: Options; host: Host; reporter: Reporter },
): Promise<Exit> {
  const isOne = lists.length === 1;
  const exits: Exit[] = [];
  const documents: ((Part & { readonly list: string }) | FailedList)[] = [];
  for (const list of lists) {
    try {
      for (const file of listFiles(list, options, host).slice(0, 1))
        for (const warning of await unfinishedPublish(file, host)) reporter.diagnostic(warning);
      const { text, document, exit = Exit.Done } = await answer(list);
      exits.push(exit);
      documents.push({ list, ...document });
      if (!options.json)
        await (options.args.switches.has("markdown") ? sendToOutput : showText)(text(), host);
    } catch (error) {
      if (!(error instanceof CompilerError)) throw error;
      const { exit, diagnostics } = error;
      exits.push(exit);
      for (const one of diagnostics) reporter.diagnostic(isOne ? one : withList(one, list));
      documents.push({ list, exit, diagnostics });
    }
  }
  if (options.json) await sendToOutput(`${JSON.stringify({ lists: documents })}\n`, host);
  const errors = exits.filter((exit) => exit !== Exit.Changes);
  const worst = Math.max(Exit.Done, ...errors) as Exit;
  return worst === Exit.Done && exits.includes(Exit.Changes) ? Exit.Changes : worst;
}

/** The exit code of a command that shows a change. Only `--exit-code` makes it depend on the change. */
export function changeExit(change: ListChange, { args }: Options): Exit {
  return args.switches.has("exit-code") && !isSame(change) ? Exit.Changes : Exit.Done;
}
