import { textWidth } from "./text-width.ts";

/** Colours and links, which take no room. */
// oxlint-disable-next-line no-control-regex
const CODES = /\u001b\[[0-9;]*m|\u001b\]8;;[^\u001b]*\u001b\\/g;
/** A line of a code frame: what stands below it is aligned with it. */
const FRAME = /^ *\d* \|/;
const HANG = 4;

/** The same with lines that are too wide for the screen broken between words; what follows stands further in. */
export function wrapScreen(text: string, columns: number): string {
  if (columns === Infinity) return text;
  return text
    .split("\n")
    .flatMap((line) => wrapLine(line, columns))
    .join("\n");
}

function wrapLine(line: string, columns: number): string[] {
  const bare = line.replaceAll(CODES, "");
  if (textWidth(bare) <= columns || FRAME.test(bare)) return [line];
  const indent = " ".repeat(bare.length - bare.trimStart().length + HANG);
  const lines: string[] = [];
  let last = "";
  let width = 0;
  for (const [index, word] of line.split(" ").entries()) {
    const gap = index === 0 ? "" : " ";
    const wide = textWidth(word.replaceAll(CODES, ""));
    // Nothing but the indent stands before the first word of a line.
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
