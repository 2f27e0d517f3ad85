import { printable } from "../../diagnostics/printable.ts";
import type { Style } from "../../diagnostics/render.ts";
import type { Since } from "../../explain/since.ts";
import type { Explanation, LineFate } from "../../explain/why.ts";
import { momentText } from "../../diagnostics/moment-text.ts";
import { countText } from "../../diagnostics/number-text.ts";
import { locationLink, locationText } from "./location-text.ts";
import { renderTable } from "./table.ts";
import { fitText, textWidth } from "./text-width.ts";

/** Maximum number of lines shown; the rest are counted. */
const MOST_LINES = 12;

const WORDS = {
  blocked: "BLOCKED",
  allowed: "ALLOWED",
  rewritten: "REWRITTEN",
  neither: "neither blocked nor allowed",
} as const;
const TONES = {
  blocked: "error",
  allowed: "good",
  rewritten: "warning",
  neither: "strong",
} as const;

/** An explanation as text: the verdict, the rule, every source line of it, and what to do. */
export function explanationText(
  explanation: Explanation,
  list: string,
  style: Style,
  columns: number,
): string {
  const { name, verdict, rule, since, partial, lines, unseen, unblock } = explanation;
  const out = [
    `${style.strong(printable(name))}  ${style[TONES[verdict]](WORDS[verdict])} in ${printable(list)}`,
  ];
  if (rule !== undefined)
    out.push(
      `  by  ${style.strong(printable(rule.text))}  ${style.faint(locationLink(locationText(rule), rule, style))}`,
    );
  if (explanation.isNewlyBlocked === true)
    out.push(
      "  a popular name that the list would newly block; guards.newly_blocks keeps it reachable",
    );
  if (since !== undefined) out.push(`  ${style.faint(sinceText(since))}`);
  for (const one of partial)
    out.push(
      `  for some clients or query types: ${printable(one.text)}  ${style.faint(locationText(one))}`,
    );
  out.push(...lineTable(lines, style, columns));
  if (lines.length === 0 && unseen.length === 0)
    out.push("  no line of any source names it or a parent domain");
  if (unseen.length > 0) {
    const files = unseen
      .slice(0, 3)
      .map((file) => printable(file))
      .join(", ");
    const more = unseen.length > 3 ? ` and ${unseen.length - 3} more` : "";
    out.push(`  ${style.warning("not checked")}, changed since or not cached: ${files}${more}`);
  }
  if (unblock !== undefined)
    out.push(
      `  to unblock: ${style.note(`allow: ["${printable(unblock.allow)}"]`)}, which ${printable(unblock.effect)}`,
    );
  return `${out.join("\n")}\n`;
}

function sinceText({ at, isOldest }: Since): string {
  const moment = momentText(at);
  return isOldest ? `since ${moment} or earlier: no older build is stored` : `since ${moment}`;
}

const INDENT = 6;

function lineTable(lines: readonly LineFate[], style: Style, columns: number): string[] {
  const shown = lines.slice(0, MOST_LINES);
  const room = columns - INDENT - 2;
  const locationRoom = Math.min(40, Math.floor(room / 2));
  const places = shown.map((line) => shortLocation(line, locationRoom));
  const placeWidth = Math.max(0, ...places.map(textWidth));
  const texts = shown.map(({ text }) =>
    fitText(printable(text.trim(), 80), Math.min(48, room - placeWidth)),
  );
  const textRoom = Math.max(0, ...texts.map(textWidth));
  const reasons = shown.map((line) =>
    line.by === undefined ? meaningText(line) : `${meaningText(line)}: ${locationText(line.by)}`,
  );
  const painted = reasons.map((why, index) =>
    style[shown[index]!.fate === "kept" ? "good" : "faint"](why),
  );
  // Reasons are beside their lines if all of them fit, else below.
  const isBeside = placeWidth + textRoom + 2 + Math.max(0, ...reasons.map(textWidth)) <= room;
  const rows = shown.map((line, index) => [
    locationLink(places[index]!, line, style),
    texts[index]!,
    ...(isBeside ? [painted[index]!] : []),
  ]);
  const table = renderTable(rows, { align: isBeside ? "lll" : "ll", indent: INDENT }).flatMap(
    (text, index) => (isBeside ? [text] : [text, `${" ".repeat(INDENT + 4)}${painted[index]}`]),
  );
  const more = lines.length - shown.length;
  return more > 0
    ? [...table, `${" ".repeat(INDENT)}… and ${countText(more, "line")} more (use --json for all)`]
    : table;
}

/** Truncates the name of a source, but never the line number. */
function shortLocation(line: LineFate, room: number): string {
  const place = locationText(line);
  const digits = String(line.line).length + 2;
  return textWidth(place) > room ? fitText(locationText(line, room - digits), room) : place;
}

function meaningText({ fate, meaning, firstSeen }: LineFate): string {
  const why = fate === "kept" ? "kept" : `${fate}, ${meaning}`;
  return firstSeen === undefined ? why : `${why}, first seen ${momentText(firstSeen)}`;
}
