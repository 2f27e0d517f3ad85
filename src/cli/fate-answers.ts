import { CompilerError, errorOf } from "../diagnostics/diagnostic.ts";
import { Exit } from "../diagnostics/exit.ts";
import { countText } from "../diagnostics/number-text.ts";
import { printable } from "../diagnostics/printable.ts";
import { nearest } from "../diagnostics/suggest.ts";
import { type LineOfFate, fateLines } from "../explain/fate-lines.ts";
import { FATE_ENTRIES } from "../explain/glossary.ts";
import type { Host } from "../host/host.ts";
import type { BuildRecord } from "../build/state/published-build.ts";
import { fateTable, lineText, sortedCounts } from "./output/fate-text.ts";
import { listNames, openLastBuild } from "../build/state/published-build.ts";
import type { Options } from "./flags/options.ts";
import { sendToOutput } from "../host/send-to-output.ts";
import { showText } from "./output/show-text.ts";
import type { Reporter } from "./output/reporter.ts";
import { columnsOf } from "./output/text-width.ts";
import { flagsOf } from "./flags/command-flags.ts";
import type { Command } from "./commands/registry.ts";

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
  for (const [index, record] of records.entries()) {
    if (lists.length > 1) reporter.info(printable(lists[index]!));
    const sources = sourcesOf(record, wanted);
    if (names.length > 0) await listLines(record, { names, sources }, { options, host, reporter });
    else {
      const counts = sortedCounts(record, sources);
      if (options.json) await sendToOutput(`${JSON.stringify(counts)}\n`, host);
      else await showText(fateTable(counts), host);
    }
  }
  return Exit.Done;
};

async function listLines(
  record: BuildRecord,
  { names, sources }: { names: readonly string[]; sources: ReadonlySet<number> },
  { options, host, reporter }: { options: Options; host: Host; reporter: Reporter },
): Promise<void> {
  const counts = new Map<string, number>(names.map((name) => [name, 0]));
  const unseen: string[] = [];
  const textOf = (line: LineOfFate): string =>
    options.json
      ? JSON.stringify(line)
      : lineText(fromHere(line, host), reporter.dataStyle, columnsOf(host.stdout));
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
    errorOf("unknown-flag", `Unknown fate: ${printable(wanted, 40)}`, {
      hint:
        meant === undefined ? "rules-compiler stats --fate shows them" : `Did you mean "${meant}"?`,
    }),
  ]);
}

/** Indices of the sources with these names or addresses; all sources if none is given. */
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
    errorOf("unknown-flag", `No source matches -s ${printable(unknown, 60)}`, {
      hint:
        meant === undefined
          ? "rules-compiler stats shows the names of the sources"
          : `Did you mean "${printable(meant, 60)}"?`,
    }),
  ]);
}
