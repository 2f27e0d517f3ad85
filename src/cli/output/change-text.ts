import type { RankedNames } from "../../build/name-ranks.ts";
import { printable } from "../../diagnostics/printable.ts";
import type { Style } from "../../diagnostics/render.ts";
import { changedText } from "../../explain/effective-diff.ts";
import { type FileChange, type ListChange, isSame } from "../../explain/list-change.ts";
import { namesWith, rankOfChange } from "../../explain/popular-changes.ts";
import { countText, numberText } from "../../diagnostics/number-text.ts";
import { locationLink, locationText } from "./location-text.ts";
import { renderTable } from "./table.ts";

/** Maximum number of names and sources shown; the rest are counted. */
const MOST = 10;

/** A change as text: the number of rules, their sources, and the effect on names. */
export function changeLines(change: ListChange, style: Style, ranks?: RankedNames): string[] {
  const { added, removed, rulesBefore, rulesNow, patterns } = change;
  if (isSame(change)) return [`  no change: ${countText(rulesNow, "rule")}`];
  const part = rulesBefore === 0 ? "" : `, ${percentText(rulesNow / rulesBefore - 1)}`;
  return [
    `  ${style.good(`+ ${numberText(added.length)}`)}  ${style.error(`− ${numberText(removed.length)}`)}  = ${countText(rulesNow, "rule")} (was ${numberText(rulesBefore)}${part})`,
    ...sourceLines(change),
    ...nameLines("newly blocked", "blocked", { ...change, ranks }, style),
    ...nameLines("unblocked", "freed", { ...change, ranks }, style),
    ...(patterns.length === 0
      ? []
      : [
          `  ${style.warning("patterns")} added or removed, compared by known names only: ${patterns
            .slice(0, 3)
            .map((text) => printable(text, 60))
            .join(", ")}${patterns.length > 3 ? ` and ${patterns.length - 3} more` : ""}`,
        ]),
    ...change.files.map((file) => `  ${fileText(file)}`),
  ];
}

/** `rules/list.hosts: + 3 names, − 1 name`. */
export function fileText({ file, added = 0, removed = 0, isList }: FileChange): string {
  const what = isList === true ? "other comments" : "other content";
  const names = `+ ${countText(added, "name")}, − ${countText(removed, "name")}`;
  return `${printable(file)}: ${added + removed === 0 ? what : names}`;
}

function percentText(part: number): string {
  return `${part < 0 ? "−" : "+"}${Math.abs(part * 100).toFixed(1)} %`;
}

function sourceLines({ bySource }: ListChange): string[] {
  const rows = renderTable(
    bySource
      .slice(0, MOST)
      .map(({ source, added, removed }) => [
        printable(source, 40),
        `+ ${numberText(added)}`,
        `− ${numberText(removed)}`,
      ]),
    { align: "lrr", indent: 4 },
  );
  return bySource.length > MOST
    ? [...rows, `    … and ${countText(bySource.length - MOST, "more source")}`]
    : rows;
}

function nameLines(
  heading: string,
  kind: "blocked" | "freed",
  { changes, locations, ranks }: ListChange & { readonly ranks: RankedNames | undefined },
  style: Style,
): string[] {
  const names = namesWith(kind, changes, ranks);
  if (names.length === 0) return [];
  const shown = names.slice(0, MOST);
  const tone = kind === "blocked" ? "error" : "good";
  const rows = shown.map((name) => {
    const { rule = "" } = name;
    const place = locations.get(rule);
    const from =
      place === undefined
        ? ""
        : `  ${style.faint(locationLink(locationText(place, 40), place, style))}`;
    const rank = ranks && rankOfChange(name, ranks);
    const shownRank = rank === undefined ? "" : `, rank ${numberText(rank)}`;
    const shownName = changedText(name, kind, (text) => printable(text, 80));
    return [`${shownName}${shownRank}`, `${printable(rule, 60)}${from}`];
  });
  const more = names.length - shown.length;
  return [
    `  ${style[tone](heading)}: ${countText(names.length, "name")}`,
    ...renderTable(rows, { align: "ll", indent: 4 }),
    ...(more > 0 ? [`    … and ${countText(more, "name")} more (use --json for all)`] : []),
  ];
}

/** The complete change as JSON. */
export function changeJson(
  { locations, changes, ...rest }: ListChange,
  ranks?: RankedNames,
): object {
  return {
    ...rest,
    changes: changes
      .filter(({ self, below }) => self !== undefined || below !== undefined)
      .map((change) => {
        const place = change.rule === undefined ? undefined : locations.get(change.rule);
        const rank = ranks && rankOfChange(change, ranks);
        return { ...change, ...(rank !== undefined && { rank }), ...(place && { from: place }) };
      }),
  };
}
