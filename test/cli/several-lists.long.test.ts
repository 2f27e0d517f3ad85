import assert from "node:assert/strict";
import { test } from "node:test";
import { type Listed, USUAL, projectOf } from "../support/lists-project.ts";
import { MemoryProject } from "../support/memory-project.ts";
import { Random } from "../support/random.ts";
import { ScriptedWeb } from "../support/scripted-web.ts";

const rulesOf = (text: string): string[] =>
  text.split("\n").filter((line) => line !== "" && !line.startsWith("!"));

test("lists share sources; each has its own and what the top level says", async () => {
  const project = projectOf(
    { A: "||a.example^\n||x.example^", B: "0.0.0.0 b.example", C: "||c.example^" },
    [
      { name: "Light", sources: ["B"] },
      { name: "Pro", sources: ["C", "A"], allow: ["c.example"], description: "more" },
      { name: "Whole" },
    ],
    { allow: ["x.example"], license: "MIT" },
  );
  const { exit, stderr } = await project.run();
  assert.equal(exit, 0, stderr);
  assert.deepEqual(rulesOf(project.text("rules/light.txt")), ["||b.example^"]);
  assert.deepEqual(rulesOf(project.text("rules/pro.txt")), ["||a.example^"]);
  assert.deepEqual(rulesOf(project.text("rules/whole.txt")), [
    "||a.example^",
    "||b.example^",
    "||c.example^",
  ]);
  assert.match(project.text("rules/pro.txt"), /! Description: more\n(?:!.*\n)*! License: MIT/);
  assert.match(stderr, /3 lists in /);
});

test("--filter takes some of them; a plan has all of them", async () => {
  const project = projectOf({ A: "||a.example^" }, [
    { name: "Light" },
    { name: "Light plus" },
    { name: "Pro" },
  ]);
  assert.equal((await project.run("--filter", "light*")).exit, 0);
  assert.ok(project.memory.files.has("/project/rules/light-plus.txt"));
  assert.ok(!project.memory.files.has("/project/rules/pro.txt"));
  // One that was never compiled does not keep the others back.
  const which = await project.run("why", "a.example");
  assert.equal(which.exit, 2);
  assert.match(which.stdout, /BLOCKED in .*light\.txt[^]*BLOCKED in .*light-plus\.txt/);
  assert.match(which.stderr, /record-missing.*Pro: No record of/);
  const one = await project.run("why", "--filter", "Light", "a.example");
  assert.match(one.stdout, /BLOCKED in .*light\.txt/);
  const none = await project.run("--filter", "Lihgt");
  assert.equal(none.exit, 2);
  assert.match(none.stderr, /unknown-list.*Lihgt/);
  assert.equal((await project.run("-o", "x.txt")).exit, 2);
  assert.match((await project.run("validate")).stderr, /valid: "All" with 1 source and 3 lists/);
  const plan = await project.run("plan");
  assert.equal(plan.exit, 0);
  assert.equal((await project.run("plan", "--exit-code")).exit, 10);
  assert.match(plan.stdout, /^Light → [^]*^Light plus → [^]*^Pro → /m);
  assert.equal((await project.run("plan", "--save", "x.plan")).exit, 0);
  assert.equal((await project.run("apply", "x.plan")).exit, 0);
  assert.ok(project.memory.files.has("/project/rules/pro.txt"));
});

test("a list that does not cover what it must is not published; the others are", async () => {
  const lists = [
    { name: "Pro", sources: ["A"], covers: ["Light"] },
    { name: "Light", sources: ["A", "B"] },
    { name: "Ultra", sources: ["A", "B", "C"], covers: ["Light"] },
  ];
  const project = projectOf({ A: "||a.example^", B: "||sub.b.example^", C: "||b.example^" }, lists);
  const refused = await project.run();
  assert.equal(refused.exit, 5);
  assert.match(
    refused.stderr,
    /not-covered\]: Pro: Pro does not block 1 name that Light blocks: sub\.b\.example/,
  );
  assert.ok(!project.memory.files.has("/project/rules/pro.txt"));
  assert.ok(project.memory.files.has("/project/rules/ultra.txt"));
  assert.equal((await project.run("--accept", "not-covered")).exit, 0);
  // Alone, it is compared with what is published.
  assert.equal((await project.run("--filter", "pro")).exit, 5);
});

