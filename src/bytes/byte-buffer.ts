/** Bytes that only ever grow: what was appended keeps its place and its value. */
export class ByteBuffer {
  bytes: Uint8Array;
  length = 0;

  constructor(capacity = 0) {
    this.bytes = new Uint8Array(capacity);
  }

  /** Makes room for `more` bytes and returns the position where they will begin. */
  reserve(more: number): number {
    const needed = this.length + more;
    if (needed > this.bytes.length) {
      const grown = new Uint8Array(Math.max(needed, this.bytes.length * 2, 256));
      grown.set(this.bytes.subarray(0, this.length));
      this.bytes = grown;
    }
    return this.length;
  }

  push(byte: number): void {
    this.reserve(1);
    this.bytes[this.length++] = byte;
  }

  append(from: Uint8Array, start: number, end: number): number {
    const at = this.reserve(end - start);
    const to = this.bytes;
    // A view costs more to make than a rule has bytes to copy.
    if (end - start < 64) {
      for (let i = start, out = at; i < end; i++, out++) to[out] = from[i]!;
    } else {
      to.set(from.subarray(start, end), at);
    }
    this.length += end - start;
    return at;
  }

  view(): Uint8Array {
    return this.bytes.subarray(0, this.length);
  }
}
