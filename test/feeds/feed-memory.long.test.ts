import assert from "node:assert/strict";
import process from "node:process";
import { test } from "node:test";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { FeedError, FeedLines, type FeedSettings } from "../../src/feeds/feed.ts";
import { openFeed } from "../../src/feeds/registry.ts";

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

/** Endless feeds that try to make a reader keep what it has seen. */
const GREEDY: Readonly<Record<string, readonly [FeedSettings, string, string]>> = {
  "a string that does not end": [{ type: "json", path: "/*" }, '["', "x".repeat(1000)],
  "a key that does not end": [{ type: "json", path: "/*" }, '{"', "x".repeat(1000)],
  "many keys": [{ type: "json", path: "/*/a", where: { b: "1" } }, "{", '"k":{"a":"x"},'],
  "many values in a list": [
    { type: "json", path: "/*", where: { b: "1" } },
    "[",
    '"x.example.com",',
  ],
  "many rows": [{ type: "csv", column: "2" }, "", "1,a.example.com\n"],
  "many quoted rows": [{ type: "threatfox" }, "ioc_value,ioc_type\n", '"a.example.com","domain"\n'],
  "many blank lines": [{ type: "urls" }, "", "\n"],
  "many comments": [{ type: "csv", column: "a" }, "", "# comment\n"],
  "many columns": [{ type: "csv", column: "999" }, "", "a,"],
};

for (const [what, [settings, start, repeated]] of Object.entries(GREEDY))
  test(`memory is bounded: ${what}`, () => {
    const piece = Buffer.from(repeated.repeat(Math.ceil(262_144 / repeated.length)));
    const reader = openFeed(settings, new Date());
    const lines = new FeedLines(262_144);
    collect();
    const before = process.memoryUsage();
    try {
      reader.take(Buffer.from(start), lines);
      for (let count = 0; count < 24; count++) {
        reader.take(piece, lines);
        lines.clear();
      }
    } catch (error) {
      assert.ok(error instanceof FeedError);
    }
    assert.ok(lines.bytes.length < 4_000_000, `${lines.bytes.length} bytes of lines`);
    collect();
    const { heapUsed, arrayBuffers } = process.memoryUsage();
    const grown = heapUsed + arrayBuffers - before.heapUsed - before.arrayBuffers;
    assert.ok(grown < 4_000_000, `${grown} bytes`);
    assert.notEqual(reader, undefined, "it was in use until here");
  });
