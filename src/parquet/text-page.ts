import { ByteBuffer } from "../bytes/byte-buffer.ts";
import { ByteReader } from "./byte-reader.ts";
import { readDeltas, readRuns } from "./packed-numbers.ts";
import { ParquetError } from "./parquet-error.ts";

/** Takes a text of a column, or nothing for a row without one. */
export type TextTaker = (bytes: Uint8Array | undefined, start: number, end: number) => void;

/** Texts of a dictionary. */
export interface Texts {
  readonly bytes: Uint8Array;
  readonly starts: Int32Array;
  readonly ends: Int32Array;
}

const LONGEST_TEXT = 65_536;

/** `count` texts, each after its length. */
export function plainTexts(bytes: Uint8Array, count: number): Texts {
  if (count * 4 > bytes.length) throw new ParquetError("it ends too early");
  const reader = new ByteReader(bytes);
  const starts = new Int32Array(count);
  const ends = new Int32Array(count);
  for (let index = 0; index < count; index++) {
    const length = reader.word();
    starts[index] = reader.at;
    reader.take(length);
    ends[index] = reader.at;
  }
  return { bytes, starts, ends };
}

/** The values of a page: those that are there, in order. */
export function* pageTexts(
  bytes: Uint8Array,
  encoding: number,
  count: number,
  dictionary: Texts | undefined,
): Generator<{ readonly bytes: Uint8Array; readonly start: number; readonly end: number }> {
  if (count === 0) return;
  switch (encoding) {
    case 0:
      yield* allOf(plainTexts(bytes, count));
      return;
    case 2:
    case 8: {
      if (dictionary === undefined) throw new ParquetError("a dictionary of it is missing");
      const reader = new ByteReader(bytes);
      for (const index of readRuns(reader, reader.byte(), count)) {
        const start = dictionary.starts[index];
        if (start === undefined) throw new ParquetError("a text is not in its dictionary");
        yield { bytes: dictionary.bytes, start, end: dictionary.ends[index]! };
      }
      return;
    }
    case 6: {
      const reader = new ByteReader(bytes);
      for (const length of readDeltas(reader, count)) {
        const start = reader.at;
        reader.take(length);
        yield { bytes, start, end: reader.at };
      }
      return;
    }
    case 7: {
      const reader = new ByteReader(bytes);
      const shared = readDeltas(reader, count);
      const lengths = readDeltas(reader, count);
      const text = new ByteBuffer(256);
      for (let index = 0; index < count; index++) {
        const kept = shared[index]!;
        if (kept < 0 || kept > text.length) throw new ParquetError("a text of it is damaged");
        const rest = reader.take(lengths[index]!);
        if (kept + rest.length > LONGEST_TEXT) throw new ParquetError("a text of it is too long");
        text.length = kept;
        text.append(rest, 0, rest.length);
        yield { bytes: text.bytes, start: 0, end: text.length };
      }
      return;
    }
    default:
      throw new ParquetError(`its encoding ${encoding} is not known`);
  }
}

function* allOf({ bytes, starts, ends }: Texts): ReturnType<typeof pageTexts> {
  for (const [index, start] of starts.entries()) yield { bytes, start, end: ends[index]! };
}
