import { type BuildRecord, COUNTS, byRank, fateCounts } from "../../library/programs.ts";
import { pathToFileURL } from "node:url";
import type { Style } from "../../diagnostics/render.ts";
import { numberText, printable } from "../../diagnostics/text.ts";
import type { Documents } from "../../documents/documents.ts";
import type { LineLocation, LineOfFate, NameRank, Proof } from "../../documents/facts.ts";
import { sendToOutput } from "../../host/files.ts";
import type { Host } from "../../host/host.ts";
import { FATE_ENTRIES } from "../../index.ts";
import { columnsOf, fitParts, fitText, textWidth, wrapParts, wrapScreen } from "./reporter.ts";

interface TableLayout {
  /** One letter per column: `l` for text, `r` for numbers. */
  readonly align: string;
  readonly indent?: number;
  /** Width of the screen. The first column is truncated to leave room for the others. */
  readonly columns?: number;
  readonly longestName?: number;
  /** Whether parts in the last column that do not fit are counted instead of wrapped. */
  readonly isCut?: boolean;
}

/** A text, or, in the last column, parts that wrap onto further lines or are cut. */
type Cell = string | readonly string[];

const GAP = 2;
const SHORTEST_NAME = 8;
/** Minimum width of a text in the last column. */
const TEXT_ROOM = 24;
/** The same for parts that are cut instead of wrapped. */
const CUT_ROOM = 32;

/** Returns one text per row. If a row has fewer cells than the others, its last cell may have any width. */
export function renderTable(rows: readonly (readonly Cell[])[], layout: TableLayout): string[] {
  const { align, indent = 2, columns = Infinity, longestName = Infinity, isCut = false } = layout;
  const hasText = align.endsWith("l");
  const middle = [...align].flatMap((_, at) =>
    at === 0 || (hasText && at === align.length - 1) ? [] : [at],
  );
  const widths = middle.map((at) => widest(rows, at));
  const taken = widths.reduce((sum, width) => sum + GAP + width, indent);
  const texts = rows.map((row) => fitParts([row[align.length - 1] ?? ""].flat(), Infinity));
  const leastText = isCut ? Math.min(CUT_ROOM, Math.max(...texts.map(textWidth))) : TEXT_ROOM;
  const room = columns - taken - (hasText ? GAP + leastText : 0);
  const longest = Math.min(longestName, Math.max(SHORTEST_NAME, room));
  const names = rows.map(([name]) =>
    fitText(String(name), columns === Infinity ? Infinity : longest),
  );
  const nameWidth = Math.max(0, ...names.map(textWidth));
  const textStart = taken + nameWidth + GAP;
  return rows.map((row, index) => {
    const cells = middle
      .filter((at) => at < row.length)
      .map((at, column) => padded(String(row[at]), widths[column]!, align[at] === "r"));
    const last = hasText ? (row[align.length - 1] ?? "") : "";
    const textRoom = Math.max(20, columns - textStart);
    const text =
      typeof last === "string"
        ? last
        : isCut
          ? fitParts(last, textRoom)
          : wrapParts(last, textRoom).join(`\n${" ".repeat(textStart)}`);
    const all = [padded(names[index]!, nameWidth, false), ...cells, text];
    return `${" ".repeat(indent)}${all.join(" ".repeat(GAP))}`.trimEnd();
  });
}

function widest(rows: readonly (readonly Cell[])[], at: number): number {
  const longest = Math.max(0, ...rows.map((row) => row.length));
  const isFree = (row: readonly Cell[]): boolean => row.length < longest && at === row.length - 1;
  return Math.max(0, ...rows.map((row) => (isFree(row) ? 0 : textWidth(String(row[at] ?? "")))));
}

function padded(text: string, width: number, isRight: boolean): string {
  const blanks = " ".repeat(Math.max(0, width - textWidth(text)));
  return isRight ? blanks + text : text + blanks;
}

