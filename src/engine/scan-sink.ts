import type { Chunk } from "../rules/chunk.ts";
import { ChunkPool } from "../rules/rule-table.ts";
import type { LineSink } from "../sources/source-list.ts";
import { type FileLines, type LineRange, ListScan } from "../syntax/list-scan.ts";
import type { TextBlock } from "../syntax/text-block.ts";
import type { Engine } from "./engine.ts";

/** Reads the lines of files that are not compiled, such as names, as rows. */
export abstract class ScanSink implements LineSink {
  private readonly scan: ListScan;

  /** `hashComments` tells whether every line that begins with `#` is a comment. */
  constructor({ kernel, scanner }: Engine, hashComments: boolean) {
    this.scan = new ListScan(
      new ChunkPool(kernel),
      { hashComments, splitHosts: false, scanner },
      (chunk) => this.take(chunk),
    );
  }

  abstract begin(label: string): FileLines;

  protected abstract take(chunk: Chunk): void;

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
}
