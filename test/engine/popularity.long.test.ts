import assert from "node:assert/strict";
import { test } from "node:test";
import { MemoryProject } from "../support/memory-project.ts";
import { fatesIn, listIn, nameIn } from "../support/documents.ts";

const TOP = ["search.example", "www.shop.example", "ads.tracker.example", "big.example"];

function project(more: object = {}, files: Readonly<Record<string, string>> = {}): MemoryProject {
  const config = {
    name: "N",
    sources: [{ source: "ads.txt", name: "Ads", type: "adblock", trust: "standard" }],
    ranks: ["top.csv"],
    transformations: ["Validate", "Compress"],
    ...more,
  };
  return new MemoryProject({
    "c.json": JSON.stringify(config),
    "ads.txt": "||tracker.example^\n||rare.example^\n@@||ok.example^\n",
    "top.csv": TOP.map((name, index) => `${index + 1},${name}\n`).join(""),
    "known.txt": "",
    ...files,
  });
}

const GUARD = { newly_blocks: 10 };
const OLD = "||tracker.example^\n||rare.example^\n||search.example^\n||shop.example^\n";
const NEWLY = "||tracker.example^\n||shop.example^\n||search.example^\n||rare.example^\n";

/** Whether the published list blocks a name. */
async function isBlocked(one: MemoryProject, name: string): Promise<boolean> {
  const { stdout } = await one.run("why", "-c", "c.json", name);
  return stdout.includes("BLOCKED");
}

test("nothing is new for the first list, a new source, or a fully trusted one", async () => {
  const one = project({ guards: GUARD });
  one.write("ads.txt", NEWLY);
  const first = await one.run("-c", "c.json");
  assert.deepEqual([first.exit, /popular-/.test(first.stderr)], [0, false]);
  assert.ok(await isBlocked(one, "search.example"));
  for (const more of [{ trust: "standard" }, { trust: "full" }]) {
    const two = project({ guards: GUARD });
    assert.equal((await two.run("-c", "c.json")).exit, 0);
    const added = { source: "more.txt", type: "adblock", ...more };
    const sources = [{ source: "ads.txt", name: "Ads", type: "adblock", trust: "standard" }, added];
    const transformations = ["Validate", "Compress"];
    const config = { name: "N", sources, ranks: ["top.csv"], transformations, guards: GUARD };
    two.write("c.json", JSON.stringify(config));
    two.write("more.txt", more.trust === "full" ? "||other.example^\n" : NEWLY);
    assert.equal((await two.run("-c", "c.json")).exit, 0);
    two.write("more.txt", NEWLY);
    const { exit, stderr } = await two.run("-c", "c.json");
    assert.deepEqual([exit, /popular-/.test(stderr)], [0, false], stderr);
    assert.ok(await isBlocked(two, "search.example"));
  }
});

test("a name that was missing for a night is blocked again", async () => {
  const one = project({ guards: GUARD });
  one.write("ads.txt", OLD);
  assert.equal((await one.run("-c", "c.json")).exit, 0);
  // Several nights without it, and several runs in one of them.
  for (const [moment, text] of [
    ["2026-11-11T00:00:00Z", "||tracker.example^\n||rare.example^\n||a.example^\n"],
    ["2026-11-11T01:00:00Z", "||tracker.example^\n||rare.example^\n||b.example^\n"],
    ["2026-11-20T00:00:00Z", "||tracker.example^\n||rare.example^\n||c.example^\n"],
  ] as const) {
    one.now = moment;
    one.write("ads.txt", text);
    assert.equal((await one.run("-c", "c.json")).exit, 0);
    assert.ok(!(await isBlocked(one, "search.example")));
  }
  const last = one.text("rules/n.txt");
  const state = new Map(one.memory.files);
  one.now = "2026-12-10T23:00:00Z";
  one.write("ads.txt", OLD);
  const { exit, stderr } = await one.run("-c", "c.json");
  assert.deepEqual([exit, /popular-/.test(stderr)], [0, false], stderr);
  assert.ok(await isBlocked(one, "search.example"));

  // A month later, or without the memory, it is new.
  for (const [moment, removes] of [
    ["2026-12-12T00:00:00Z", false],
    ["2026-11-21T00:00:00Z", true],
  ] as const) {
    one.memory.files.clear();
    for (const [path, bytes] of state)
      if (!removes || !path.endsWith(".memory.json")) one.memory.files.set(path, bytes);
    one.now = moment;
    assert.equal(one.text("rules/n.txt"), last);
    one.write("ads.txt", OLD);
    const late = await one.run("-c", "c.json");
    assert.equal(late.exit, 0);
    assert.match(late.stderr, /popular-kept.*Ads would newly block 2 popular names/);
    assert.ok(!(await isBlocked(one, "search.example")));
  }
});