test("errors in lists point at the list and the field that has them", async () => {
  const head = "name: N\nsources:\n  - source: a.txt\nlists:\n  - name: One\n  - name: Two\n";
  const places: [string, RegExp][] = [
    ["    covers: [Three]\n", /--> c\.yaml:7:13/],
    ["    sources: [b.txt]\n", /--> c\.yaml:7:14/],
    ["    covers: [Two]\n", /--> c\.yaml:7:13/],
    ["  - name: One\n", /--> c\.yaml:7:11/],
  ];
  for (const [more, place] of places) {
    const project = new MemoryProject({ "c.yaml": `${head}${more}`, "a.txt": "||a.example^\n" });
    const { exit, stderr } = await project.run("-c", "c.yaml");
    assert.equal(exit, 2);
    assert.match(stderr, place, more);
  }
});

test("errors in lists are reported with suggestions", async () => {
  const problems: [Listed[], RegExp][] = [
    [[], /lists is empty/],
    [[{ name: "L", sources: ["AB"] }], /lists\[0\] has the source AB, which does not exist/],
    [[{ name: "L", covers: ["M"] }], /lists\[0\] covers the list M/],
    [[{ name: "L" }, { name: "L" }], /lists\[1\] has the same name as another list/],
    [
      [
        { name: "L", covers: ["M"] },
        { name: "M", covers: ["L"] },
      ],
      /in a circle/,
    ],
    [[{ name: "L!" }, { name: "L?" }], /same-file/],
    [
      [
        { name: "L", outputs: [{ format: "hosts", file: "h" }] },
        { name: "M", outputs: [{ format: "hosts", file: "h" }] },
      ],
      /same-file/,
    ],
    [[{ name: "L", source: ["A"] }], /Unknown key: lists\[0\]\.source/],
  ];
  for (const [lists, said] of problems) {
    const { exit, stderr } = await projectOf({ A: "||a.example^" }, lists).run();
    assert.match(stderr, said);
    assert.equal(exit, said.source.startsWith("Unknown") ? 0 : 2);
  }
});

test("a remote source is fetched once, and one that fails is tried once and spares other lists", async () => {
  const web = new ScriptedWeb();
  for (const name of ["a", "b"])
    web.answers[`https://lists.example/${name}.txt`] = `||${name}.example^\n`;
  web.answers["https://lists.example/gone.txt"] = { status: 404 };
  const sources = ["a.txt", "b.txt", "gone.txt"].map((file) => ({
    name: file,
    source: `https://lists.example/${file}`,
    type: "adblock",
  }));
  const lists = [
    { name: "One", sources: ["a.txt", "b.txt"] },
    { name: "Two", sources: ["b.txt", "a.txt"] },
    { name: "Three", sources: ["a.txt", "gone.txt"] },
    { name: "Four", sources: ["gone.txt"] },
    // Rows that differ are read anew, from the copy.
    { name: "Five", sources: ["a.txt"], transformations: ["RemoveComments"] },
  ];
  const config = { name: "All", sources, transformations: USUAL, lists };
  const project = new MemoryProject(
    { "compiler-config.json": JSON.stringify(config) },
    { fetch: (request) => web.host.fetch(request), wait: async () => {} },
  );
  const { exit, stderr } = await project.run("--cache-dir", "cache");
  assert.equal(exit, 4, stderr);
  assert.deepEqual(rulesOf(project.text("rules/two.txt")), ["||b.example^", "||a.example^"]);
  assert.deepEqual(rulesOf(project.text("rules/five.txt")), ["||a.example^"]);
  assert.deepEqual(
    web.asked.map(({ url }) => url.slice("https://lists.example/".length)).toSorted(),
    ["a.txt", "b.txt", "gone.txt"],
  );
  assert.match(stderr, /5 lists in .*, 1 of them not published/);
});

