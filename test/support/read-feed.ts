import { FeedLines, type FeedSettings } from "../../src/feeds/feed.ts";
import { openFeed } from "../../src/feeds/registry.ts";
import { loadIdna } from "../../src/syntax/written-names.ts";

await loadIdna();

/** The lines of a feed that arrives in pieces of the given sizes, which are repeated. */
export function readFeed(
  bytes: Uint8Array | string,
  settings: FeedSettings,
  sizes: readonly number[] = [65_536],
  now: Date = new Date("2026-11-16T00:00:00Z"),
): string[] {
  const all = typeof bytes === "string" ? new TextEncoder().encode(bytes) : bytes;
  const reader = openFeed(settings, now);
  const lines = new FeedLines(16);
  let text = "";
  for (let at = 0, turn = 0; at < all.length; turn++) {
    const size = Math.max(1, sizes[turn % sizes.length]!);
    // A copy that is overwritten afterwards: readers must not keep what they are given.
    const piece = new Uint8Array(all.subarray(at, at + size));
    reader.take(piece, lines);
    piece.fill(0xff);
    at += size;
    text += new TextDecoder().decode(lines.view());
    lines.clear();
  }
  reader.end(lines);
  text += new TextDecoder().decode(lines.view());
  return text === "" ? [] : text.replace(/\n$/, "").split("\n");
}

/** The names among lines of a feed. */
export function namesOf(lines: readonly string[]): string[] {
  return lines.filter((line) => line !== "" && !line.includes("#"));
}

/** What a line of a feed may be: a name, a name or nothing with a fate, a comment, or blank. */
export const SAFE_LINE: RegExp =
  /^(?:(?:(?=.{1,253}(?: |$))(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+(?!\d+(?: |$)|0x[0-9a-f]*(?: |$))[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)(?: #[ps])?|#[nwihx]|# [ -~]*|)$/;
