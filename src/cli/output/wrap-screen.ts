import { textWidth, withoutEscapes } from "./text-width.ts";

/** A line of a code frame, which must stay aligned with the line below it. */
const FRAME = /^ *\d* \|/;
const HANG = 4;

/** Wraps lines that are too wide for the screen between words, and indents continuation lines. */
export function wrapScreen(text: string, columns: number): string {
  if (columns === Infinity) return text;
  return text
    .split("\n")
    .flatMap((line) => wrapLine(line, columns))
    .join("\n");
}

function wrapLine(line: string, columns: number): string[] {
  const bare = withoutEscapes(line);
  if (textWidth(bare) <= columns || FRAME.test(bare)) return [line];
  const indent = " ".repeat(bare.length - bare.trimStart().length + HANG);
  const lines: string[] = [];
  let last = "";
  let width = 0;
  for (const [index, word] of line.split(" ").entries()) {
    const gap = index === 0 ? "" : " ";
    const wide = textWidth(word);
    // Before the first word of a line, there is only the indent.
    if (width + gap.length + wide <= columns || last.trim() === "") {
      last += gap + word;
      width += gap.length + wide;
    } else if (word !== "") {
      lines.push(last.trimEnd());
      last = indent + word;
      width = indent.length + wide;
    }
  }
  return [...lines, last];
}
