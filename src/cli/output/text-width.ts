import type { TextSink } from "../../host/host.ts";

/** Escape sequences of colors and links, which have no width. */
// oxlint-disable-next-line no-control-regex
const ESCAPES = /\u001b\[[0-9;]*m|\u001b\]8;;[^\u001b]*\u001b\\/g;
export function withoutEscapes(text: string): string {
  return text.replaceAll(ESCAPES, "");
}

const INVISIBLE = /^[\p{Mark}\p{Cf}]$/u;
const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}/u;
const JOINER = "\u200d";
/** Turns the preceding character into an emoji. */
const EMOJI_SELECTOR = "\ufe0f";

/**
 * The width of a text in terminal columns: two for East Asian wide characters and emoji, none for marks. The package string-width
 * adds about 50 ms to every start; see docs/decisions/dependencies.md.
 */
export function textWidth(text: string): number {
  if (/^[ -~]*$/.test(text)) return text.length;
  let width = 0;
  let last = 0;
  let isJoined = false;
  for (const character of withoutEscapes(text)) {
    if (INVISIBLE.test(character)) {
      if (character === EMOJI_SELECTOR && last === 1) {
        last = 2;
        width++;
      }
      isJoined ||= character === JOINER;
      continue;
    }
    // Several joined emoji, such as a family, are shown as one.
    last = isJoined ? 0 : isWide(character) ? 2 : 1;
    isJoined = false;
    width += last;
  }
  return width;
}

/** A flag consists of two letters with one column each. */
function isWide(character: string): boolean {
  return WIDE.test(character) && !/\p{Regional_Indicator}/u.test(character);
}

/** Truncates a text to a number of columns, with an ellipsis. */
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

/** Joins parts with ", " and wraps them to a number of columns. */
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

/** Joins the first parts that fit into a number of columns, and counts the others: `a, b, … 3 more`. */
export function fitParts(parts: readonly string[], columns: number): string {
  for (let shown = parts.length; shown > 0; shown--) {
    const rest = parts.length - shown;
    const text = [...parts.slice(0, shown), ...(rest > 0 ? [`… ${rest} more`] : [])].join(", ");
    if (textWidth(text) <= columns) return text;
  }
  return fitText(parts.length > 1 ? `${parts[0]}, …` : (parts[0] ?? ""), columns);
}

/** Wraps words to a number of columns. A longer word gets its own line. */
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

/** The width of the screen. Without a terminal, nothing is truncated. */
export function columnsOf({ isTerminal, columns }: TextSink): number {
  return isTerminal ? columns : Infinity;
}