test("what a build blocked that was rolled back does not count", async () => {
  const one = project({ guards: GUARD });
  assert.equal((await one.run("-c", "c.json")).exit, 0);
  // The list of a night blocks it because the user permits it.
  const sources = [{ source: "ads.txt", name: "Ads", type: "adblock", trust: "standard" }];
  const config = {
    name: "N",
    sources,
    ranks: ["top.csv"],
    transformations: ["Validate", "Compress"],
  };
  const write = (guards: object): void =>
    one.write("c.json", JSON.stringify({ ...config, guards: { ...GUARD, ...guards } }));
  const publish = async (moment: string, text: string): Promise<string> => {
    one.now = moment;
    one.write("ads.txt", text);
    const { exit, stderr } = await one.run("-c", "c.json");
    assert.equal(exit, 0, stderr);
    return stderr;
  };
  write({ may_block: ["search.example"] });
  await publish("2026-11-11T00:00:00Z", `||search.example^\n${OLD}`);
  assert.ok(await isBlocked(one, "search.example"));
  write({});
  await publish("2026-11-12T00:00:00Z", "||tracker.example^\n||rare.example^\n||a.example^\n");
  one.now = "2026-11-12T01:00:00Z";
  const undone = await one.run("rollback", "@2", "-c", "c.json");
  assert.equal(undone.exit, 0, undone.stderr);
  assert.match(await publish("2026-11-13T00:00:00Z", OLD), /popular-kept.*search\.example/);
});

test("a rule for other questions or some clients does not count as blocked before", async () => {
  for (const [modifier, isBlock] of [
    ["dnstype=TXT", false],
    ["dnstype=~TXT", true],
    ["client=~10.0.0.1", true],
    ["denyallow=a.search.example", true],
  ] as const) {
    const one = project({ guards: GUARD });
    const lines = `||tracker.example^\n||search.example^$${modifier}\n||rare.example^\n`;
    one.write("ads.txt", "||tracker.example^\n||rare.example^\n||more.example^\n");
    assert.equal((await one.run("-c", "c.json")).exit, 0);
    one.write("ads.txt", lines);
    const { exit, stderr } = await one.run("-c", "c.json");
    assert.equal(exit, 0);
    assert.equal(/popular-kept.*search\.example/.test(stderr), isBlock, `${modifier}: ${stderr}`);
    // What is published is not new, although it is for some only.
    const two = project({ guards: GUARD });
    two.write("ads.txt", lines);
    await two.run("-c", "c.json");
    two.write("ads.txt", `${lines}||other.example^\n`);
    const same = await two.run("-c", "c.json");
    assert.doesNotMatch(same.stderr, /popular-kept/, modifier);
    two.write("ads.txt", `${lines}||search.example^\n`);
    const wider = await two.run("-c", "c.json");
    const isNew = modifier.startsWith("client") || !isBlock;
    assert.equal(/popular-kept/.test(wider.stderr), isNew, `${modifier}: ${wider.stderr}`);
  }
});

test("guards.may_block permits a popular name, and its subdomains", async () => {
  const one = project({ guards: { ...GUARD, may_block: ["search.example", "shop.example"] } });
  assert.equal((await one.run("-c", "c.json")).exit, 0);
  one.write("ads.txt", NEWLY);
  const { exit, stderr } = await one.run("-c", "c.json");
  assert.equal(exit, 0);
  assert.doesNotMatch(stderr, /popular-kept|may-block-unknown.*search/);
  assert.ok(await isBlocked(one, "search.example"));
  assert.ok(await isBlocked(one, "www.shop.example"));
});

