import type { ByteWriter } from "hyparquet-writer";

const BLOCK = 128;
const MINIBLOCKS = 4;

/**
 * Writes numbers from 0 to 2³¹ - 1 as DELTA_BINARY_PACKED, with differences of whole bytes. The writer of the library uses as few bits as
 * possible, which zstd cannot compress: lengths of names then take half a byte more.
 */
export function packNumbers(page: ByteWriter, values: Int32Array): void {
  page.appendVarInt(BLOCK);
  page.appendVarInt(MINIBLOCKS);
  page.appendVarInt(values.length);
  appendSigned(page, values[0] ?? 0);
  const packed = new Uint8Array(BLOCK * 4);
  for (let from = 1; from < values.length; from += BLOCK) {
    const to = Math.min(values.length, from + BLOCK);
    const first = values[from]! - values[from - 1]!;
    let least = first;
    let most = first;
    for (let at = from + 1; at < to; at++) {
      const delta = values[at]! - values[at - 1]!;
      if (delta < least) least = delta;
      if (delta > most) most = delta;
    }
    const width = least === most ? 0 : bytesFor(least, most);
    // The same in all blocks, so that equal differences are equal bytes.
    const base = width === 0 ? first : -(2 ** (width * 8 - 1));
    appendSigned(page, base);
    for (let part = 0; part < MINIBLOCKS; part++) page.appendUint8(width * 8);
    if (width === 0) continue;
    // A last block is filled up to the end of its last miniblock; readers ignore the others.
    const size = Math.ceil((to - from) / (BLOCK / MINIBLOCKS)) * (BLOCK / MINIBLOCKS) * width;
    packed.fill(0, (to - from) * width, size);
    for (let at = from, out = 0; at < to; at++) {
      const value = values[at]! - values[at - 1]! - base;
      for (let byte = 0; byte < width; byte++) packed[out++] = value >>> (byte * 8);
    }
    page.appendBytes(packed.subarray(0, size));
  }
}

/** A zigzag varint. The library's own takes 31 bits only, or a BigInt. */
function appendSigned(page: ByteWriter, value: number): void {
  let rest = value < 0 ? -value * 2 - 1 : value * 2;
  for (; rest > 127; rest = Math.floor(rest / 128)) page.appendUint8((rest % 128) + 128);
  page.appendUint8(rest);
}

function bytesFor(least: number, most: number): number {
  for (let width = 1; width < 4; width++) {
    const limit = 2 ** (width * 8 - 1);
    if (least >= -limit && most < limit) return width;
  }
  return 4;
}
