import { Fate } from "../rules/fate.ts";
import type { FeedLines } from "./feed-lines.ts";
import type { FeedReader } from "./feed-reader.ts";
import type { FeedSettings } from "./feed-settings.ts";
import { FeedValues } from "./feed-value.ts";
import { WholeLines } from "./whole-lines.ts";

/** One URL or name a line. */
export class UrlFeed implements FeedReader {
  private readonly values: FeedValues;
  private readonly rows = new WholeLines();

  constructor({ urls }: FeedSettings) {
    this.values = new FeedValues(urls);
  }

  take(bytes: Uint8Array, lines: FeedLines): void {
    this.rows.take(bytes, (text, start, end) => this.line(text, start, end, lines));
  }

  end(lines: FeedLines): void {
    this.rows.end((text, start, end) => this.line(text, start, end, lines));
  }

  private line(bytes: Uint8Array, from: number, end: number, lines: FeedLines): void {
    let start = from;
    while (start < end && bytes[start]! <= 32) start++;
    if (start === end) {
      lines.blank();
      return;
    }
    // `#`, `!` or `;`
    if (bytes[start] === 35 || bytes[start] === 33 || bytes[start] === 59) {
      lines.comment(bytes, start + 1, end);
      return;
    }
    let stop = start;
    while (stop < end && bytes[stop]! > 32) stop++;
    const before = lines.length;
    this.values.write(bytes, start, stop, lines);
    if (lines.length === before) lines.dropped(Fate.BadSyntax);
  }
}
