import assert from "node:assert/strict";
import { test } from "node:test";
import { MemoryProject } from "../support/memory-project.ts";
import { webOf } from "../support/web-of.ts";
import { listIn } from "../support/documents.ts";

test("the audit counts what init's configuration compiles to, allow-lists and own rules with it", async () => {
  const setup = `
filters:
  - {enabled: true, url: "one.txt", name: One, id: 1}
  - {enabled: true, url: "two.txt", name: Two, id: 2}
whitelist_filters:
  - {enabled: true, url: "allow.txt", name: Allow, id: 3}
  - {enabled: false, url: "off.txt", name: Off, id: 4}
user_rules: ["||own.example^", "@@||fine.example^", "||own2.example^", "||c.example^"]
`;
  const project = new MemoryProject({
    "AdGuardHome.yaml": setup,
    "one.txt": "||a.example^\n||b.example^\n||c.example^\n",
    "two.txt": "||b.example^\n||x.c.example^\n",
    "allow.txt": "||a.example^\nb.example\n",
    "off.txt": "||c.example^\n",
  });
  const audited = await project.run("audit", "AdGuardHome.yaml", "--json");
  assert.equal(audited.exit, 0, audited.stderr);
  const audit = JSON.parse(audited.stdout) as {
    rules: number;
    bytes: number;
    lines: number;
    needed: string[];
    sources: { label: string; onlyHere: number }[];
  };
  assert.deepEqual([...project.memory.files.keys()].toSorted(), [
    "/project/AdGuardHome.yaml",
    "/project/allow.txt",
    "/project/off.txt",
    "/project/one.txt",
    "/project/two.txt",
  ]);
  await project.run("init", "--from", "AdGuardHome.yaml", "--name", "AdGuard Home");
  const compiled = await project.run("-c", "compiler-config.yaml", "--json");
  const report = listIn(compiled.stdout) as { rules: number; bytes: number; lines: number };
  assert.deepEqual(
    [audit.rules, audit.bytes, audit.lines],
    [report.rules, report.bytes, report.lines],
  );
  assert.equal(report.rules, 4, project.text("rules/adguard-home.txt"));
  assert.deepEqual(
    audit.sources.map(({ label, onlyHere }) => [label, onlyHere]),
    [
      ["One", 0],
      ["Two", 0],
    ],
  );
  assert.deepEqual(audit.needed, []);
  const { stdout } = await project.run("audit", "AdGuardHome.yaml");
  assert.match(stdout, /AdGuard Home: 2 lists enabled, 4 own rules/);
  assert.match(stdout, /one compiled list: 4 rules/);
});

test("an audit says once that a list is unavailable, and not that anything was written", async () => {
  const gone = "https://lists.example/gone.txt";
  const setup = {
    filters: [gone, "https://lists.example/a.txt"].map((url) => ({ enabled: true, url })),
  };
  const project = new MemoryProject(
    { "AdGuardHome.yaml": JSON.stringify(setup) },
    webOf({ "https://lists.example/a.txt": "||a.example^\n" }),
  );
  const { exit, stdout, stderr } = await project.run("audit", "AdGuardHome.yaml");
  assert.equal(exit, 0, stderr);
  assert.match(stdout, /unavailable: the server responded with status 404\n/);
  assert.doesNotMatch(stdout + stderr, /written|list-incomplete/);
});

test("an audit of an own configuration names lists that are unavailable and were read from the cache", async () => {
  const config = `name: Own
sources:
  - { name: Web, source: "https://lists.example/web.txt" }
transformations: [Validate]
allow: [fine.example]
guards: { min_rules: 0 }
`;
  const pages = { "https://lists.example/web.txt": "||ads.example^\n||fine.example^\n" };
  const web = webOf(pages);
  const cache = ["--cache-dir", "/cache"];
  const project = new MemoryProject({ "compiler-config.yaml": config }, web);
  const before = await project.run("audit", "compiler-config.yaml", ...cache);
  assert.match(before.stdout, /^rules-compiler: 1 list enabled\n/);
  assert.match(before.stdout, /one compiled list: 1 rule,/);
  assert.match(
    before.stdout,
    /Not imported: guards\. To use them, compile the configuration itself/,
  );
  assert.match(before.stdout, /\ncompile it: rules-compiler -c compiler-config\.yaml\n$/);
  assert.doesNotMatch(before.stdout, /unavailable/);
  delete (pages as Record<string, string>)["https://lists.example/web.txt"];
  const after = await project.run("audit", "compiler-config.yaml", ...cache);
  assert.match(after.stdout, /Web .* unavailable, last copy\n/);
  assert.match(after.stdout, /1 list is unavailable; its last copy was read/);
});

