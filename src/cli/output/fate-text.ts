import { numberText } from "../../diagnostics/number-text.ts";
import { printable } from "../../diagnostics/printable.ts";
import type { Style } from "../../diagnostics/render.ts";
import { type LineOfFate, fateCounts } from "../../explain/fate-lines.ts";
import { COUNTS, FATE_ENTRIES, byRank } from "../../explain/glossary.ts";
import type { BuildRecord } from "../../build/state/published-build.ts";
import { locationLink, locationText } from "./location-text.ts";
import { renderTable } from "./table.ts";
import { fitText, textWidth } from "./text-width.ts";

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
