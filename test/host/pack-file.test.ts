import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import zlib from "node:zlib";
import { packFile } from "../../src/host/node-pack-file.ts";
import { Random } from "../support/random.ts";

const folder = mkdtempSync(join(tmpdir(), "pack-"));
after(() => rmSync(folder, { recursive: true }));

const UNPACK = {
  gzip: zlib.gunzipSync,
  br: zlib.brotliDecompressSync,
  zstd: zlib.zstdDecompressSync,
} as const;

test("files of any size are packed as they are: pieces share memory, and none is overwritten too early", async () => {
  const random = new Random(1);
  for (const size of [0, 1000, 65_536, 65_537, 1024 * 1024, 2_200_001]) {
    const from = join(folder, `${size}`);
    // Half of it hardly packs, so that the packer is slower than the disk.
    const bytes = Uint8Array.from({ length: size }, (_, at) =>
      (at >> 16) % 2 === 0 ? random.below(256) : at & 7,
    );
    writeFileSync(from, bytes);
    for (const packing of ["gzip", "br", "zstd"] as const) {
      const to = `${from}.${packing}`;
      const work = packFile(from, to, packing, "quick");
      // Not every runtime has zstd.
      if (work === undefined) continue;
      await work;
      assert.ok(UNPACK[packing](readFileSync(to)).equals(bytes), to);
    }
  }
});

test("a packed file that cannot be written ends the work, and an existing one stays", async () => {
  const from = join(folder, "large");
  writeFileSync(from, "x".repeat(5_000_000));
  const taken = join(folder, "taken");
  writeFileSync(taken, "old");
  await assert.rejects(packFile(from, taken, "gzip", "quick")!, { code: "EEXIST" });
  assert.equal(readFileSync(taken, "utf8"), "old");
  await assert.rejects(packFile(from, join(folder, "none", "x"), "gzip")!, { code: "ENOENT" });
});
