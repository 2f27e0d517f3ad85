/** Something about the text of a line, whatever it means. */
export interface TextProblem {
  readonly rule: "outer-blanks" | "carriage-return" | "byte-order-mark" | "no-final-line-feed";
  readonly severity: "warning";
  readonly line: number;
  readonly column: number;
  readonly message: string;
  readonly isFixable: boolean;
}

const BYTE_ORDER_MARK = "\uFEFF";

/**
 * What is wrong with the text, and the text as it should be, without some of its lines. Blanks are taken off only where the line
 * means the same without them, which `mayTrim` knows.
 */
export function textProblems(
  text: string,
  mayTrim: (line: number) => boolean,
): { problems: TextProblem[]; fixed(gone: ReadonlySet<number>): string } {
  const problems: TextProblem[] = [];
  const add = (
    rule: TextProblem["rule"],
    line: number,
    column: number,
    message: string,
    isFixable = true,
  ): void => void problems.push({ rule, severity: "warning", line, column, message, isFixable });
  const hasMark = text.startsWith(BYTE_ORDER_MARK);
  if (hasMark) add("byte-order-mark", 1, 1, "begins with a byte order mark");
  const bare = hasMark ? text.slice(1) : text;
  const ends = bare.match(/\r\n?|\n/g) ?? [];
  const lines = bare.split(/\r\n?|\n/);
  const odd = ends.findIndex((end) => end !== "\n");
  if (odd !== -1)
    add("carriage-return", odd + 1, lines[odd]!.length + 1, "lines end in a carriage return");
  const isOpen = lines.at(-1) !== "";
  if (isOpen && bare !== "")
    add(
      "no-final-line-feed",
      lines.length,
      lines.at(-1)!.length + 1,
      "the last line has no line feed",
    );
  const shown = isOpen ? lines : lines.slice(0, -1);
  const trimmed = shown.map((line, index) => {
    const bareLine = line.replaceAll(/^[ \t]+|[ \t]+$/g, "");
    if (bareLine === line) return line;
    // A directive with a blank before it is none.
    const isSafe = mayTrim(index + 1) && !bareLine.startsWith("!#");
    const column = line.startsWith(" ") || line.startsWith("\t") ? 1 : bareLine.length + 1;
    add("outer-blanks", index + 1, column, "has blanks at an end", isSafe);
    return isSafe ? bareLine : line;
  });
  return {
    problems,
    fixed: (gone) => {
      const kept = trimmed.filter((_, index) => !gone.has(index + 1));
      return kept.length === 0 ? "" : `${kept.join("\n")}\n`;
    },
  };
}
