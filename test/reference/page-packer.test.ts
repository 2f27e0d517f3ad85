import assert from "node:assert/strict";
import { test } from "node:test";
import { ByteWriter } from "hyparquet-writer";
import { encodeUtf8 } from "../../src/bytes/utf8.ts";
import { DomainFinder, MAYBE_SUFFIX } from "../../src/kernel/domain-finder.ts";
import { KernelMemory } from "../../src/kernel/kernel-memory.ts";
import { LineScanner } from "../../src/kernel/line-scanner.ts";
import { PagePacker } from "../../src/kernel/page-packer.ts";
import { ByteReader } from "../../src/parquet/byte-reader.ts";
import { readRuns } from "../../src/parquet/packed-numbers.ts";
import { TextColumn } from "../../src/parquet/text-column.ts";
import { suffixTables } from "../../src/syntax/public-suffix.ts";
import { deepDomains, registrableStart } from "../../src/syntax/registrable-domain.ts";
import { Random } from "../support/random.ts";
import { packNumbers } from "./pack-numbers.ts";

const LENGTHS = [0, 1, 2, 7, 8, 9, 31, 33, 128, 129, 130, 161, 257, 1000, 5000];

test("numbers: the kernel writes the bytes of the reference", () => {
  const random = new Random(1);
  const packer = new PagePacker(new KernelMemory());
  for (const most of [1, 2, 100, 300, 70_000, 20_000_000, 2 ** 31 - 1])
    for (const length of LENGTHS) {
      let last = 0;
      const numbers = Int32Array.from({ length }, () =>
        random.chance(0.5) ? last : (last = random.below(most)),
      );
      const page = new ByteWriter();
      packNumbers(page, numbers);
      assert.deepEqual(packer.numbers(numbers), page.getBytes(), `${length} up to ${most}`);
    }
});

test("runs: the reader finds the numbers again", () => {
  const random = new Random(2);
  const packer = new PagePacker(new KernelMemory());
  for (const bits of [1, 2, 3, 6, 8, 9, 17, 24])
    for (const length of LENGTHS)
      for (const steady of [0, 0.5, 0.95]) {
        let last = 0;
        const numbers = Int32Array.from({ length }, () =>
          random.chance(steady) ? last : (last = random.below(2 ** bits)),
        );
        const bytes = packer.runs(numbers, bits).slice();
        const reader = new ByteReader(bytes);
        assert.deepEqual(readRuns(reader, bits, length), numbers, `${length} of ${bits} bits`);
        assert.equal(reader.left, 0);
      }
});

test("domains: the kernel finds those of the reference, or leaves them to it", () => {
  const random = new Random(3);
  const kernel = new KernelMemory();
  // Gives the kernel the filters of suffixes.
  const scanner = new LineScanner(kernel, suffixTables());
  assert.equal(scanner.unknown.length, 0);
  const finder = new DomainFinder(kernel, deepDomains());
  const label = (): string =>
    random.pick(["a", "com", "co", "uk", "jp", "kawasaki", "city", "de", "k12", "ma", "us", "ck"]);
  const names = ["com", "www.ck", "a.pvt.k12.ma.us"];
  while (names.length < 4000) names.push(random.times(1 + random.below(6), label).join("."));
  const column = new TextColumn("name", kernel);
  for (const name of names) column.addText(name);
  const found = finder.find(column.slicesFrom(0), names.length);
  const own = found.slice();
  let [start, left] = [0, 0];
  for (const [index, name] of names.entries()) {
    const bytes = encodeUtf8(name);
    const expected = registrableStart(bytes, 0, bytes.length);
    if (own[index] === MAYBE_SUFFIX) left++;
    else assert.equal(own[index]! < 0 ? own[index] : own[index]! - start, expected, name);
    start += name.length;
  }
  assert.ok(left > 100 && left < 3000, String(left));
});