/** The number of dropped lines of the given sources per fate, the most important first. */
export function sortedCounts(
  record: BuildRecord,
  sources: ReadonlySet<number>,
): Record<string, number> {
  const counts = fateCounts(record, sources);
  return Object.fromEntries(byRank(Object.fromEntries(counts)));
}

/** The counts, with the meanings of the fates. */
export function fateTable(counts: Readonly<Record<string, number>>): string {
  const rows = Object.entries(counts).map(([fate, count]) => [
    fate,
    numberText(count),
    FATE_ENTRIES.get(fate)?.meaning ?? "",
  ]);
  return renderTable(rows, { align: "lrl" })
    .map((text) => `${text}\n`)
    .join("");
}

/** `file:line  text  dropped: fate` in one row. */
export function droppedText(
  { file, line, text, fate }: Pick<LineOfFate, "file" | "line" | "text" | "fate">,
  style: Style,
  columns: number,
): string {
  const end = `${COUNTS.dropped[0]}: ${fate}`;
  const rest = columns - textWidth(end) - 6;
  const whole = `${printable(file)}:${line}`;
  const escaped = printable(text ?? "", 120);
  // A short text leaves its room to the end of a long URL.
  const placeRoom = Math.max(Math.floor(rest / 2), rest - textWidth(escaped));
  const place = textWidth(whole) > placeRoom ? `…${whole.slice(1 - placeRoom)}` : whole;
  const shown = fitText(escaped, rest - textWidth(place));
  return `  ${style.strong(place)}  ${shown}  ${style.warning(end)}`;
}

/** `file:line: text`, which editors and other programs parse. A terminal shows one row, with the source's name for a long URL. */
export function lineText(line: LineOfFate, style: Style, columns: number): string {
  const whole = `${printable(line.file)}:${line.line}`;
  const place =
    textWidth(whole) > columns / 2 ? locationText(line, Math.floor(columns / 3)) : whole;
  const shown = columns === Infinity ? whole : place;
  const text = line.text === undefined ? "" : `: ${printable(line.text, 4096)}`;
  return `${style.strong(locationLink(shown, line, style))}${fitText(text, columns - textWidth(shown))}`;
}

/** The text as a link to the file or URL, if the terminal supports links. */
export function locationLink(
  text: string,
  { path, file, line }: LineLocation,
  style: Style,
): string {
  const address = path === undefined ? file : `${pathToFileURL(path).href}#L${line}`;
  return style.link(text, URL.canParse(address) ? address : undefined);
}

/** `source:line`; rules that the allowlist added have no line. */
export function locationText({ source, line }: LineLocation, most = 60): string {
  const shown = printable(source, most);
  return line === 0 ? shown : `${shown}:${line}`;
}

/** Prints a text on standard output. On a terminal, lines break only between words. */
export async function showText(text: string, host: Host): Promise<void> {
  await sendToOutput(wrapScreen(text, columnsOf(host.stdout)), host);
}

/** Prints a document as one line of JSON. */
export async function sendDocument(
  document: Documents[keyof Documents],
  host: Host,
): Promise<void> {
  await sendToOutput(`${JSON.stringify(document)}\n`, host);
}

/** Escapes untrusted text for Markdown. */
export function markdownText(text: string): string {
  return printable(text).replace(/[|<>&[\]*_`\\]/g, (one) => `\\${one}`);
}

/** `rank 1,234`, or `example.org has rank 1,234`. */
export function rankText({ rank, of }: NameRank): string {
  const text = `rank ${numberText(rank)}`;
  return of === undefined ? text : `${printable(of)} has ${text}`;
}

/** A shorter time may be that of a datagram that was lost. */
const SHOWN_MS = 1000;

/** What a proof found, for a person. */
export function proofText({ detail, unansweredMs }: Proof): string {
  if (unansweredMs === null || unansweredMs < SHOWN_MS) return detail;
  return `${detail}; ${(unansweredMs / 1000).toFixed(1)} s without an answer`;
}
