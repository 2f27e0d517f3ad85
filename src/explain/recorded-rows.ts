import { Other } from "../kernel/kernel-layout.ts";
import type { BuildRecord, Frame } from "../record/build-record.ts";
import { Fate, hasCause } from "../rules/fate.ts";

/** Walks the rows of one file in the order of its lines. */
export class RecordedRows {
  row = 0;
  line = 0;
  /** The number of the name in its line, from 1. */
  part = 0;
  fate = 0;
  cause: number | undefined;
  private readonly record: BuildRecord;
  private readonly frames: readonly Frame[];
  private frame = 0;
  private index = -1;
  private causes: Int32Array | undefined;

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

  /**
   * How many rows, at most `most`, are consecutive lines with one row each, from the current one on. The last row of a frame is not: the next
   * frame may continue its line.
   */
  run(most: number): number {
    const frame = this.frames[this.frame];
    if (frame === undefined || frame.lines !== undefined) return 0;
    const { fates, others } = frame;
    const from = this.index;
    const end = Math.min(from + most, frame.length - 1);
    let to = from;
    for (; to < end; to++) {
      if (fates[to] === Fate.Spare) break;
      if (others === undefined) continue;
      if (((others[to]! | others[to + 1]!) & (Other.Generated | Other.Continued)) !== 0) break;
    }
    return to - from;
  }

  /** The fates of a run. */
  fatesOf(run: number): Uint8Array {
    return this.frames[this.frame]!.fates.subarray(this.index, this.index + run);
  }

  /** The causes of a run; -1 for a row without one. */
  causesOf(run: number): Int32Array {
    this.causes ??= this.record.causesIn(this.frames[this.frame]!);
    return this.causes.subarray(this.index, this.index + run);
  }

  /** Goes to the row after a run. */
  skip(run: number): void {
    this.index += run - 1;
    this.next();
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
      this.part = (other & Other.Continued) === 0 ? 1 : this.part + 1;
      this.row = base + index;
      this.line = line;
      this.fate = fate;
      this.cause = hasCause(fate) ? this.causeAt(frame) : undefined;
      return;
    }
  }

  private causeAt(frame: Frame): number | undefined {
    this.causes ??= this.record.causesIn(frame);
    const cause = this.causes[this.index]!;
    return cause === -1 ? undefined : cause;
  }
}