test("a name that becomes popular is not new", async () => {
  const one = project({ guards: GUARD });
  assert.equal((await one.run("-c", "c.json")).exit, 0);
  one.write("top.csv", "1,rare.example\n2,search.example\n");
  one.write("ads.txt", "||tracker.example^\n||rare.example^\n||more.example^\n");
  const { stderr } = await one.run("-c", "c.json");
  assert.doesNotMatch(stderr, /popular-kept/);
});

test("popular names stay reachable, and the record says so", async () => {
  const one = project({ guards: GUARD });
  assert.equal((await one.run("-c", "c.json")).exit, 0);
  one.write("ads.txt", NEWLY);
  const { exit, stderr } = await one.run("-c", "c.json");
  assert.equal(exit, 0);
  assert.match(stderr, /popular-kept.*Ads would newly block 2 popular names/);
  const text = one.text("rules/n.txt");
  assert.doesNotMatch(text, /^\|\|search/m);
  assert.match(text, /^\|\|shop\.example\^\n(?:.*\n)*@@\|www\.shop\.example\^/m);
  const why = await one.run("why", "-c", "c.json", "search.example");
  assert.match(why.stdout, /Ads:3 +\|\|search\.example\^ +newly-blocks/);
  const kept = await one.run("why", "-c", "c.json", "www.shop.example");
  assert.match(kept.stdout, /by {2}@@\|www\.shop\.example\^ {2}guards\.newly_blocks\n/);
  assert.match(kept.stdout, /popular name that the list would newly block/);
});

test("newly_blocks does not count names that the list does not block in the end", async () => {
  const one = project({
    guards: GUARD,
    transformations: ["RemoveModifiers", "Validate", "Compress"],
    exclusions: ["shop.example"],
    allow: ["news.example"],
  });
  one.write("top.csv", "1,search.co.uk\n2,www.shop.example\n3,news.example\n4,changed.example\n");
  assert.equal((await one.run("-c", "c.json")).exit, 0);
  one.write(
    "ads.txt",
    "||tracker.example^\n||rare.example^\n||co.uk^\n||shop.example^\n||news.example^\n",
  );
  const { exit, stderr } = await one.run("-c", "c.json");
  assert.equal(exit, 0, stderr);
  assert.doesNotMatch(stderr, /popular-kept/);
  const { stdout } = await one.run("stats", "--fate", "-c", "c.json", "--json");
  const { "newly-blocks": newly, "public-suffix": suffix } = fatesIn(stdout);
  assert.deepEqual([newly, suffix], [undefined, 1]);
  // A rule that only becomes valid later counts.
  one.write("ads.txt", "||tracker.example^\n||rare.example^\n||changed.example^$popup\n");
  const later = await one.run("-c", "c.json");
  assert.match(later.stderr, /popular-kept.*changed\.example/);
  assert.match(one.text("rules/n.txt"), /^@@\|changed\.example\^$/m);
});

test("several lists read ranks once, and their answers agree", async () => {
  const one = project({ lists: [{ name: "Normal" }, { name: "Light", fit: { top: 3 } }] });
  assert.equal((await one.run("-c", "c.json")).exit, 0);
  assert.match(one.text("rules/light.txt"), /^\|\|tracker\.example\^\n@@\|\|ok\.example\^$/m);
  assert.doesNotMatch(one.text("rules/light.txt"), /rare/);
  assert.match(one.text("rules/normal.txt"), /rare/);
  const why = await one.run("why", "-c", "c.json", "rare.example");
  assert.match(why.stdout, /BLOCKED in rules\/normal\.txt/);
  assert.match(why.stdout, /neither blocked nor allowed in rules\/light\.txt/);
  assert.match(why.stdout, /not-ranked, matches no popular name/);
  const stats = await one.run("stats", "-c", "c.json", "--filter", "Light", "--json");
  assert.match(stats.stdout, /"not-ranked":1/);
  const lines = await one.run(
    "stats",
    "--fate",
    "-c",
    "c.json",
    "--filter",
    "Light",
    "--fate",
    "not-ranked",
  );
  assert.match(lines.stdout, /rare\.example/);
});

