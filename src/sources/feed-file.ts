import { BACKSLASH } from "../bytes/ascii.ts";
import { ByteBuffer } from "../bytes/byte-buffer.ts";
import { isAscii } from "../bytes/utf8.ts";
import type { OpenFile } from "../host/host.ts";
import { FeedLines } from "../feeds/feed-lines.ts";
import { FeedError, type FeedReader } from "../feeds/feed-reader.ts";
import type { FeedSettings } from "../feeds/feed-settings.ts";
import { openFeed } from "../feeds/registry.ts";
import { loadIdna } from "../syntax/idna.ts";
import { openAgain } from "./web-text.ts";

const PIECE = 256 * 1024;

/** The lines of a feed, in the form of a file. It can be read once. */
export class FeedFile implements OpenFile {
  /** Unknown until the end is reached. */
  readonly size: number = Infinity;
  readonly stamp: OpenFile["stamp"];
  private readonly file: OpenFile;
  private readonly reader: FeedReader;
  private readonly lines = new FeedLines(PIECE);
  /** How many bytes of the lines were handed out. */
  private given = 0;
  private readonly piece = new Uint8Array(PIECE);
  private isOver = false;
  private hasIdna = false;
  private first: Uint8Array | undefined;

  /** `first` is the part of the file that has been read already, `now` decides which entries are valid. */
  constructor(file: OpenFile, settings: FeedSettings, first: Uint8Array, now: Date) {
    this.file = file;
    this.stamp = file.stamp;
    this.reader = openFeed(settings, now);
    this.first = withoutMark(first);
  }

  /** Rejects with a `FeedError`, too. */
  async read(into: Uint8Array): Promise<number> {
    let count = 0;
    while (count < into.length) {
      const some = this.lines.bytes.subarray(
        this.given,
        Math.min(this.lines.length, this.given + into.length - count),
      );
      into.set(some, count);
      count += some.length;
      this.given += some.length;
      if (count === into.length || this.isOver) break;
      this.lines.clear();
      this.given = 0;
      await this.readOn();
    }
    return count;
  }

  close(): Promise<void> {
    return this.file.close();
  }

  private async readOn(): Promise<void> {
    const { first, reader } = this;
    this.first = undefined;
    const bytes = first ?? this.piece.subarray(0, await this.file.read(this.piece));
    if (bytes.length === 0 && first === undefined) {
      this.isOver = true;
      reader.end(this.lines);
      return;
    }
    // JSON may escape letters that are not ASCII.
    if (!this.hasIdna && (!isAscii(bytes) || bytes.includes(BACKSLASH))) {
      await loadIdna();
      this.hasIdna = true;
    }
    reader.take(bytes, this.lines);
  }
}

/** The lines of a feed that is in memory; undefined if it cannot be read. */
export async function feedText(
  bytes: Uint8Array,
  settings: FeedSettings,
  now: Date,
): Promise<Uint8Array | undefined> {
  const lines = new FeedFile(
    openAgain(0, () => {}),
    settings,
    bytes,
    now,
  );
  const text = new ByteBuffer(PIECE);
  const piece = new Uint8Array(PIECE);
  try {
    for (let count = -1; count !== 0;) {
      count = await lines.read(piece);
      text.append(piece, 0, count);
    }
    return text.view();
  } catch (error) {
    if (error instanceof FeedError) return undefined;
    throw error;
  }
}

/** The text without a byte order mark. */
function withoutMark(bytes: Uint8Array): Uint8Array {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? bytes.subarray(3) : bytes;
}