test("one lock holds what all lists were built from", async () => {
  const project = projectOf({ A: "||a.example^", B: "||b.example^" }, [
    { name: "One", sources: ["A"] },
    { name: "Two", sources: ["B"] },
  ]);
  assert.equal((await project.run("--update")).exit, 0);
  const { locks } = JSON.parse(project.text("rules.lock")) as {
    locks: { local: { path: string }[] }[];
  };
  assert.equal(locks.length, 1);
  assert.deepEqual(locks[0]!.local.map(({ path }) => path).toSorted(), ["A.txt", "B.txt"]);
  assert.equal((await project.run("--frozen")).exit, 0);
  project.write("B.txt", "||c.example^");
  assert.equal((await project.run("--frozen")).exit, 4);
  // A new lock is new for all lists, whatever the old one said.
  project.write("A.txt", "||a2.example^");
  assert.equal((await project.run("--update")).exit, 0);
  assert.equal((await project.run("--frozen")).exit, 0);
});

test("a promise to cover holds when only the other list changed, and when it was not compiled", async () => {
  const lists = [
    { name: "Small", sources: ["A"] },
    { name: "Big", sources: ["B"], covers: ["Small"] },
  ];
  const project = projectOf({ A: "||a.example^", B: "||a.example^\n||b.example^" }, lists);
  const words = ["--cache-dir", "cache"];
  const moments = ["2026-11-10T01:00:00Z", "2026-11-10T02:00:00Z", "2026-11-10T03:00:00Z"];
  for (const moment of moments.slice(0, 2)) {
    project.now = moment;
    assert.equal((await project.run(...words)).exit, 0);
  }
  project.now = moments[2]!;
  project.write("A.txt", "||a.example^\n||new.example^");
  const grown = await project.run(...words);
  assert.equal(grown.exit, 5);
  assert.match(grown.stderr, /Big does not block 1 name that Small blocks: new\.example/);
  // The plan says what would happen.
  assert.equal((await project.run("plan", ...words)).exit, 5);
  // A list that fails is compared with as it was published.
  project.memory.files.delete("/project/A.txt");
  project.write("B.txt", "||b.example^");
  const failed = await project.run(...words);
  assert.match(failed.stderr, /not-covered/);
  assert.match(project.text("rules/big.txt"), /\|\|a\.example\^/);
});

test("a promise to cover is broken by patterns too, and what cannot be compared is reported", async () => {
  const lists = [
    { name: "Light", sources: ["A"] },
    { name: "Pro", sources: ["B"], covers: ["Light"] },
  ];
  for (const rule of ["||*.x.com^", "||y.com^|", "||ads.*^", "|z.com^", "||w.com^$important"]) {
    const project = projectOf({ A: `${rule}\n||q.com^`, B: "||q.com^" }, lists);
    const { exit, stderr } = await project.run();
    assert.equal(exit, 5, rule);
    assert.match(stderr, /not-covered.*Pro does not block 1 name/s, rule);
  }
  const expression = projectOf({ A: "/ad[0-9]/\n||q.com^", B: "||q.com^" }, lists);
  const { exit, stderr } = await expression.run();
  assert.equal(exit, 0);
  assert.match(stderr, /cover-unknown.*\/ad\[0-9\]\/ cannot be compared exactly/s);
  // A name of any list of the run decides.
  const third = [...lists, { name: "Ultra", sources: ["C"] }].toSorted((a) =>
    a.name === "Ultra" ? -1 : 0,
  );
  const sources = { A: "/ad[0-9]/\n||q.com^", B: "||q.com^", C: "||ad1.net^" };
  assert.equal((await projectOf(sources, third).run()).exit, 5);
});

test("addresses with passwords are not shown, and files of exceptions have one owner", async () => {
  const sources = [{ source: "https://user:s3cret@host.example/l.txt", type: "adblock" }];
  const config = { name: "All", sources, lists: [{ name: "L", sources: ["zz"] }] };
  const secret = new MemoryProject({ "compiler-config.json": JSON.stringify(config) });
  const said = await secret.run("validate");
  assert.equal(said.exit, 2);
  assert.match(said.stderr, /Known names: https:\/\/host\.example/);
  assert.doesNotMatch(said.stderr, /s3cret/);
  const shared = projectOf({ A: "||a.example^" }, [
    { name: "L", outputs: [{ format: "pihole", file: "l" }] },
    { name: "M", outputs: [{ format: "hosts", file: "l.allow" }] },
  ]);
  assert.match((await shared.run()).stderr, /same-file/);
  assert.match((await shared.run("validate")).stderr, /same-file/);
});

