import { LF } from "../bytes/ascii.ts";
import { encodeUtf8 } from "../bytes/utf8.ts";

/** The lines of a format for one name: the texts before, between and after its occurrences. */
export class LineTemplate {
  readonly parts: readonly Uint8Array[];
  private readonly texts: readonly string[];
  /** The number of lines per name. */
  readonly lines: number;
  private readonly fixed: number;

  /** Templates with the same key produce the same lines. */
  get key(): string {
    return this.texts.join("%");
  }

  constructor(lines: readonly string[]) {
    this.texts = `${lines.join("\n")}\n`.split("%");
    this.parts = this.texts.map(encodeUtf8);
    this.lines = lines.length;
    this.fixed = this.parts.reduce((sum, part) => sum + part.length, 0);
  }

  /** The size of the lines for `count` names, which take `length` bytes with their line feeds. */
  size(count: number, length: number): number {
    return (length - count) * (this.parts.length - 1) + count * this.fixed;
  }

  /** How many of the first names of a block have lines that fit into a number of bytes. */
  fitting(names: Uint8Array, most: number, bytes: number): number {
    const occurrences = this.parts.length - 1;
    if (names.length * occurrences + most * this.fixed <= bytes) return most;
    let left = bytes;
    let start = 0;
    for (let count = 0; count < most; count++) {
      const end = names.indexOf(LF, start);
      left -= (end - start) * occurrences + this.fixed;
      if (left < 0) return count;
      start = end + 1;
    }
    return most;
  }

  /** The lines for one name. */
  text(name: string): string {
    return this.texts.join(name);
  }
}