test("an audit counts the user's own rules among the rules", async () => {
  const project = new MemoryProject({
    "AdGuardHome.yaml": `
filters: [{enabled: true, url: "one.txt", name: One, id: 1}]
user_rules: ["||own.example^", "||a.example^"]
`,
    "one.txt": "||a.example^\n||b.example^\n||c.example^\n",
  });
  const { stdout } = await project.run("audit", "AdGuardHome.yaml");
  assert.match(stdout, /^5 lines, 1 of them redundant$/m);
  const json = await project.run("audit", "AdGuardHome.yaml", "--json");
  const { lines, redundant, rules } = JSON.parse(json.stdout) as Record<string, number>;
  assert.deepEqual([lines, redundant, rules], [5, 1, 4]);
});

test("an allow-list that cannot be read is reported, and the audit goes on", async () => {
  const setup = `
filters: [{enabled: true, url: "one.txt", name: One, id: 1}]
whitelist_filters: [{enabled: true, url: "gone.txt", name: Gone, id: 2}]
`;
  const project = new MemoryProject({ "AdGuardHome.yaml": setup, "one.txt": "||a.example^\n" });
  const { exit, stdout, stderr } = await project.run("audit", "AdGuardHome.yaml");
  assert.equal(exit, 0, stderr);
  assert.match(stderr, /^warning\[.*gone\.txt/);
  assert.match(stdout, /one compiled list: 1 rule/);
});

test("a source called own-rules.txt is read", async () => {
  const project = new MemoryProject({
    "compiler-config.yaml":
      "name: L\nsources:\n  - {name: Own rules, source: own-rules.txt, type: adblock}\n",
    "own-rules.txt": "||a.example^\n||b.example^\n",
  });
  const { exit, stdout, stderr } = await project.run("audit", "compiler-config.yaml", "--json");
  assert.equal(exit, 0, stderr);
  assert.equal((JSON.parse(stdout) as { rules: number }).rules, 2);
});

test("an audit of a file with an error of syntax shows the error", async () => {
  const project = new MemoryProject({ "c.yaml": "name: n\n  sources: []\n", "d.yaml": "a: 1\n" });
  const { exit, stderr } = await project.run("audit", "c.yaml");
  assert.equal(exit, 2);
  assert.match(stderr, /^error\[config-syntax\]: .*indented more.*\n {2}--> c\.yaml:2:/);
  const other = await project.run("audit", "d.yaml");
  assert.match(other.stderr, /^error\[setup-unknown\]/);
});

test("a list that is subscribed twice is needed once", async () => {
  const project = new MemoryProject({
    "AdGuardHome.yaml": `
filters:
  - {enabled: true, url: "one.txt", name: One, id: 1}
  - {enabled: true, url: "two.txt", name: Two, id: 2}
  - {enabled: true, url: "one.txt", name: Again, id: 3}
`,
    "one.txt": "||a.example^\n||b.example^\n",
    "two.txt": "||b.example^\n",
  });
  const { stdout } = await project.run("audit", "AdGuardHome.yaml");
  assert.match(stdout, /^ *One +2 +2 +0$/m);
  assert.match(stdout, /^ *Two .*adds nothing$/m);
  assert.match(stdout, /^ *Again .*same URL as One$/m);
  assert.match(stdout, /^1 list adds nothing\n1 list has the URL of another list$/m);
});

test("an audit does not name an option that it does not have", async () => {
  const config = `name: n
sources: [{ source: one.txt, name: One, type: adblock }]
guards: { min_rules: 9 }
`;
  const setup = `filters: [{enabled: true, url: "one.txt", name: One, id: 1}]\n`;
  const lines = "! nothing\n".repeat(3);
  const project = new MemoryProject({
    "c.yaml": config,
    "AdGuardHome.yaml": setup,
    "one.txt": lines,
  });
  const { stdout, stderr } = await project.run("audit", "AdGuardHome.yaml");
  assert.match(stdout + stderr, /\[too-few-rules\]|\[empty-output\]/);
  assert.doesNotMatch(stdout + stderr, /--accept/);
});
