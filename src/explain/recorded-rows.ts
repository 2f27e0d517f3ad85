import { Other } from "../kernel/kernel-layout.ts";
import type { BuildRecord, Frame } from "../record/build-record.ts";
import { Fate, hasCause } from "../rules/fate.ts";

/** Walks the rows of one file in the order of its lines. */
export class RecordedRows {
  row = 0;
  line = 0;
  /** Whether the statistics count this row: of the rows of a line, the first that is live, or else the first. */
  isCounted = false;
  fate = 0;
  private readonly record: BuildRecord;
  private readonly frames: readonly Frame[];
  private frame = 0;
  private index = -1;
  private causes: Int32Array | undefined;
  private countedRow = 0;

  constructor(record: BuildRecord, frames: readonly Frame[]) {
    this.record = record;
    // Generated lines, such as banners, have no number.
    this.frames = frames
      .filter(({ firstLine }) => firstLine > 0)
      .toSorted((a, b) => a.firstLine - b.firstLine || a.base - b.base);
    this.next();
  }

  get isOver(): boolean {
    return this.frame >= this.frames.length;
  }

  /** Goes to the next row that is or was a line of the file, or a further name of one. */
  next(): void {
    for (;;) {
      const frame = this.frames[this.frame];
      if (frame === undefined) return;
      this.index++;
      const { index } = this;
      if (index >= frame.length) {
        this.frame++;
        this.index = -1;
        this.causes = undefined;
        continue;
      }
      const { fates, lines, others, firstLine, base } = frame;
      const fate = fates[index]!;
      const line = lines === undefined ? firstLine + index : lines[index]!;
      if (fate === Fate.Spare || line === 0) continue;
      const other = others?.[index] ?? 0;
      if ((other & Other.Generated) !== 0) continue;
      this.row = base + index;
      if ((other & Other.Continued) === 0) this.countedRow = this.countedFrom(this.row, fate);
      this.isCounted = this.row === this.countedRow;
      this.line = line;
      this.fate = fate;
      return;
    }
  }

  /** The row that counts for the line that begins with this one. */
  private countedFrom(row: number, fate: number): number {
    if (fate === Fate.Kept) return row;
    let at = this.index + 1;
    for (let number = this.frame; number < this.frames.length; number++) {
      const { fates, others, length, base } = this.frames[number]!;
      for (; at < length; at++) {
        const other = others?.[at] ?? 0;
        if ((other & Other.Generated) !== 0) continue;
        if ((other & Other.Continued) === 0) return row;
        if (fates[at] === Fate.Kept) return base + at;
      }
      at = 0;
    }
    return row;
  }

  /** The number of the row that makes this one redundant. */
  get cause(): number | undefined {
    if (!hasCause(this.fate)) return undefined;
    this.causes ??= this.record.causesIn(this.frames[this.frame]!);
    const cause = this.causes[this.index]!;
    return cause === -1 ? undefined : cause;
  }
}
