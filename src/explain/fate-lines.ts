import type { Buffer } from "node:buffer";
import { LF } from "../bytes/ascii.ts";
import { bufferOf } from "../bytes/search.ts";
import { feedFormats } from "../feeds/registry.ts";
import type { Host } from "../host/host.ts";
import { readFully } from "../host/read-fully.ts";
import type { BuildRecord } from "../record/build-record.ts";
import { FATES, fateName } from "../rules/fate.ts";
import { readRecorded } from "./read-recorded.ts";
import { RecordedRows } from "./recorded-rows.ts";
import { recordedText } from "./recorded-text.ts";
import type { LineLocation } from "./why.ts";

/** A line of a source with one of the requested fates. */
export interface LineOfFate extends LineLocation {
  readonly fate: string;
  /** Undefined if the file has changed, or no copy of it is cached. */
  readonly text?: string;
}

export interface FateFilter {
  /** Names of fates. */
  readonly fates: readonly string[];
  /** Indices of sources. */
  readonly sources: ReadonlySet<number>;
}

/** The lines of a build with certain fates, file by file in the order of the sources. */
export async function* fateLines(
  record: BuildRecord,
  { fates, sources }: FateFilter,
  cacheDir: string | undefined,
  host: Host,
): AsyncGenerator<LineOfFate[]> {
  const numbers = new Set(FATES.flatMap(([name], fate) => (fates.includes(name) ? [fate] : [])));
  for (const [index, file] of record.header.files.entries()) {
    if (file.isOwn === true || !sources.has(file.source)) continue;
    const frames = record.frames.filter((frame) => frame.file === index);
    const lines = linesIn(new RecordedRows(record, frames), numbers);
    if (lines.length === 0) continue;
    const texts = await readRecorded(file, cacheDir, host, async (opened) => {
      const bytes = await readFully(opened, new Uint8Array(opened.size), 0);
      // Numbers of rows in JSON are not lines of the file.
      const { feed, ...asWritten } = file;
      const isJson = feed && feedFormats.get(feed.type)?.isJson === true;
      const shown = isJson === true ? file : asWritten;
      const text = await recordedText(shown, bytes, record.header.builtAt, host);
      return (
        text &&
        textsIn(
          bufferOf(text),
          lines.map(({ line }) => line),
        )
      );
    });
    const { label } = record.header.sources[file.source]!;
    const { path } = file;
    const location = { source: label, file: file.file, ...(path && { path }) };
    yield lines.map(({ line, fate }, at) => {
      const text = texts?.[at];
      return { ...location, line, fate: fateName(fate), ...(text !== undefined && { text }) };
    });
  }
}

/** How many lines of some sources were dropped, by fate: the figures of the report. */
export function fateCounts(
  { header }: BuildRecord,
  sources: ReadonlySet<number>,
): Map<string, number> {
  const some = header.sources.filter((_, index) => sources.has(index));
  const counts = FATES.map(
    ([fate]) => [fate, some.reduce((sum, { dropped }) => sum + (dropped[fate] ?? 0), 0)] as const,
  );
  return new Map(counts.filter(([, lines]) => lines > 0));
}

/** A line has one fate, however many names it has. */
function linesIn(
  rows: RecordedRows,
  wanted: ReadonlySet<number>,
): { readonly line: number; readonly fate: number }[] {
  const found: { line: number; fate: number }[] = [];
  for (; !rows.isOver; rows.next())
    if (rows.isCounted && wanted.has(rows.fate)) found.push({ line: rows.line, fate: rows.fate });
  return found;
}

/** The texts of lines; their numbers must be in ascending order. */
function textsIn(bytes: Buffer, lines: readonly number[]): string[] {
  let at = 1;
  let start = 0;
  return lines.map((line) => {
    for (; at < line; at++) {
      const end = bytes.indexOf(LF, start);
      start = end === -1 ? bytes.length : end + 1;
    }
    const end = bytes.indexOf(LF, start);
    return bytes.toString("utf8", start, end === -1 ? bytes.length : end).replace(/\r$/, "");
  });
}
