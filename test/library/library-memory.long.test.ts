import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import process from "node:process";
import { test } from "node:test";

const COMPILES = 200;
/** Megabytes. A kernel has 16 at least: one that stays behind after each compile would make it thousands. */
const MOST_USED = 3;
/** What the allocator of the process keeps grows for a while and then stays. */
const MOST_RESIDENT = 100;

interface Size {
  readonly used: number;
  readonly rss: number;
}

test(`memory does not grow over ${COMPILES} compiles in one process`, (context) => {
  const script = join(import.meta.dirname, "../support/compile-many.ts");
  const words = ["--expose-gc", script, String(COMPILES)];
  const sizes = JSON.parse(execFileSync(process.execPath, words, { encoding: "utf8" })) as Size[];
  const texts = sizes.map(({ used, rss }) => `${used.toFixed(0)} used, ${rss.toFixed(0)} resident`);
  context.diagnostic(`MB after each quarter: ${texts.join("; ")}`);
  assert.equal(sizes.length, 4);
  const [first, second, , last] = sizes as [Size, Size, Size, Size];
  assert.ok(
    last.used - second.used <= MOST_USED,
    `${(last.used - second.used).toFixed(1)} MB more`,
  );
  assert.ok(last.rss - first.rss <= MOST_RESIDENT, `${(last.rss - first.rss).toFixed(0)} MB more`);
});
