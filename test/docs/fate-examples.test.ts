import assert from "node:assert/strict";
import { test } from "node:test";
import { FATE_EXAMPLES, settingsOf } from "../../scripts/fate-examples.ts";
import { FATE_ENTRIES } from "../../src/explain/glossary.ts";
import { MemoryProject } from "../support/memory-project.ts";
import { type Config, exampleIn, sectionsOf } from "../support/reference-page.ts";

/** What no files show: a plugin, a server, a line of 4 KiB, and 20 names of another source. */
const ELSEWHERE = ["cut-line", "over-budget", "own", "too-long"];

test("every fate has a heading, and an example whose line has it", async () => {
  const sections = sectionsOf("fates.md");
  const others: string[] = [];
  for (const name of FATE_ENTRIES.keys()) {
    const example = FATE_EXAMPLES[name as keyof typeof FATE_EXAMPLES];
    const section = sections.get(name) ?? "";
    assert.match(section, /^\n\nRank: [a-z-]+\. \S/, name);
    assert.match(section, /^```text title="list\.txt"\n/m, name);
    const { text, line = 1, file = "list.txt", files = {}, before, source, list } = example;
    const settings = settingsOf(example) as Config & { sources: object[] };
    if (source !== undefined || list !== undefined)
      assert.deepEqual(exampleIn(section, name), settings, name);
    const project = new MemoryProject({
      "own.txt": "||own.example^\n",
      ...Object.fromEntries(Object.entries(files).map(([path, lines]) => [path, `${lines}\n`])),
      "list.txt": `${before ?? text}\n`,
    });
    const sources = [...settings.sources, { source: "own.txt" }];
    project.write(
      "c.json",
      JSON.stringify({ name: "L", transformations: "recommended", ...settings, sources }),
    );
    const words = ["-c", "c.json", "--cache-dir", "/cache"];
    if (before !== undefined) {
      await project.run(...words);
      project.write("list.txt", `${text}\n`);
      project.now = "2027-02-18T00:00:00Z";
    }
    await project.run(...words, "--accept", "too-few-rules");
    const { stdout } = await project.run("stats", "--fate", name, ...words);
    if (!new RegExp(`^${file}:${line}:`, "m").test(stdout)) others.push(name);
  }
  assert.deepEqual(others.toSorted(), ELSEWHERE);
});
