/**
 * Filters that tell which names may be in a block of rows. The hash of each name sets two bits. If both bits of a name are
 * set, it may be in the block (a false positive in one block of seventy). Otherwise it is certainly not.
 */

export const BLOCK_SHIFT = 11;
export const BLOCK_ROWS: number = 1 << BLOCK_SHIFT;
/** Bytes of the filter of a whole block, and the number of bits in a bit index. */
export const FILTER_BYTES = 4096;
export const FILTER_BITS = 15;
const SMALLEST_BYTES = 64;

export function blocksOf(rows: number): number {
  return (rows + BLOCK_ROWS - 1) >> BLOCK_SHIFT;
}

export function blockOf(row: number): number {
  return row >> BLOCK_SHIFT;
}

/** Adds a name to the filter of a whole block, which begins at byte `start`. */
export function addName(filters: Uint8Array, start: number, hash: number): void {
  const [first, second] = bitsOf(hash);
  filters[start + (first >> 3)]! |= 1 << (first & 7);
  filters[start + (second >> 3)]! |= 1 << (second & 7);
}

/** Whether a name may be in the block of a filter, which may have been folded. */
export function mayHaveName(filter: Uint8Array, hash: number): boolean {
  const mask = filter.length * 8 - 1;
  return bitsOf(hash).every((bit) => (filter[(bit & mask) >> 3]! & (1 << (bit & 7))) !== 0);
}

/** Whether any of the names may be in any of the blocks. */
export function mayHaveAny(filters: readonly Uint8Array[], hashes: readonly number[]): boolean {
  return filters.some((filter) => hashes.some((hash) => mayHaveName(filter, hash)));
}

function bitsOf(hash: number): [number, number] {
  const mask = FILTER_BYTES * 8 - 1;
  return [hash & mask, (hash >>> FILTER_BITS) & mask];
}

/** The filter size for this many rows: about two bytes per row. */
export function filterBytesFor(rows: number): number {
  let bytes = FILTER_BYTES;
  while (bytes > SMALLEST_BYTES && bytes >= rows * 4) bytes /= 2;
  return bytes;
}

/** Shrinks the filter of a whole block: merges its halves until `bytes` bytes are left at its start. */
export function foldFilter(filter: Uint8Array, bytes: number): void {
  for (let half = FILTER_BYTES / 2; half >= bytes; half /= 2)
    for (let at = 0; at < half; at++) filter[at]! |= filter[half + at]!;
}
