/** Append-only bytes: appended bytes keep their position and value. */
export class ByteBuffer {
  bytes: Uint8Array;
  length = 0;

  constructor(capacity = 0) {
    this.bytes = new Uint8Array(capacity);
  }

  /** Makes room for `more` bytes and returns the position of the first. */
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
    // For a short rule, creating a view costs more than copying the bytes.
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
