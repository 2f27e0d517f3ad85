import { indexOfBytes } from "../bytes/search.ts";
import { encodeUtf8 } from "../bytes/utf8.ts";
import { Fate } from "../rules/fate.ts";
import type { FileLines, LineRange } from "../syntax/list-scan.ts";
import type { TextBlock } from "../syntax/text-block.ts";
import { LINE_COUNT } from "./line-count.ts";
import type { LineSink } from "./source-list.ts";
import type { SourceGauge } from "./source-gauge.ts";

const BADFILTER = encodeUtf8("badfilter");

/** Counts lines and measures them without keeping any. */
export class CheckSink implements LineSink {
  hasBadfilter = false;
  lines = 0;
  private readonly gauge: SourceGauge | undefined;

  constructor(gauge?: SourceGauge) {
    this.gauge = gauge;
  }

  begin(label: string, place: string): FileLines {
    return LINE_COUNT.begin(label, place);
  }

  read(file: FileLines, block: TextBlock, stretch: LineRange): void {
    this.hasBadfilter ||= indexOfBytes(block.bytes, BADFILTER) !== -1;
    const before = file.nextLine;
    void LINE_COUNT.read(file, block, stretch);
    this.lines += file.nextLine - before;
    if (stretch.fate === Fate.Kept) this.gauge?.look(block.bytes, stretch.start, stretch.end);
  }

  nextLine(file: FileLines): number {
    return file.nextLine;
  }

  blank(): void {}
}
