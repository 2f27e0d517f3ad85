import { ParquetError } from "./parquet-error.ts";

/** A field of a structure in Thrift's compact form: a number, bytes, a list or another structure. */
export type Field = number | Uint8Array | readonly Field[] | Structure;
export interface Structure {
  readonly fields: ReadonlyMap<number, Field>;
}

const DEEPEST = 16;
/** How many fields a footer may have. A thousand columns in a hundred groups have two million. */
const MOST_FIELDS = 2_000_000;

/** Reads numbers and structures from bytes. Throws a `ParquetError` at the end of the bytes, and for structures that are too large. */
export class ByteReader {
  at = 0;
  readonly bytes: Uint8Array;
  private fields = 0;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
  }

  get left(): number {
    return this.bytes.length - this.at;
  }

  byte(): number {
    const byte = this.bytes[this.at++];
    if (byte === undefined) throw new ParquetError("it ends too early");
    return byte;
  }

  /** Four bytes, lowest first. */
  word(): number {
    return this.byte() + this.byte() * 0x100 + this.byte() * 0x1_0000 + this.byte() * 0x100_0000;
  }

  varint(): number {
    let value = 0;
    let scale = 1;
    for (let count = 0; count < 10; count++) {
      const byte = this.byte();
      value += (byte & 127) * scale;
      if (byte < 128) return value;
      scale *= 128;
    }
    throw new ParquetError("a number of it is too long");
  }

  zigzag(): number {
    const value = this.varint();
    return value % 2 === 1 ? -(value + 1) / 2 : value / 2;
  }

  take(length: number): Uint8Array {
    if (!(length >= 0 && length <= this.left)) throw new ParquetError("it ends too early");
    const start = this.at;
    this.at += length;
    return this.bytes.subarray(start, this.at);
  }

  structure(depth = 0): Structure {
    if (depth > DEEPEST) throw new ParquetError("its structures are too deep");
    const fields = new Map<number, Field>();
    for (let id = 0; ;) {
      const head = this.byte();
      const type = head & 15;
      if (type === 0) return { fields };
      id = head >> 4 === 0 ? this.zigzag() : id + (head >> 4);
      fields.set(id, type === 1 || type === 2 ? 2 - type : this.field(type, depth));
    }
  }

  private field(type: number, depth: number): Field {
    if (++this.fields > MOST_FIELDS) throw new ParquetError("its footer has too many fields");
    switch (type) {
      case 1:
      case 2:
      case 3:
        return this.byte();
      case 4:
      case 5:
      case 6:
        return this.zigzag();
      case 7:
        return this.take(8);
      case 8:
        return this.take(this.varint());
      case 9:
      case 10:
        return this.list(depth + 1);
      case 12:
        return this.structure(depth + 1);
      default:
        throw new ParquetError("a field of it has an unknown type");
    }
  }

  private list(depth: number): Field[] {
    if (depth > DEEPEST) throw new ParquetError("its structures are too deep");
    const head = this.byte();
    const count = head >> 4 === 15 ? this.varint() : head >> 4;
    // Each element takes a byte or more.
    if (count > this.left) throw new ParquetError("it ends too early");
    const found: Field[] = [];
    for (let index = 0; index < count; index++) found.push(this.field(head & 15, depth));
    return found;
  }
}

export function numberIn({ fields }: Structure, id: number): number {
  const value = fields.get(id);
  if (typeof value !== "number") throw new ParquetError("a number of its footer is missing");
  return value;
}

export function listIn({ fields }: Structure, id: number): readonly Field[] {
  const value = fields.get(id);
  return Array.isArray(value) ? (value as readonly Field[]) : [];
}

export function structureIn({ fields }: Structure, id: number): Structure {
  return asStructure(fields.get(id));
}

export function asStructure(value: Field | undefined): Structure {
  if (typeof value === "object" && "fields" in value) return value;
  throw new ParquetError("a part of its footer is missing");
}