test("a list is compiled again when the ranks have changed", async () => {
  const one = project({ fit: { top: 3 } });
  assert.equal((await one.run("-c", "c.json")).exit, 0);
  assert.doesNotMatch(one.text("rules/n.txt"), /rare/);
  one.write("top.csv", "1,a.rare.example\n2,tracker.example\n");
  one.now = "2026-11-11T00:00:00Z";
  assert.equal((await one.run("-c", "c.json")).exit, 0);
  assert.match(one.text("rules/n.txt"), /rare/);
});

const BAD: readonly (readonly [object, RegExp])[] = [
  [{ ranks: [], fit: { top: 5 } }, /fit\.top needs ranks/],
  [{ fit: { top: 0 } }, /fit\.top is 0, which no name has/],
  [{ lists: [{ name: "A", fit: { top: 0 } }] }, /fit\.top is 0, which no name has/],
  [{ ranks: [], guards: GUARD }, /guards\.newly_blocks needs ranks/],
  [{ ranks: [{ source: "a", type: "hosts" }] }, /ranks\[0\]\.type is hosts/],
  [
    { sources: [{ source: "top.csv", type: "tranco" }] },
    /sources\[0\]\.type is tranco, a list of popular names[^]*Move it to ranks/,
  ],
  [{ sources: [{ source: "top.csv", type: "umbrella" }] }, /type is umbrella/],
  [{ ranks: [{ source: "a", type: "csv" }] }, /ranks\[0\]\.column is required/],
  [{ guards: { newly_blocks: 1e9 } }, /newly_blocks must be a whole number from 0 to 100000/],
  [{ ranks: ["missing.csv"], fit: { top: 5 } }, /File not found: missing\.csv/],
  [{ ranks: ["known.txt"], fit: { top: 5 } }, /known\.txt/],
  [{ expand: { names: [{ source: "a", type: "rpz" }] } }, /expand\.names\[0\]\.type is rpz/],
  [{ lists: [{ name: "A", expand: [] }] }, /lists\[0\]\.expand must be an object/],
  [{ ranks: [], lists: [{ name: "A", expand: {} }] }, /expand without names or logs needs ranks/],
];

for (const [more, said] of BAD)
  test(`refuses ${JSON.stringify(more)}`, async () => {
    const { exit, stderr } = await project(more).run("-c", "c.json");
    assert.notEqual(exit, 0);
    assert.match(stderr, said);
  });

test("ranks may be any feed, and bad lines keep their place", async () => {
  const rows = [
    "host,n",
    "https://one.example/,1",
    "not a name,2",
    "two.example,3",
    "three.example,4",
  ];
  const ranks = [{ source: "top", type: "csv", column: "host" }, "more.txt"];
  const files = {
    top: rows.join("\n"),
    "more.txt": "# names\n\nFOUR.example\n",
    "ads.txt": "||one.example^\n||two.example^\n||three.example^\n||four.example^\n",
  };
  const kept = async (top: number): Promise<string[]> => {
    const one = project({ ranks, fit: { top } }, files);
    assert.equal((await one.run("-c", "c.json")).exit, 0);
    return one.text("rules/n.txt").match(/(?<=\|\|)\w+/g) ?? [];
  };
  assert.deepEqual(await kept(1), ["one", "four"]);
  assert.deepEqual(await kept(2), ["one", "four"]);
  assert.deepEqual(await kept(3), ["one", "two", "four"]);
  assert.deepEqual(await kept(4), ["one", "two", "three", "four"]);
});

