import type { FeedLines } from "./feed-lines.ts";

/** Turns a feed into lines: a name, or why a row has none. Memory does not grow with the feed. */
export interface FeedReader {
  /** Takes the next bytes, which may end anywhere. Throws a `FeedError`. */
  take(bytes: Uint8Array, lines: FeedLines): void;
  /** The feed is complete. Throws a `FeedError`. */
  end(lines: FeedLines): void;
}

/** The bytes are not the feed that the settings describe, or only a part of it. */
export class FeedError extends Error {}

/** The longest row or value. Real ones are below 10 KB. */
export const LONGEST_ROW = 65_536;
