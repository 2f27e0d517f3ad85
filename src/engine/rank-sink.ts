import { RankList } from "../meaning/ranked-names.ts";
import type { Chunk } from "../rules/chunk.ts";
import { Fate } from "../rules/fate.ts";
import { Flag, Kind } from "../rules/kind.ts";
import { hostOf } from "../rules/row-text.ts";
import { ChunkPool } from "../rules/rule-table.ts";
import { fateOfLine } from "../feeds/feed-lines.ts";
import type { LineSink } from "../sources/source-list.ts";
import { type FileLines, ListScan, type LineRange } from "../syntax/list-scan.ts";
import type { TextBlock } from "../syntax/text-block.ts";
import { encodeUtf8 } from "../bytes/utf8.ts";
import type { Engine } from "./engine.ts";

/** Reads a list of popular names, in its order. */
export class RankSink implements LineSink {
  readonly list: RankList = new RankList();
  private place = 0;
  private readonly scan: ListScan;

  constructor({ kernel, scanner }: Engine) {
    this.scan = new ListScan(
      new ChunkPool(kernel),
      { hashComments: true, splitHosts: false, scanner },
      (chunk) => this.take(chunk),
    );
  }

  begin(): FileLines {
    return { origin: 0, nextLine: 1 };
  }

  read(file: FileLines, block: TextBlock, range: LineRange): void {
    this.scan.read(file, block, range);
  }

  nextLine(file: FileLines): number {
    return file.nextLine;
  }

  blank(): void {}

  end(): void {
    this.scan.flush();
  }

  /** Rows of a feed without a name keep their place, so that ranks are those of the list. */
  private take(chunk: Chunk): void {
    const { bytes, start, end } = chunk;
    for (let row = 0; row < chunk.length; row++) {
      const fate = fateOfLine(bytes, start[row]!, end[row]!);
      const kind = chunk.kind[row]!;
      if (fate === Fate.Live && (chunk.fate[row] !== Fate.Live || kind <= Kind.Comment)) continue;
      // A header, or rows that `where` leaves out.
      if (fate === Fate.NoValue || fate === Fate.NotChosen) continue;
      this.place++;
      const flags = chunk.flags[row]!;
      if (fate !== Fate.Live || kind !== Kind.Domain || (flags & Flag.PlainHost) === 0) continue;
      if ((flags & Flag.UpperHost) !== 0) {
        const name = encodeUtf8(hostOf(chunk, row).toLowerCase());
        this.list.add(name, 0, name.length, this.place);
      } else
        this.list.add(chunk.bytesOf(row), chunk.hostStart[row]!, chunk.hostEnd[row]!, this.place);
    }
    chunk.leave();
  }
}