test("why, plan, diff and report show ranks", async () => {
  const one = project();
  assert.equal((await one.run("-c", "c.json")).exit, 0);
  const why = await one.run("why", "-c", "c.json", "ads.tracker.example", "x.big.example");
  assert.match(why.stdout, /^ads\.tracker\.example {2}BLOCKED[^]*^ {2}rank 3$/m);
  assert.match(why.stdout, /^ {2}big\.example has rank 4$/m);
  const json = await one.run("why", "-c", "c.json", "x.big.example", "--json");
  assert.deepEqual((nameIn(json.stdout) as { rank: unknown }).rank, { rank: 4, of: "big.example" });

  one.write("old.txt", one.text("rules/n.txt"));
  one.write("ads.txt", `||aaa.example^\n||big.example^\n${NEWLY}`);
  const plan = await one.run("plan", "-c", "c.json");
  // The most popular first, then those without a rank.
  const names =
    /search\.example and below, rank 1 [^]*shop\.example and below, rank 2 [^]*big\.example and below, rank 4 [^]*aaa\.example and below {2}/;
  assert.match(plan.stdout, names);
  const planned = listIn((await one.run("plan", "-c", "c.json", "--json")).stdout) as {
    changes: { name: string; rank?: number }[];
  };
  const ranks = planned.changes.map(({ name, rank }) => [name, rank]);
  assert.deepEqual(Object.fromEntries(ranks), {
    "aaa.example": undefined,
    "big.example": 4,
    "search.example": 1,
    "shop.example": 2,
  });
  assert.equal((await one.run("-c", "c.json")).exit, 0);
  const diff = await one.run("diff", "-c", "c.json", "old.txt", "c.json");
  assert.match(diff.stdout, names);
  assert.equal((await one.run("stats", "-c", "c.json", "--html", "r.html")).exit, 0);
  assert.match(one.text("r.html"), /Most popular blocked names[^]*search\.example/);
  // Answers do not depend on ranks.
  one.memory.files.delete("/project/top.csv");
  const without = await one.run("why", "-c", "c.json", "search.example");
  assert.match(without.stdout, /BLOCKED/);
  assert.doesNotMatch(without.stdout, /rank/);
});

test("expand writes known names, and a rollback and a saved plan write them again", async () => {
  const one = project(
    {
      ranks: [],
      expand: { names: ["top.csv", "more.txt"] },
      outputs: ["hosts", "dnsmasq", "adblock"].map((format) => ({ format, file: `${format}.txt` })),
    },
    {
      "more.txt":
        "ads7.shop.example\nx.ads8.shop.example\nads9.shop.example\nsub.plain.example\nfree.plain.example\n",
      "ads.txt":
        "||ads*.shop.example^\n/^ads[.]/\n@@||ads9.shop.example^\n@@|free.plain.example^\n||plain.example^\n",
    },
  );
  const namesIn = (file: string): string[] =>
    one
      .text(`rules/${file}`)
      .split("\n")
      .filter((line) => /^(?:0\.0\.0\.0|address|local|[|@/])/.test(line));
  const run = await one.run("-c", "c.json", "--verbose");
  assert.equal(run.exit, 0, run.stderr);
  assert.match(run.stderr, /written as known names: 2 patterns \(\|\|ads\*\.shop\.example\^\)/);
  const hosts = ["plain", "sub.plain", "ads.tracker", "ads7.shop", "x.ads8.shop"];
  const expected = hosts.map((name) => `0.0.0.0 ${name}.example`).toSorted();
  assert.deepEqual(namesIn("hosts.txt").toSorted(), expected);
  // The expression does not match the names below.
  assert.match(one.text("rules/dnsmasq.txt"), /^server=\/\*\.ads\.tracker\.example\/#$/m);
  assert.match(one.text("rules/dnsmasq.txt"), /x\.ads8\.shop\.example/);
  assert.doesNotMatch(one.text("rules/adblock.txt"), /ads7/);
  const before = one.text("rules/hosts.txt");

  one.now = "2026-11-11T00:00:00Z";
  one.write("ads.txt", "||plain.example^\n||other.example^\n||third.example^\n");
  assert.equal((await one.run("plan", "-c", "c.json", "--save", "p.plan")).exit, 0);
  assert.equal((await one.run("apply", "p.plan")).exit, 0);
  assert.doesNotMatch(one.text("rules/hosts.txt"), /ads7/);
  assert.equal((await one.run("rollback", "-c", "c.json")).exit, 0);
  assert.deepEqual(namesIn("hosts.txt").toSorted(), expected);
  assert.match(before, /ads7/);
});
