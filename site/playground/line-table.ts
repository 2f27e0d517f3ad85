import { LF } from "../../src/bytes/text.ts";
import { Other } from "../../src/kernel/kernel.ts";
import type { BuildRecord } from "../../src/record/build-record.ts";
import { Fate, fateName, hasCause } from "../../src/rules/fate.ts";
import type { ShownLine } from "./calls.ts";

const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
/** No row that is shown; such a line has no fate of its own. */
const NO_ROW = 0xffffffff;

/** The lines of a text, found by number. */
export class LineTable {
  readonly length: number;
  private readonly bytes: Uint8Array;
  private readonly starts: Uint32Array;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
    let starts = new Uint32Array(1024);
    let count = 0;
    for (let at = 0; at < bytes.length;) {
      if (count + 1 >= starts.length) {
        const grown = new Uint32Array(starts.length * 2);
        grown.set(starts);
        starts = grown;
      }
      starts[count++] = at;
      const end = bytes.indexOf(LF, at);
      at = end === -1 ? bytes.length : end + 1;
    }
    starts[count] = bytes.length + (bytes.at(-1) === LF ? 0 : 1);
    this.starts = starts;
    this.length = count;
  }

  text(index: number): string {
    const end = Math.max(this.starts[index]!, this.starts[index + 1]! - 1);
    return decoder.decode(this.bytes.subarray(this.starts[index], end)).replace(/\r$/, "");
  }

  /** The numbers of the lines that contain a text, in any case. */
  find(wanted: string): Uint32Array {
    const found: number[] = [];
    const needle = wanted.toLowerCase();
    // In steps, so that a large list never becomes one large string.
    const step = 4096;
    for (let first = 0; first < this.length; first += step) {
      const last = Math.min(this.length, first + step);
      const texts = decoder
        .decode(this.bytes.subarray(this.starts[first], this.starts[last]! - 1))
        .toLowerCase();
      if (!texts.includes(needle)) continue;
      for (const [index, text] of texts.split("\n").entries())
        if (text.includes(needle)) found.push(first + index);
    }
    return Uint32Array.from(found);
  }
}

/** The lines of a file of a source, with what became of them. */
export class FateTable {
  readonly lines: LineTable;
  private readonly record: BuildRecord;
  private readonly rows: Uint32Array;

  constructor(bytes: Uint8Array, record: BuildRecord, file: number) {
    this.lines = new LineTable(bytes);
    this.record = record;
    this.rows = new Uint32Array(this.lines.length).fill(NO_ROW);
    for (const frame of record.frames) {
      if (frame.file !== file || frame.firstLine === 0) continue;
      for (let row = 0; row < frame.length; row++) {
        const line = frame.lines === undefined ? frame.firstLine + row : frame.lines[row]!;
        if (line === 0 || line > this.rows.length) continue;
        if (((frame.others?.[row] ?? 0) & Other.Generated) !== 0) continue;
        const known = this.rows[line - 1]!;
        // A line with several names is in the list if one of them is.
        if (known === NO_ROW || frame.fates[row] === Fate.Kept)
          this.rows[line - 1] = frame.base + row;
      }
    }
  }

  fate(index: number): string {
    const row = this.rows[index]!;
    return row === NO_ROW ? "blank" : fateName(this.record.fateOf(row));
  }

  shown(index: number): ShownLine {
    const { record } = this;
    const row = this.rows[index]!;
    const line = { line: index + 1, text: this.lines.text(index), fate: this.fate(index) };
    if (row === NO_ROW || !hasCause(record.fateOf(row))) return line;
    return { ...line, by: placeOf(record, record.causeOf(row)) };
  }
}

/** `source:line`. */
function placeOf(record: BuildRecord, row: number): string {
  const { source } = record.fileOf(row);
  return `${record.header.sources[source]?.label ?? ""}:${record.lineOf(row)}`;
}
