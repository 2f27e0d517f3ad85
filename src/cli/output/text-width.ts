import type { TextSink } from "../../host/host.ts";

/** Columns that a text takes on a terminal: two for East Asian wide characters and emoji, none for combining marks. */
export function textWidth(text: string): number {
  let width = 0;
  for (const character of text) {
    if (/\p{Mark}/u.test(character)) continue;
    width += WIDE.test(character) ? 2 : 1;
  }
  return width;
}

const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Extended_Pictographic}/u;

/** The text cut to so many columns, with an ellipsis where something is missing. */
export function fitText(text: string, columns: number): string {
  if (textWidth(text) <= columns) return text;
  let fitted = "";
  let width = 0;
  for (const character of text) {
    width += textWidth(character);
    if (width > columns - 1) break;
    fitted += character;
  }
  return `${fitted}…`;
}

export function padText(text: string, columns: number): string {
  return text + " ".repeat(Math.max(0, columns - textWidth(text)));
}

/** Parts joined by ", ", broken into lines of at most so many columns. */
export function wrapParts(parts: readonly string[], columns: number): string[] {
  const lines: string[] = [];
  for (const [index, part] of parts.entries()) {
    const text = index < parts.length - 1 ? `${part},` : part;
    const last = lines.at(-1);
    if (last !== undefined && textWidth(last) + 1 + textWidth(text) <= columns)
      lines[lines.length - 1] = `${last} ${text}`;
    else lines.push(text);
  }
  return lines;
}

/** Words in lines of at most so many columns; one that is longer has a line of its own. */
export function wrapText(text: string, columns: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(" ")) {
    const last = lines.at(-1);
    if (last !== undefined && textWidth(last) + 1 + textWidth(word) <= columns)
      lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}

/** Columns there are to fill; without a terminal nothing is cut. */
export function columnsOf({ isTerminal, columns }: TextSink): number {
  return isTerminal ? columns : Infinity;
}
