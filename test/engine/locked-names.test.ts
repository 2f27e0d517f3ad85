import assert from "node:assert/strict";
import { test } from "node:test";
import { MemoryProject } from "../support/memory-project.ts";
import { ScriptedWeb } from "../support/scripted-web.ts";

const LIST = "https://lists.example/ads.txt";
const NAMES = "https://names.example/key-1234/n.csv";
const WORDS = ["-c", "c.json", "--cache-dir", "cache"];

const FIELDS: Readonly<Record<string, object>> = {
  ranks: { ranks: [{ source: NAMES, secret: true }], fit: { top: 2 } },
  expand: {
    expand: { names: [{ source: NAMES, secret: true }] },
    outputs: [{ format: "domains" }],
  },
};
const LISTS: readonly (readonly [string, object, string])[] = [
  ["one list", {}, "rules/n.txt"],
  ["several lists", { lists: [{ name: "One" }, { name: "Two" }] }, "rules/two.txt"],
];

function projectOf(more: object, web: ScriptedWeb): MemoryProject {
  web.answers[LIST] = "||ads.example^\n||*shop*.example^\n||rare.example^\n";
  web.answers[NAMES] = "1,ads.example\n2,the-shop.example\n";
  const sources = [{ name: "Ads", source: LIST, type: "adblock" }];
  return new MemoryProject(
    { "c.json": JSON.stringify({ name: "N", sources, ...more }) },
    { fetch: (request) => web.host.fetch(request), wait: async () => {} },
  );
}

for (const [field, settings] of Object.entries(FIELDS))
  for (const [count, lists, output] of LISTS) {
    test(`--frozen builds ${count} with remote ${field} from copies`, async () => {
      const web = new ScriptedWeb();
      const project = projectOf({ ...settings, ...lists }, web);
      assert.equal((await project.run(...WORDS, "--update")).exit, 0);
      assert.match(project.text("rules.lock"), /names\.example/);
      assert.doesNotMatch(project.text("rules.lock"), /key-1234/);
      const before = project.text(output);
      for (const url of [LIST, NAMES]) delete web.answers[url];
      web.asked.length = 0;
      project.now = "2026-11-11T00:00:00Z";
      const frozen = await project.run(...WORDS, "--frozen");
      assert.equal(frozen.exit, 0, frozen.stderr);
      assert.deepEqual(web.asked, []);
      assert.equal(project.text(output), before);
    });

    test(`--update with one source of ${count} keeps or updates remote ${field}`, async () => {
      const web = new ScriptedWeb();
      const project = projectOf({ ...settings, ...lists }, web);
      assert.equal((await project.run(...WORDS, "--update")).exit, 0);
      web.asked.length = 0;
      assert.equal((await project.run(...WORDS, "--update", "Ads")).exit, 0);
      assert.ok(web.asked.every(({ url }) => url === LIST));
      web.asked.length = 0;
      assert.equal((await project.run(...WORDS, "--update", NAMES)).exit, 0);
      assert.ok(web.asked.length > 0 && web.asked.every(({ url }) => url === NAMES));
    });
  }
