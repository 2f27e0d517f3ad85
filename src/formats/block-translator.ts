import { skipBlanks, skipBlanksBack } from "../bytes/blank.ts";
import { decodeUtf8, encodeUtf8 } from "../bytes/utf8.ts";
import type { TextBlock } from "../syntax/text-block.ts";
import type { LineReader } from "./line-readers.ts";

/**
 * Lines of another format as blocks of adblock syntax, with as many lines. The last line of a block is held back until the next
 * comes, because some formats say one thing in two lines.
 */
export class BlockTranslator {
  private readonly reader: LineReader;
  private held: string | undefined;
  /** The line before those that come next. */
  private last = "";

  constructor(reader: LineReader) {
    this.reader = reader;
  }

  get isHolding(): boolean {
    return this.held !== undefined;
  }

  /** The lines between two places of a block, but for the last; all of them when the file ends there. */
  translate(block: TextBlock, start: number, end: number): TextBlock {
    const text = decodeUtf8(block.bytes, start, end);
    const lines = text.split(/\r\n|\r|\n/);
    const isEnd = block.isLast && end === block.bytes.length;
    // A final line end begins no further line.
    const hasEnd = lines.at(-1) === "";
    if (hasEnd) lines.pop();
    if (this.held !== undefined) lines.unshift(this.held);
    this.held = isEnd ? undefined : lines.pop();
    const bytes = this.read(lines, !isEnd || hasEnd);
    const listStart = block.listStart === 0 ? 0 : skipBlanks(bytes, 0, bytes.length);
    const listEnd = isEnd ? skipBlanksBack(bytes, listStart, bytes.length) : bytes.length;
    return { bytes, position: block.position, listStart, listEnd, isLast: isEnd };
  }

  /** The line that was held back, when nothing follows it. */
  rest(): TextBlock {
    const lines = this.held === undefined ? [] : [this.held];
    this.held = undefined;
    const bytes = this.read(lines, true);
    this.last = "";
    return { bytes, position: 0, listStart: 0, listEnd: bytes.length, isLast: false };
  }

  private read(lines: readonly string[], hasEnd: boolean): Uint8Array {
    const read = lines.map((line, index) => {
      const next = lines[index + 1] ?? this.held ?? "";
      return this.reader(line, next, lines[index - 1] ?? this.last);
    });
    this.last = lines.at(-1) ?? this.last;
    return encodeUtf8(read.join("\n") + (hasEnd && read.length > 0 ? "\n" : ""));
  }
}
