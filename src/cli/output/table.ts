import { fitParts, fitText, textWidth, wrapParts } from "./text-width.ts";

export interface TableLayout {
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
