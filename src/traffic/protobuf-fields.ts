import type { Buffer } from "node:buffer";

/** The fields of a protobuf message, one after the other. Anything malformed ends them. */
export class ProtobufFields {
  /** The number of the field. */
  number = 0;
  /** The value of a field that is an integer of up to 53 bits. */
  value = 0;
  /** Where the bytes of a field begin and end; the same position for a field without bytes. */
  start = 0;
  end = 0;
  private readonly bytes: Buffer;
  private at: number;
  private readonly limit: number;

  constructor(bytes: Buffer, start: number, end: number) {
    this.bytes = bytes;
    this.at = start;
    this.limit = end;
  }

  /** Moves to the next field; false after the last. */
  next(): boolean {
    const key = this.varint();
    if (key === -1) return false;
    this.number = Math.floor(key / 8);
    this.value = 0;
    this.start = this.end = this.at;
    switch (key % 8) {
      case 0:
        this.value = this.varint();
        return this.value !== -1;
      case 1:
        return this.skip(8);
      case 2:
        return this.take(this.varint());
      case 5:
        return this.skip(4);
      default:
        return false;
    }
  }

  private take(length: number): boolean {
    this.start = this.at;
    this.end = this.at + length;
    return length !== -1 && this.skip(length);
  }

  private skip(length: number): boolean {
    this.at += length;
    return this.at <= this.limit;
  }

  /** -1 if the bytes end before it does. */
  private varint(): number {
    let value = 0;
    for (let unit = 1; this.at < this.limit && unit < 2 ** 64; unit *= 128) {
      const byte = this.bytes[this.at++]!;
      value += (byte & 127) * unit;
      if (byte < 128) return value;
    }
    return -1;
  }
}
