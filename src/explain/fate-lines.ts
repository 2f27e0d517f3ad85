import type { Buffer } from "node:buffer";
import { LF } from "../bytes/ascii.ts";
import { bufferOf } from "../bytes/search.ts";
import { type Host, HostError } from "../host/host.ts";
import { readFully } from "../host/read-fully.ts";
import { Other } from "../kernel/kernel-layout.ts";
import type { BuildRecord, Frame } from "../record/build-record.ts";
import type { RecordedFile } from "../record/record-format.ts";
import { FATES, fateName } from "../rules/fate.ts";
import { openRecorded } from "./open-recorded.ts";
import type { LinePlace } from "./why.ts";

/** What lines can become, by name, and what that means. A spare row has no line. */
export const FATE_MEANINGS: ReadonlyMap<string, string> = new Map(
  FATES.filter(([name]) => name !== "spare"),
);

/** A line of a source that had one of the fates that were asked for. */
export interface LineOfFate extends LinePlace {
  readonly fate: string;
  /** Undefined when its file has changed since, or no copy of it is kept. */
  readonly text?: string;
}

export interface FateQuestion {
  /** Names of fates. */
  readonly fates: readonly string[];
  /** Indices of sources. */
  readonly sources: ReadonlySet<number>;
}

/** The lines of a build that had certain fates, in the order of the sources, a file at a time. */
export async function* fateLines(
  record: BuildRecord,
  { fates, sources }: FateQuestion,
  cacheDir: string | undefined,
  host: Host,
): AsyncGenerator<LineOfFate[]> {
  const numbers = new Set(FATES.flatMap(([name], fate) => (fates.includes(name) ? [fate] : [])));
  for (const [index, file] of record.header.files.entries()) {
    if (file.isOwn === true || !sources.has(file.source)) continue;
    const frames = record.frames.filter((frame) => frame.file === index && frame.firstLine > 0);
    const found = frames.flatMap((frame) => linesIn(frame, numbers));
    if (found.length === 0) continue;
    const lines = found.toSorted((a, b) => a.line - b.line);
    const texts = await textsOf(
      file,
      lines.map(({ line }) => line),
      cacheDir,
      host,
    );
    const { label } = record.header.sources[file.source]!;
    const { path } = file;
    const place = { source: label, file: file.file, ...(path && { path }) };
    yield lines.map(({ line, fate }, at) => {
      const text = texts?.[at];
      return { ...place, line, fate: fateName(fate), ...(text !== undefined && { text }) };
    });
  }
}

/** A line once for each fate that one of its names had. */
function linesIn(
  { fates, lines, firstLine, others, length }: Frame,
  wanted: ReadonlySet<number>,
): { line: number; fate: number }[] {
  const found: { line: number; fate: number }[] = [];
  let [lastLine, known] = [0, new Set<number>()];
  for (let row = 0; row < length; row++) {
    const fate = fates[row]!;
    const line = lines === undefined ? firstLine + row : lines[row]!;
    if (line !== lastLine) [lastLine, known] = [line, new Set()];
    const isOurs = others !== undefined && (others[row]! & Other.Generated) !== 0;
    if (!wanted.has(fate) || isOurs || line === 0 || known.has(fate)) continue;
    known.add(fate);
    found.push({ line, fate });
  }
  return found;
}

/** Texts of lines, whose numbers rise. */
async function textsOf(
  recorded: RecordedFile,
  lines: readonly number[],
  cacheDir: string | undefined,
  host: Host,
): Promise<string[] | undefined> {
  try {
    const file = await openRecorded(recorded, cacheDir, host);
    if (file === undefined) return undefined;
    try {
      const bytes = bufferOf(await readFully(file, new Uint8Array(file.size), 0));
      return textsIn(bytes, lines);
    } finally {
      await file.close();
    }
  } catch (error) {
    if (error instanceof HostError) return undefined;
    throw error;
  }
}

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
