import { bufferOf } from "../bytes/search.ts";

/** Longer lines are ignored. An entry of AdGuard Home holds two answers of up to 64 KiB each. */
const LONGEST_LINE = 1024 * 1024;

/** Cuts blocks into lines, with one character per byte. */
export class LineBlocks {
  private rest = "";
  private isTooLong = false;

  /** The lines that end in the block. */
  take(block: Uint8Array): string[] {
    const lines = bufferOf(block).toString("latin1").split("\n");
    const next = lines.pop()!;
    if (lines.length === 0) {
      this.grow(next);
      return lines;
    }
    this.grow(lines[0]!);
    if (this.isTooLong) lines.shift();
    else lines[0] = this.rest;
    this.rest = next;
    this.isTooLong = false;
    return lines.map(withoutReturn);
  }

  /** The last line, which may lack its line feed. */
  end(): string[] {
    return this.rest === "" || this.isTooLong ? [] : [withoutReturn(this.rest)];
  }

  private grow(text: string): void {
    if (this.rest.length + text.length > LONGEST_LINE) this.isTooLong = true;
    this.rest = this.isTooLong ? "" : this.rest + text;
  }
}

function withoutReturn(line: string): string {
  return line.endsWith("\r") ? line.slice(0, -1) : line;
}
