import assert from "node:assert/strict";
import { test } from "node:test";
import { listIn } from "../support/documents.ts";
import { type Listed, projectOf } from "../support/lists-project.ts";

interface Documents {
  readonly lists: readonly Record<string, unknown>[];
}

const TWO: readonly Listed[] = [
  { name: "Light", sources: ["A"] },
  { name: "Pro", sources: ["A", "B"] },
];

test("questions are answered for every list, and as one document for programs", async () => {
  const project = projectOf({ A: "||a.example^\n||b.example^", B: "||c.example^" }, TWO);
  assert.equal((await project.run()).exit, 0);
  project.now = "2026-11-11T00:00:00Z";
  project.write("A.txt", "||a.example^\n||d.example^");
  assert.equal((await project.run()).exit, 0);
  const json = async (...words: string[]): Promise<Documents> => {
    const { stdout, stderr } = await project.run(...words, "--json");
    assert.equal(stderr, "");
    return JSON.parse(stdout) as Documents;
  };
  const why = await json("why", "c.example", "a.example");
  assert.deepEqual(
    why.lists.map(({ list, names }) => [
      list,
      (names as { verdict: string }[]).map((one) => one.verdict),
    ]),
    [
      ["Light", ["neither", "blocked"]],
      ["Pro", ["blocked", "blocked"]],
    ],
  );
  const stats = await json("stats");
  assert.deepEqual(
    stats.lists.map(({ list, rules }) => [list, rules]),
    [
      ["Light", 2],
      ["Pro", 3],
    ],
  );
  const log = await json("log", "--markdown");
  assert.deepEqual(
    log.lists.map(({ list, changes }) => [list, (changes as unknown[]).length]),
    [
      ["Light", 1],
      ["Pro", 1],
    ],
  );
  const diff = await json("diff", "@1", "@0");
  assert.deepEqual(
    diff.lists.map(({ list, added }) => [list, added]),
    [
      ["Light", ["||d.example^"]],
      ["Pro", ["||d.example^"]],
    ],
  );
  const text = await project.run("diff", "@1", "@0");
  assert.match(text.stdout, /^Light: @1 → @0\n[^]*^Pro: @1 → @0\n/m);
  assert.match((await project.run("stats")).stdout, /^Light\n[^]*^Pro\n/m);
  assert.match((await project.run("stats", "--markdown")).stdout, /^## Light\n[^]*^## Pro\n/m);
  assert.match((await project.run("log", "--markdown")).stdout, /^# Light\n[^]*^# Pro\n/m);
  assert.equal((await project.run("stats", "--html", "pages/")).exit, 0);
  assert.match(project.text("pages/light.report.html"), /<title>[^<]*Light/);
  assert.match(project.text("pages/pro.report.html"), /<title>[^<]*Pro/);
  assert.equal((await project.run("stats", "--html", "one.html")).exit, 2);
});

test("lists of two configurations are compared by name", async () => {
  const project = projectOf({ A: "||a.example^", B: "||b.example^" }, TWO);
  assert.equal((await project.run()).exit, 0);
  const config = project.text("compiler-config.json");
  project.write("other.json", config.replace('"Light"', '"Lite"'));
  assert.equal((await project.run("-c", "other.json")).exit, 0);
  const { stdout, stderr, exit } = await project.run("diff", "compiler-config.json", "other.json");
  assert.equal(exit, 0, stderr);
  assert.match(stdout, /compiler-config\.json → other\.json/);
  assert.match(stderr, /Light exists in one of the configurations only\nLite exists/);
  const unclear = await project.run("diff", "compiler-config.json", "rules/light.txt");
  assert.match(unclear.stderr, /several-lists.*Light, Pro/);
});

test("compile and plan print one document, with lists that were refused", async () => {
  const lists = [...TWO, { name: "Strict", sources: ["B"], guards: { min_rules: 10 } }];
  const project = projectOf({ A: "||a.example^", B: "||b.example^" }, lists);
  const plan = JSON.parse((await project.run("plan", "--json")).stdout) as Documents;
  assert.deepEqual(
    plan.lists.map(({ file, violations }) => [file, (violations as unknown[]).length]),
    [
      ["rules/light.txt", 0],
      ["rules/pro.txt", 0],
      ["rules/strict.txt", 1],
    ],
  );
  const { stdout, exit } = await project.run("--json");
  assert.equal(exit, 5);
  const compiled = JSON.parse(stdout) as Documents;
  assert.deepEqual(
    compiled.lists.map((one) => [one["list"], one["rules"], one["exit"]]),
    [
      ["Light", 1, 0],
      ["Pro", 2, 0],
      ["Strict", 1, 5],
    ],
  );
  const [said] = compiled.lists[2]!["violations"] as { code: string }[];
  assert.equal(said!.code, "too-few-rules");
  const one = listIn((await project.run("--json", "--filter", "pro")).stdout) as object;
  assert.ok("rules" in one);
});

test("one entry of outputs names the files of all lists", async () => {
  const lists = [{ name: "Light & more" }, { name: "../Pro" }];
  const outputs = [
    { format: "hosts", file: "{format}/{slug}.txt" },
    { format: "pihole", file: "{format}/{name}.txt" },
  ];
  const manifest = { file: "{slug}.manifest.json" };
  const project = projectOf({ A: "||a.example^" }, lists, { outputs, manifest });
  const { exit, stderr } = await project.run();
  assert.equal(exit, 0, stderr);
  const files = [...project.memory.files.keys()].filter((file) =>
    /\/rules\/(?!\.).*(?:hosts|pihole|manifest)/.test(file),
  );
  assert.deepEqual(files.map((file) => file.slice("/project/rules/".length)).toSorted(), [
    "hosts/light-more.txt",
    "hosts/pro.txt",
    "light-more.manifest.json",
    "pihole/-Pro.allow.txt",
    "pihole/-Pro.txt",
    "pihole/Light & more.allow.txt",
    "pihole/Light & more.txt",
    "pro.manifest.json",
  ]);
});
