import assert from "node:assert/strict";
import { test } from "node:test";
import * as zlib from "node:zlib";
import { crc32Of, slowCrc32 } from "../../src/sources/copies.ts";
import { Random } from "../support/random.ts";

test("the checksum is the CRC-32 of zip, in any pieces, with the runtime's function and without it", async () => {
  assert.equal(slowCrc32(new TextEncoder().encode("123456789"), 0), 0xcbf4_3926);
  const random = new Random(8);
  for (let round = 0; round < 200; round++) {
    const bytes = Uint8Array.from({ length: random.below(3000) }, () => random.below(256));
    const pieces: Uint8Array[] = [];
    for (let at = 0; at < bytes.length;) {
      const end = at + 1 + random.below(bytes.length - at);
      pieces.push(bytes.subarray(at, end));
      at = end;
    }
    const whole = slowCrc32(bytes, 0);
    assert.equal(
      pieces.reduce((crc, piece) => slowCrc32(piece, crc), 0),
      whole,
    );
    assert.equal(await crc32Of(pieces), whole);
    // Deno 2.0 does not have it.
    if (typeof zlib.crc32 === "function") assert.equal(zlib.crc32(bytes), whole);
  }
});
