import type { Encoding, SchemaElement } from "hyparquet";
import type { ByteWriter } from "hyparquet-writer";
import { writeRleBitPackedHybrid } from "hyparquet-writer/src/encoding.js";

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
  /** Writes the values that are present. */
  write(page: ByteWriter): void;
  /** Starts the next row group. */
  clear(): void;
}

/** Whether each row has a value: the definition levels of an optional column, as runs. */
export class Presence {
  nulls = 0;
  /** Lengths of the runs, beginning with rows that have a value. */
  private readonly runs = new Numbers();
  private run = 0;
  private isThere = true;

  add(isThere: boolean): void {
    if (isThere !== this.isThere) {
      this.runs.push(this.run);
      this.run = 0;
      this.isThere = isThere;
    }
    this.run++;
    if (!isThere) this.nulls++;
  }

  write(page: ByteWriter): void {
    const levels = new Uint8Array(this.runs.view().reduce((sum, run) => sum + run, this.run));
    let at = 0;
    let level = 1;
    for (const run of [...this.runs.view(), this.run]) {
      levels.fill(level, at, (at += run));
      level = 1 - level;
    }
    writeRleBitPackedHybrid(page, levels, 1);
  }

  clear(): void {
    this.nulls = this.run = this.runs.length = 0;
    this.isThere = true;
  }
}

/** A growing column of numbers. */
export class Numbers {
  values: Int32Array = new Int32Array(1024);
  length = 0;

  push(value: number): void {
    if (this.length === this.values.length) {
      const grown = new Int32Array(this.length * 2);
      grown.set(this.values);
      this.values = grown;
    }
    this.values[this.length++] = value;
  }

  view(): Int32Array {
    return this.values.subarray(0, this.length);
  }
}
