import { LF } from "../bytes/ascii.ts";
import type { ByteBuffer } from "../bytes/byte-buffer.ts";
import { encodeUtf8 } from "../bytes/utf8.ts";

/** Lines of a format for one name: the texts before, between and behind the places where the name stands. */
export class LineTemplate {
  readonly parts: readonly Uint8Array[];
  private readonly texts: readonly string[];
  /** Lines for a name. */
  readonly lines: number;
  private readonly fixed: number;

  /** Templates with the same key make the same lines. */
  get key(): string {
    return this.texts.join("%");
  }

  constructor(lines: readonly string[]) {
    this.texts = `${lines.join("\n")}\n`.split("%");
    this.parts = this.texts.map(encodeUtf8);
    this.lines = lines.length;
    this.fixed = this.parts.reduce((sum, part) => sum + part.length, 0);
  }

  /** Appends the lines for the first names of a block, which each have a line feed behind them. */
  expand(names: Uint8Array, count: number, out: ByteBuffer): void {
    const { parts } = this;
    const places = parts.length - 1;
    let to = out.reserve(names.length * places + count * this.fixed);
    const { bytes } = out;
    if (places === 1) {
      out.length = this.expandOnce(names, count, bytes, to);
      return;
    }
    let start = 0;
    let left = count;
    for (let end = 0; left > 0; end++) {
      if (names[end] !== LF) continue;
      left--;
      for (let index = 0; index < places; index++) {
        const part = parts[index]!;
        for (let at = 0; at < part.length; at++) bytes[to++] = part[at]!;
        for (let at = start; at < end; at++) bytes[to++] = names[at]!;
      }
      const last = parts[places]!;
      for (let at = 0; at < last.length; at++) bytes[to++] = last[at]!;
      start = end + 1;
    }
    out.length = to;
  }

  /** Where a name stands once, which is nearly everywhere, its bytes are passed once: 80 ms for a million names instead of 130. */
  private expandOnce(names: Uint8Array, count: number, bytes: Uint8Array, from: number): number {
    const [before, behind] = this.parts as [Uint8Array, Uint8Array];
    let to = from;
    let left = count;
    if (left === 0) return to;
    for (let at = 0; at < before.length; at++) bytes[to++] = before[at]!;
    for (let next = 0; left > 0; next++) {
      const byte = names[next]!;
      if (byte !== LF) {
        bytes[to++] = byte;
        continue;
      }
      for (let at = 0; at < behind.length; at++) bytes[to++] = behind[at]!;
      if (--left > 0) for (let at = 0; at < before.length; at++) bytes[to++] = before[at]!;
    }
    return to;
  }

  /** Bytes of the lines for so many names, which take so many bytes with a line feed behind each. */
  size(count: number, length: number): number {
    return (length - count) * (this.parts.length - 1) + count * this.fixed;
  }

  /** How many of the first names of a block have lines that fit into so many bytes. */
  fitting(names: Uint8Array, most: number, bytes: number): number {
    const places = this.parts.length - 1;
    if (names.length * places + most * this.fixed <= bytes) return most;
    let left = bytes;
    let start = 0;
    for (let count = 0; count < most; count++) {
      const end = names.indexOf(LF, start);
      left -= (end - start) * places + this.fixed;
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
