import type { FeedLines } from "./feed-lines.ts";
import type { FeedReader } from "./feed-reader.ts";

/** A feed that is CSV or JSON; its first character decides. */
export class DetectedFeed implements FeedReader {
  private readonly openCsv: () => FeedReader;
  private readonly openJson: () => FeedReader;
  private reader: FeedReader | undefined;

  constructor(openCsv: () => FeedReader, openJson: () => FeedReader) {
    this.openCsv = openCsv;
    this.openJson = openJson;
  }

  take(bytes: Uint8Array, lines: FeedLines): void {
    if (this.reader === undefined) {
      const first = bytes.find((byte) => byte > 32 && byte < 128);
      // `{` or `[`
      this.reader = first === 123 || first === 91 ? this.openJson() : this.openCsv();
    }
    this.reader.take(bytes, lines);
  }

  end(lines: FeedLines): void {
    this.reader?.end(lines);
  }
}
