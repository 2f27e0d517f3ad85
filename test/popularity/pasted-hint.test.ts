import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { MemoryProject } from "../support/memory-project.ts";

/** The file of acknowledged names: where it is for someone in the folder of the project, and as written. */
const PLACES: readonly (readonly [string, string])[] = [
  ["known.txt", "known.txt"],
  ["lists/known.txt", "known.txt"],
  ["lists/my 'known' $(names).txt", "my 'known' $(names).txt"],
  // Not beside the configuration: it is looked for in the current folder, too.
  ["elsewhere.txt", "elsewhere.txt"],
];

for (const [file, written] of PLACES)
  test(
    `the command of the hint adds names to ${file}`,
    { skip: process.platform === "win32" && "the command is for a POSIX shell" },
    async (t) => {
      const config = {
        name: "N",
        sources: [{ source: "ads.txt", type: "adblock" }],
        ranks: ["top.csv"],
        guards: { newly_blocks: { top: 10, acknowledged: written } },
      };
      const one = new MemoryProject({
        [file === "known.txt" ? "c.json" : "lists/c.json"]: JSON.stringify(config),
        "ads.txt": "||rare.example^\n",
        "lists/ads.txt": "||rare.example^\n",
        "top.csv": "1,search.example\n2,shop.example\n",
        // Without a final line feed.
        [file]: "last.example",
      });
      const words = ["-c", file === "known.txt" ? "c.json" : "lists/c.json", "-o", "out.txt"];
      assert.equal((await one.run(...words)).exit, 0);
      for (const path of ["ads.txt", "lists/ads.txt"])
        one.write(path, "||rare.example^\n||search.example^\n||shop.example^\n");
      const refused = await one.run(...words);
      assert.equal(refused.exit, 5, refused.stderr);
      const command = /To accept them: (?<command>printf .*)/.exec(refused.stderr);

      const folder = mkdtempSync(join(tmpdir(), "pasted-"));
      t.after(() => rmSync(folder, { recursive: true }));
      mkdirSync(join(folder, "lists"));
      writeFileSync(join(folder, file), "last.example");
      const shell = spawnSync("sh", ["-c", command!.groups!["command"]!], { cwd: folder });
      assert.equal(shell.status, 0, String(shell.stderr));
      const text = readFileSync(join(folder, file), "utf8");
      assert.equal(text, "last.example\nsearch.example\nshop.example\n");

      one.write(file, text);
      const { exit, stderr } = await one.run(...words);
      assert.equal(exit, 0, stderr);
    },
  );
