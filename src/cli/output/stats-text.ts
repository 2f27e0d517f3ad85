import { printable } from "../../diagnostics/printable.ts";
import type { Style } from "../../diagnostics/render.ts";
import type { ListStats } from "../../explain/stats.ts";
import { countText, numberText } from "../../diagnostics/number-text.ts";
import { markdownText } from "./markdown-text.ts";
import { COUNTS } from "../../explain/glossary.ts";
import { renderTable } from "./table.ts";

const COLUMNS = ["lines", "kept", "dropped", "redundant", "rules", "onlyHere"] as const;
const HEADINGS = COLUMNS.map((column) => COUNTS[column][0]);
const LONGEST_NAME = 36;

function numbersOf(stats: ListStats): string[][] {
  return stats.sources.map((source) =>
    COLUMNS.map((column) =>
      numberText(column === "dropped" ? source.lines - source.kept : source[column]),
    ),
  );
}

/** One row per source, then the smallest set of sources and the largest overlaps. */
export function statsTable(stats: ListStats, style: Style, columns: number): string {
  const rows = numbersOf(stats).map((cells, index) => [
    printable(stats.sources[index]!.source),
    ...cells,
  ]);
  const [head, ...body] = renderTable([["source", ...HEADINGS], ...rows], {
    align: "lrrrrrr",
    columns,
    longestName: LONGEST_NAME,
  });
  return `${[
    style.faint(head!),
    ...body.map((text, index) => (stats.sources[index]!.onlyHere === 0 ? style.faint(text) : text)),
    "",
    coverLine(stats),
    ...overlapLines(stats),
  ].join("\n")}\n`;
}

function coverLine({ cover, sources, rules, minSources }: ListStats): string {
  const left = sources.length - cover.sources.length;
  const certain = cover.isSmallest ? "" : " (or fewer)";
  if (left === 0) {
    if (!cover.isSmallest) return "No source is known to be redundant.";
    const all = sources.length === 1 ? "The source is" : `All ${sources.length} sources are`;
    const why = minSources === undefined ? "" : ` with min_sources: ${minSources}`;
    return `${all} needed for ${rules === 1 ? "its" : "these"} ${countText(rules, "rule")}${why}.`;
  }
  const superfluous = sources.filter(({ source }) => !cover.sources.includes(source));
  const names = superfluous.map(({ source }) => printable(source, 60)).join(", ");
  return `${cover.sources.length} of ${sources.length} sources${certain} ${cover.sources.length === 1 ? "yields" : "yield"} the same ${countText(rules, "rule")}; redundant: ${names}`;
}

const MOST_PAIRS = 5;

function overlapLines({ overlap, sources }: ListStats): string[] {
  const pairs = sources.flatMap((a, first) =>
    sources.slice(first + 1).map((b, rest) => {
      const second = first + 1 + rest;
      const shared = overlap[first]![second]!;
      const smaller = Math.min(overlap[first]![first]!, overlap[second]![second]!);
      return { a: a.source, b: b.source, shared, part: smaller === 0 ? 0 : shared / smaller };
    }),
  );
  return pairs
    .filter(({ shared }) => shared > 0)
    .toSorted((x, y) => y.part - x.part || y.shared - x.shared)
    .slice(0, MOST_PAIRS)
    .map(({ a, b, shared, part }) => {
      const rules = countText(shared, "rule");
      return `${printable(a, 60)} and ${printable(b, 60)} share ${rules}, ${Math.floor(part * 100)} % of the smaller`;
    });
}

/** The statistics for a README or a pull request. */
export function statsMarkdown(stats: ListStats): string {
  const rows = numbersOf(stats).map(
    (row, index) => `| ${markdownText(stats.sources[index]!.source)} | ${row.join(" | ")} |`,
  );
  return `| source | ${HEADINGS.join(" | ")} |\n|---|${"---:|".repeat(HEADINGS.length)}\n${rows.join("\n")}\n\n${markdownText(coverLine(stats))}\n`;
}
