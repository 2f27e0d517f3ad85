import { RankList } from "../meaning/ranked-names.ts";
import type { Chunk } from "../rules/chunk.ts";
import { Fate } from "../rules/fate.ts";
import { Flag, Kind } from "../rules/kind.ts";
import { hostOf } from "../rules/row-text.ts";
import { fateOfLine } from "../feeds/feed-lines.ts";
import type { FileLines, LineRange } from "../syntax/list-scan.ts";
import { encodeUtf8 } from "../bytes/utf8.ts";
import type { CompilerError } from "../diagnostics/diagnostic.ts";
import { printable } from "../diagnostics/printable.ts";
import type { SourceList } from "../sources/source-list.ts";
import { sourceError } from "../sources/source-error.ts";
import type { TextBlock } from "../syntax/text-block.ts";
import type { Engine } from "./engine.ts";
import { ScanSink } from "./scan-sink.ts";

/** Reads a list of popular names, in its order. */
export class RankSink extends ScanSink {
  readonly list: RankList = new RankList();
  private place = 0;

  constructor(engine: Engine) {
    super(engine, true);
  }

  begin(): FileLines {
    return { origin: 0, nextLine: 1 };
  }

  /** Rows of a feed without a name keep their place, so that ranks are those of the list. */
  protected take(chunk: Chunk): void {
    const { bytes, start, end } = chunk;
    for (let row = 0; row < chunk.length; row++) {
      const fate = fateOfLine(bytes, start[row]!, end[row]!);
      const kind = chunk.kind[row]!;
      if (fate === Fate.Kept && (chunk.fate[row] !== Fate.Kept || kind <= Kind.Comment)) continue;
      // A header, or rows that `where` leaves out.
      if (fate === Fate.NoValue || fate === Fate.NotChosen) continue;
      this.place++;
      const flags = chunk.flags[row]!;
      if (fate !== Fate.Kept || kind !== Kind.Domain || (flags & Flag.PlainHost) === 0) continue;
      if ((flags & Flag.UpperHost) !== 0) {
        const name = encodeUtf8(hostOf(chunk, row).toLowerCase());
        this.list.add(name, 0, name.length, this.place);
      } else
        this.list.add(chunk.bytesOf(row), chunk.hostStart[row]!, chunk.hostEnd[row]!, this.place);
    }
    chunk.leave();
  }
}

/** Rejects with a `CompilerError` if a list has no names. It can still be read afterwards. */
export async function refuseNoRanks(
  list: SourceList,
  shown: string,
  engine: Engine,
): Promise<void> {
  const sink = new FirstNames(engine);
  await list.readAhead(sink);
  sink.end();
  if (sink.list.length === 0) throw noRanks(shown);
}

/** Reads until there is a name. */
class FirstNames extends RankSink {
  override read(file: FileLines, block: TextBlock, range: LineRange): void {
    if (this.list.length > 0) return;
    super.read(file, block, range);
    this.end();
  }
}

export function noRanks(shown: string): CompilerError {
  return sourceError(
    "bad-feed",
    `${printable(shown)} has no names, and so no ranks`,
    "its lines are neither names nor what its type describes",
  );
}
