import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { COUNTS } from "../../src/explain/glossary.ts";
import { MemoryProject } from "../support/memory-project.ts";
import { listIn } from "../support/documents.ts";

/**
 * One word for each thing: lines are kept or dropped. The glossary has the words, and no view has another one for them.
 */

const root = join(import.meta.dirname, "../..");

/** Other words for kept and dropped lines, in texts that a person reads. */
const OTHER_WORDS =
  /["'`> ](?:[Ll]ive lines?|[Ll]ines? (?:left out|rejected|not in the list)|[Rr]ejected lines?|[Ll]eft out|[Nn]ot in the list|[Ii]n the list|[Rr]ules in the list|[Ll]ines read|[Rr]ejected)["'`<]/;

test("no view has its own word for kept and dropped lines", () => {
  const folders = ["src/cli", "src/explain", "src/report", "src/server", "site/playground"];
  for (const folder of folders)
    for (const file of readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })) {
      if (!/\.(?:ts|html)$/.test(file) || /node_modules|^glossary\.ts$/.test(file)) continue;
      const text = readFileSync(join(root, folder, file), "utf8");
      for (const [index, line] of text.split("\n").entries()) {
        if (/^\s*(?:\/?\*|\/\/)/.test(line)) continue;
        // The answer about a name, not about a line.
        const found = OTHER_WORDS.exec(line.replace('neither: "not in the list"', ""));
        assert.equal(found, null, `${join(folder, file)}:${index + 1}: ${line}`);
      }
    }
});

test("summary, stats, lines, why and JSON say the same words and numbers about a source", async () => {
  const project = new MemoryProject({
    "c.json": JSON.stringify({
      name: "L",
      sources: [{ name: "A", source: "a.txt", type: "adblock" }],
      transformations: ["RemoveComments", "Compress", "Validate"],
    }),
    "a.txt": "! c\n||a.example^\n||x.a.example^\n||com^\n||b.example^\n",
  });
  const run = async (...words: string[]): Promise<string> => {
    const { stdout, stderr } = await project.run(...words, "-c", "c.json");
    return stdout + stderr;
  };
  const columns = [COUNTS.lines[0], COUNTS.kept[0], COUNTS.dropped[0]];
  const heading = new RegExp(`^ +source +${columns.join(" +")} `, "m");
  const summary = await run();
  for (const screen of [summary, await run("stats")]) {
    assert.match(screen, heading);
    assert.match(screen, /^ +A +5 +2 +3 /m);
  }
  const { sources } = listIn(await run("stats", "--json")) as { sources: object[] };
  assert.deepEqual(Object.keys(sources[0]!), [
    "label",
    "lines",
    "kept",
    "dropped",
    "redundant",
    "rules",
    "onlyHere",
    "state",
  ]);
  assert.match(await run("stats", "--fate", "kept"), /^a\.txt:2: \|\|a\.example\^$/m);
  assert.match(await run("stats", "--fate", "live"), /Unknown fate: live/);
  assert.match(await run("why", "a.example"), /^ +A:2 +\|\|a\.example\^ +kept$/m);
  assert.match(await run("why", "com"), /^ +A:4 +\|\|com\^ +public-suffix, /m);
});
