import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { corpusFolder, missingCorpus } from "../support/corpus.ts";
import { assertScreen } from "../support/screen.ts";
import { lastScreen, terminalProject } from "../support/terminal-project.ts";

const LISTS = [
  ["StevenBlack", "hosts", "StevenBlack__hosts__hosts"],
  ["HaGeZi Light", "adblock", "hagezi__dns-blocklists__adblock_light.txt"],
  ["OISD small", "adblock", "sjhgvr__oisd__abp_small.txt"],
  ["1Hosts Pro", "hosts", "badmojr__1Hosts__Pro_domains.txt"],
  ["EasyList", "adblock", "uBlockOrigin__uAssets__thirdparties_easylist_easylist.txt"],
] as const;

test(
  "the summary of five real lists has one line each at 80 columns, and the harmful lines",
  { skip: missingCorpus },
  async () => {
    const folder = corpusFolder("typical");
    const files = LISTS.map(([, , file]) => [file, readFileSync(join(folder, file), "utf8")]);
    const sources = LISTS.map(([name, type, source]) => ({ name, type, source }));
    const transformations = [
      "RemoveComments",
      "RemoveModifiers",
      "Compress",
      "Validate",
      "Deduplicate",
    ];
    const project = terminalProject({
      ...Object.fromEntries(files),
      "compiler-config.json": JSON.stringify({ name: "L", sources, transformations }),
    });
    const { exit, stderr } = await project.run("--color", "never");
    assert.equal(exit, 0, stderr);
    const shown = lastScreen(stderr).replaceAll(/\d+\.\d s$/gm, "0.0 s");
    assertScreen("summary-real", shown);
    const begin = shown.indexOf("  source ");
    const table = shown.slice(begin).split("\n");
    for (const [index, [name]] of LISTS.entries())
      assert.ok(table[index + 1]!.startsWith(`  ${name} `), shown);
    assert.ok(table[LISTS.length + 1]!.startsWith("  total "), shown);
  },
);
