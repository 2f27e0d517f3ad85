import { BLOCK_ROWS, mayHaveAny } from "../kernel/name-filter.ts";
import type { Frame } from "../record/build-record.ts";
import { Block } from "../record/record-format.ts";

/** A part of a file, from the text of one row to the text of another. The first and last line may be incomplete. */
export interface Span {
  /** Position of the text of its first row. */
  readonly start: number;
  /** Position of the text of the row after it; infinite at the end of the file. */
  readonly end: number;
  /** Line number of its first row. */
  readonly line: number;
  /** Whether the lines that the name filters do not cover have only lower-case ASCII letters. */
  readonly isPlain: boolean;
}

/** Reading a smaller gap is faster than a second read. */
const SMALLEST_GAP = 65_536;

/** The parts of a file that may contain one of some names, by their hashes. */
export function spansOf(frames: readonly Frame[], hashes: readonly number[]): Span[] {
  const spans: Span[] = [];
  const inOrder = frames.toSorted((a, b) => a.position - b.position);
  for (const [index, frame] of inOrder.entries())
    for (const span of spansIn(frame, inOrder[index + 1]?.position ?? Infinity, hashes)) {
      const last = spans.at(-1);
      if (last === undefined || span.start - last.end >= SMALLEST_GAP) spans.push(span);
      else
        spans[spans.length - 1] = {
          ...last,
          end: span.end,
          isPlain: last.isPlain && span.isPlain,
        };
    }
  return spans;
}

function* spansIn(frame: Frame, frameEnd: number, hashes: readonly number[]): Generator<Span> {
  const { marks, position, length, blocks, firstLine, lines } = frame;
  const starts = [{ row: 0, position }, ...marks];
  for (const [index, { row, position: start }] of starts.entries()) {
    const next = starts[index + 1] ?? { row: length, position: frameEnd };
    const [from, to] = [row / BLOCK_ROWS, Math.ceil(next.row / BLOCK_ROWS)];
    const about = blocks.about.subarray(from, to);
    const isWanted =
      about.some((one) => (one & Block.Nameless) !== 0) ||
      mayHaveAny(blocks.filters.slice(from, to), hashes);
    if (!isWanted) continue;
    const line = lines === undefined ? firstLine + row : lines[row]!;
    const isPlain = about.every((one) => (one & Block.OddLetters) === 0);
    yield { start, end: next.position, line, isPlain };
  }
}
