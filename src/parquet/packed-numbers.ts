import type { ByteReader } from "./byte-reader.ts";
import { ParquetError } from "./parquet-error.ts";

/** Reads numbers of `width` bits in runs, or packed in groups of eight (RLE). Stops after `count` numbers. */
export function readRuns(reader: ByteReader, width: number, count: number): Int32Array {
  if (width > 31) throw new ParquetError("its numbers are too wide");
  const numbers = new Int32Array(count);
  for (let at = 0; at < count;) {
    const head = reader.varint();
    if (head % 2 === 0) {
      const end = at + Math.min(count - at, head / 2);
      let value = 0;
      for (let shift = 0; shift < width; shift += 8) value |= reader.byte() << shift;
      if (head === 0) throw new ParquetError("a run of it is empty");
      numbers.fill(value, at, end);
      at = end;
    } else {
      const packed = Math.min(count - at, ((head - 1) / 2) * 8);
      if (packed === 0) throw new ParquetError("a run of it is empty");
      const bytes = reader.take(Math.min(reader.left, ((head - 1) / 2) * width));
      unpack(bytes, width, numbers.subarray(at, at + packed));
      at += packed;
    }
  }
  return numbers;
}

/** Reads `count` numbers as DELTA_BINARY_PACKED. */
export function readDeltas(reader: ByteReader, count: number): Int32Array {
  const block = reader.varint();
  const parts = reader.varint();
  const total = reader.varint();
  const perPart = block / parts;
  if (total !== count || !Number.isInteger(perPart) || perPart % 8 !== 0 || perPart > 1 << 20)
    throw new ParquetError("differences of it are damaged");
  const numbers = new Int32Array(count);
  let value = reader.zigzag();
  if (count > 0) numbers[0] = value;
  const part = new Int32Array(Math.min(perPart, Math.max(count, 1)));
  for (let at = 1; at < count;) {
    const least = reader.zigzag();
    const widths = reader.take(parts);
    for (let index = 0; index < parts && at < count; index++) {
      const width = widths[index]!;
      if (width > 32) throw new ParquetError("its numbers are too wide");
      const some = part.subarray(0, Math.min(perPart, count - at));
      unpack(reader.take(Math.min(reader.left, (perPart * width) / 8)), width, some);
      for (const delta of some) numbers[at++] = value = (value + least + (delta >>> 0)) | 0;
    }
  }
  return numbers;
}

/** Numbers of `width` bits, lowest bit first. */
function unpack(bytes: Uint8Array, width: number, into: Int32Array): void {
  if (into.length * width > bytes.length * 8) throw new ParquetError("it ends too early");
  let bit = 0;
  for (let index = 0; index < into.length; index++) {
    let value = 0;
    for (let have = 0; have < width;) {
      const offset = bit & 7;
      const some = Math.min(8 - offset, width - have);
      value |= ((bytes[bit >> 3]! >> offset) & ((1 << some) - 1)) << have;
      have += some;
      bit += some;
    }
    into[index] = value;
  }
}
