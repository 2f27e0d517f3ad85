/** A problem of the text of a line, independent of its meaning. */
export interface TextProblem {
  readonly rule: "outer-blanks" | "carriage-return" | "byte-order-mark" | "no-final-line-feed";
  readonly severity: "warning";
  readonly line: number;
  readonly column: number;
  readonly message: string;
  readonly isFixable: boolean;
}

const BYTE_ORDER_MARK = "\uFEFF";

/** The lines of a list. */
export interface ListText {
  readonly hasMark: boolean;
  readonly lines: readonly string[];
  /** The line ending of each line; empty if the last line has no line ending. */
  readonly ends: readonly string[];
}

export function splitText(text: string): ListText {
  const hasMark = text.startsWith(BYTE_ORDER_MARK);
  const bare = hasMark ? text.slice(1) : text;
  const lines = bare.split(/\r\n?|\n/);
  const ends: string[] = bare.match(/\r\n?|\n/g) ?? [];
  if (lines.at(-1) === "") lines.pop();
  else ends.push("");
  return { hasMark, lines, ends };
}

/** Whether programs that only end lines at line feeds see the list as one long line. */
export function isRunTogether({ ends }: Pick<ListText, "ends">): boolean {
  return ends.includes("\r");
}

/** The line starts with a name or an address, or is a single name. */
const STARTS_WITH_NAME = /^[a-z0-9_:[\u0080-\uffff]/i;
const IS_NAME = /^[a-z0-9_.\u0080-\uffff-]+$/i;

/**
 * The line without blanks at its ends, if they do not change its meaning. Some programs recognize a name or a hosts line
 * with outer blanks only if they trim lines first. A directive after a blank is not a directive.
 */
export function trimmedLine(line: string): string {
  const text = line.replaceAll(/^[ \t]+|[ \t]+$/g, "");
  if (/^[ \t]/.test(line) && (text.startsWith("!#") || STARTS_WITH_NAME.test(text))) return line;
  return /[ \t]$/.test(line) && IS_NAME.test(text) ? line : text;
}

/** The problems of the text, and the fixed text without the removed lines. */
export function textProblems({ hasMark, lines, ends }: ListText): {
  problems: TextProblem[];
  fixed(gone: ReadonlySet<number>): string;
} {
  const problems: TextProblem[] = [];
  const add = (
    rule: TextProblem["rule"],
    [line, column]: readonly [number, number],
    message: string,
    isFixable = true,
  ): void => void problems.push({ rule, severity: "warning", line, column, message, isFixable });
  if (hasMark) add("byte-order-mark", [1, 1], "begins with a byte order mark");
  const odd = ends.findIndex((end) => end.startsWith("\r"));
  const endings = isRunTogether({ ends })
    ? "ends with a bare carriage return, which many programs do not treat as a line end"
    : "lines end with a carriage return";
  if (odd !== -1) add("carriage-return", [odd + 1, lines[odd]!.length + 1], endings);
  if (ends.at(-1) === "")
    add(
      "no-final-line-feed",
      [lines.length, lines.at(-1)!.length + 1],
      "the last line has no line feed",
    );
  for (const [index, line] of lines.entries()) {
    if (!/^[ \t]|[ \t]$/.test(line)) continue;
    const isIndented = /^[ \t]/.test(line);
    const column = isIndented ? 1 : line.trimEnd().length + 1;
    const isSafe = trimmedLine(line) !== line;
    const blanks = isSafe
      ? "has leading or trailing blanks"
      : "has leading or trailing blanks, and means something else to programs that do not trim lines";
    add("outer-blanks", [index + 1, column], blanks, isSafe);
  }
  return {
    problems,
    fixed: (gone) =>
      lines.map((line, index) => (gone.has(index + 1) ? "" : `${trimmedLine(line)}\n`)).join(""),
  };
}
