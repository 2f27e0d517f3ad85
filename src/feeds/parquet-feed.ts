import { Fate } from "../rules/fate.ts";
import type { OpenFile } from "../host/host.ts";
import { ColumnReader } from "../parquet/column-reader.ts";
import { ParquetError } from "../parquet/parquet-error.ts";
import type { FeedLines } from "./feed-lines.ts";
import { FeedError } from "./feed-reader.ts";
import type { FeedSettings } from "./feed-settings.ts";
import { FeedValues } from "./feed-value.ts";

/** Names and URLs of real feeds are shorter. */
const LONGEST_VALUE = 4096;
/** Texts may take this many times the size of the file; real names take less than 20 times. */
const MOST_GROWTH = 200;
const LEAST_ROOM = 16 * 1024 * 1024;

/** Reads one column of a Parquet file. It needs the whole file: the footer describes the pages. */
export class ParquetFeed {
  private readonly reader: ColumnReader;
  private readonly values: FeedValues;
  private room: number;

  constructor(file: OpenFile, { column = "1", urls }: FeedSettings) {
    this.reader = new ColumnReader(file, column);
    this.values = new FeedValues(urls);
    this.room = LEAST_ROOM + file.size * MOST_GROWTH;
  }

  /** Adds the lines of the next page; returns false at the end. Rejects with a `FeedError`, too. */
  async readOn(lines: FeedLines): Promise<boolean> {
    try {
      return await this.reader.readPage((bytes, start, end) => {
        this.room -= end - start + 1;
        if (this.room < 0) throw new ParquetError("its texts are too large for its size");
        if (bytes === undefined) lines.dropped(Fate.NoValue);
        else if (end - start > LONGEST_VALUE) lines.dropped(Fate.BadSyntax);
        else this.values.write(bytes, start, end, lines);
      });
    } catch (error) {
      throw error instanceof ParquetError ? new FeedError(error.message) : error;
    }
  }
}
