import type { Encoding, SchemaElement } from "hyparquet";
import type { PagePacker } from "../kernel/page-packer.ts";

/** The values of one column in a row group. */
export interface Column {
  readonly element: SchemaElement;
  readonly encoding: Encoding;
  /** Which rows have a value; undefined if all must have one. */
  readonly presence: Presence | undefined;
  /** The values that the page refers to by number. */
  readonly dictionary?: readonly string[];
  /** Number of rows. */
  readonly length: number;
  /** The values that are present, as bytes of a page. They are valid until something else is packed. */
  pack(packer: PagePacker): Uint8Array;
  /** Starts the next row group. */
  clear(): void;
}

/** Whether each row has a value: the definition levels of an optional column. */
export class Presence {
  length = 0;
  nulls = 0;
  /** One number a row, if some rows have a value and others do not. */
  private readonly levels = new Numbers();

  add(isThere: boolean, count = 1): void {
    if (count === 0) return;
    const { levels, length, nulls } = this;
    const had = nulls < length;
    this.length += count;
    if (!isThere) this.nulls += count;
    if (levels.length > 0 || (length > 0 && had !== isThere)) {
      if (levels.length === 0) levels.addSame(Number(had), length);
      levels.addSame(Number(isThere), count);
    }
  }

  pack(packer: PagePacker): Uint8Array {
    if (this.levels.length > 0) return packer.runs(this.levels.view(), 1);
    return runOf(this.nulls === 0 ? 1 : 0, this.length);
  }

  clear(): void {
    this.length = this.nulls = this.levels.length = 0;
  }
}

/** Equal values of up to eight bits. */
function runOf(value: number, count: number): Uint8Array {
  const bytes: number[] = [];
  let rest = count * 2;
  for (; rest > 127; rest = Math.floor(rest / 128)) bytes.push((rest % 128) + 128);
  return Uint8Array.of(...bytes, rest, value);
}

/** A growing column of numbers. */
export class Numbers {
  values: Int32Array = new Int32Array(1024);
  length = 0;

  push(value: number): void {
    if (this.length === this.values.length) this.reserve(1);
    this.values[this.length++] = value;
  }

  addSame(value: number, count: number): void {
    const at = this.reserve(count);
    this.length += count;
    const { values, length } = this;
    // For a short run, the call of `fill` costs more than a loop.
    if (count > 32) values.fill(value, at, length);
    else for (let index = at; index < length; index++) values[index] = value;
  }

  addAscending(first: number, count: number): void {
    const at = this.reserve(count);
    const { values } = this;
    for (let index = 0; index < count; index++) values[at + index] = first + index;
    this.length += count;
  }

  addAll(numbers: ArrayLike<number>): void {
    const at = this.reserve(numbers.length);
    this.values.set(numbers, at);
    this.length += numbers.length;
  }

  view(): Int32Array {
    return this.values.subarray(0, this.length);
  }

  /** Makes room for more numbers and returns the place of the first. */
  private reserve(more: number): number {
    const needed = this.length + more;
    if (needed > this.values.length) {
      const grown = new Int32Array(Math.max(needed, this.length * 2));
      grown.set(this.values);
      this.values = grown;
    }
    return this.length;
  }
}
