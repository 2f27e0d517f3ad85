import { hashSlice, sameBytes } from "../bytes/hash.ts";
import { HOST_CLASSES } from "../bytes/ascii.ts";
import type { Chunk } from "../rules/chunk.ts";
import { Fate } from "../rules/fate.ts";
import { Flag, Kind } from "../rules/kind.ts";
import { RowSet } from "../rules/row-set.ts";
import { rewriteText, textOf } from "../rules/row-text.ts";
import { type ChunkPool, rowOf } from "../rules/rule-table.ts";
import { maskOf } from "../syntax/classify.ts";
import { isPlainName } from "../syntax/judge-row.ts";
import { LeadingComments } from "./leading-comments.ts";
import type { Transformation } from "./transformation.ts";

export const deduplicate: Transformation = {
  summary: "Drops lines whose text stands in the list again",
  details:
    "The last copy stays, with the comments above it; the comments and empty lines above a dropped copy go with it. Text is compared byte by byte. Comments and empty lines are never duplicates.",
  run(rules, { compresses }) {
    const isUnique = compresses === true;
    const seen = new RowSet(isUnique ? 1024 : rules.length);
    const comments = new LeadingComments();
    for (let index = rules.chunks.length - 1; index >= 0; index--) {
      const chunk = rules.chunks[index]!;
      for (let row = chunk.length - 1; row >= 0; row--) {
        if (chunk.fate[row] !== Fate.Live || comments.takes(chunk, row)) continue;
        // Compress left one row a name; only addresses are written anew after it.
        if (isUnique && isPlainName(chunk, row) && isBlockText(chunk, row)) {
          comments.kept();
          continue;
        }
        if (isOddBlock(chunk, row)) rewriteText(chunk, row, textOf(chunk, row));
        const hash = identityHash(chunk, row);
        const twin = findTwin(rules.pool, seen, hash, chunk, row);
        if (twin === -1) {
          seen.add(hash, chunk.idOf(row));
          comments.kept();
        } else {
          chunk.dropFor(row, Fate.Duplicate, twin);
          comments.dropped();
        }
      }
    }
  },
};

/** A converted name that `||…^` in a list would not be read as: its text has to be written out to be compared. */
function isOddBlock(chunk: Chunk, row: number): boolean {
  if ((chunk.flags[row]! & (Flag.AsBlock | Flag.PlainHost)) !== Flag.AsBlock) return false;
  const mask = maskOf(chunk.bytesOf(row), chunk.hostStart[row]!, chunk.hostEnd[row]!);
  return (mask & ~HOST_CLASSES) !== 0;
}

/**
 * Rows whose text is `||host^`, stored so or standing for it, are compared by host; all others by text. No text falls
 * into both classes, and the hashes are kept apart.
 */
function isBlockText(chunk: Chunk, row: number): boolean {
  const flags = chunk.flags[row]!;
  if ((flags & Flag.AsBlock) !== 0) return true;
  return (
    chunk.kind[row] === Kind.Block &&
    (flags & Flag.UpperHost) === 0 &&
    chunk.hostStart[row] === chunk.start[row]! + 2 &&
    chunk.hostEnd[row] === chunk.end[row]! - 1
  );
}

/** The host's own hash, kept apart from the same bytes as text. */
function identityHash(chunk: Chunk, row: number): number {
  if (isBlockText(chunk, row)) return ~chunk.hostHash[row]!;
  return hashSlice(chunk.bytesOf(row), chunk.start[row]!, chunk.end[row]!);
}

function findTwin(pool: ChunkPool, seen: RowSet, hash: number, chunk: Chunk, row: number): number {
  for (let slot = seen.first(hash); slot !== -1; slot = seen.next(slot, hash)) {
    const id = seen.idAt(slot);
    if (isSameText(chunk, row, pool.chunkOf(id), rowOf(id))) return id;
  }
  return -1;
}

function isSameText(a: Chunk, aRow: number, b: Chunk, bRow: number): boolean {
  const isBlock = isBlockText(a, aRow);
  if (isBlock !== isBlockText(b, bRow)) return false;
  return isBlock
    ? sameBytes(
        a.bytesOf(aRow),
        a.hostStart[aRow]!,
        a.hostEnd[aRow]!,
        b.bytesOf(bRow),
        b.hostStart[bRow]!,
        b.hostEnd[bRow]!,
      )
    : sameBytes(
        a.bytesOf(aRow),
        a.start[aRow]!,
        a.end[aRow]!,
        b.bytesOf(bRow),
        b.start[bRow]!,
        b.end[bRow]!,
      );
}