test("--filter is looked up whether or not the build is known", async () => {
  const config = { name: "One", sources: [{ name: "a", source: "a.txt", type: "adblock" }] };
  const project = new MemoryProject({
    "compiler-config.json": JSON.stringify(config),
    "a.txt": "||a.example^",
  });
  for (const moment of ["2026-11-10T01:00:00Z", "2026-11-10T02:00:00Z"]) {
    project.now = moment;
    assert.equal((await project.run("--cache-dir", "cache")).exit, 0);
    assert.equal((await project.run("--cache-dir", "cache", "--filter", "nope")).exit, 2);
  }
});

test("frozen lists are built from the locked sources without any request", async () => {
  const web = new ScriptedWeb();
  const url = "https://lists.example/a.txt";
  web.answers[url] = "||a.example^\n";
  const sources = [{ name: "a", source: url, type: "adblock" }];
  const lists = [{ name: "One" }, { name: "Two" }];
  const config = { name: "All", sources, transformations: USUAL, lists };
  const project = new MemoryProject(
    { "compiler-config.json": JSON.stringify(config) },
    { fetch: (request) => web.host.fetch(request), wait: async () => {} },
  );
  const words = ["--cache-dir", "cache"];
  assert.equal((await project.run(...words, "--update")).exit, 0);
  const locked = project.text("rules/two.txt");
  web.answers[url] = "||a.example^\n||b.example^\n";
  web.asked.length = 0;
  project.now = "2026-11-11T00:00:00Z";
  assert.equal((await project.run(...words, "--frozen")).exit, 0);
  assert.deepEqual(web.asked, []);
  assert.equal(project.text("rules/two.txt"), locked);
});

test("random lists of random sources are, byte for byte, what they are alone", async () => {
  const random = new Random(20_261_115);
  for (let round = 0; round < 40; round++) {
    const texts = Object.fromEntries(
      Array.from({ length: 6 }, (_, index) => [`s${index}`, randomText(random)]),
    );
    const names = Object.keys(texts);
    const lists = Array.from({ length: 5 }, (_, index): Listed => {
      const chosen = names.filter(() => random.below(2) === 0);
      const transformations = [...USUAL, "RemoveModifiers", "TrimLines"].filter(
        () => random.below(4) > 0,
      );
      return {
        name: `L${index}`,
        sources: chosen.length === 0 ? [names[0]!] : chosen,
        transformations,
      };
    });
    const words = [
      "--accept",
      "too-few-rules",
      "--accept",
      "blocks-protected",
      "--accept",
      "blocks-suffix",
    ];
    const together = projectOf(texts, lists);
    const { exit, stderr } = await together.run(...words);
    assert.equal(exit, 0, stderr);
    for (const { name } of lists) {
      const alone = projectOf(texts, lists);
      assert.equal((await alone.run(...words, "--filter", name)).exit, 0);
      const file = `rules/${name.toLowerCase()}.txt`;
      assert.equal(together.text(file), alone.text(file), `round ${round}, ${name}`);
      const stats = ["stats", "--json", "--filter", name];
      const [a, b] = [await together.run(...stats), await alone.run(...stats)];
      assert.deepEqual(JSON.parse(a.stdout), JSON.parse(b.stdout));
    }
  }
});

function randomText(random: Random): string {
  const name = (): string =>
    `${["a", "b", "c.a", "d.c.a", "e"][random.below(5)]!}.${["example", "test", "com"][random.below(3)]!}`;
  const forms = [
    () => `||${name()}^`,
    () => `0.0.0.0 ${name()} ${name()}`,
    () => name(),
    () => `@@||${name()}^`,
    () => `||${name()}^$third-party`,
    () => "! note",
    () => "",
    () => `  ${name()} `,
    () => `/${name()}\\d+/`,
  ];
  return Array.from({ length: random.below(12) }, () => forms[random.below(forms.length)]!()).join(
    "\n",
  );
}
