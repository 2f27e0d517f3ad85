import assert from "node:assert/strict";
import { test } from "node:test";
import type { DecideDocument } from "../../src/documents/documents.ts";
import { MemoryProject } from "../support/memory-project.ts";
import { webOf } from "../support/web-of.ts";

const URL_A = "https://a.example.org/list.txt";
const URL_B = "https://b.example.org/list.txt";
const CONFIG = `# mine
name: N
sources:
  - source: ${URL_A}
    name: A
  - source: ${URL_B}
    name: B
transformations: [RemoveComments, Compress]
outputs:
  - format: hosts
    file: n.hosts
`;

interface Fixture {
  readonly project: MemoryProject;
  readonly answers: Record<string, string>;
  readonly asked: string[];
}

/** A published list of two remote sources, which change afterwards. */
async function published(): Promise<Fixture> {
  const answers: Record<string, string> = {
    [URL_A]: "||ads.example.com^\n||shop.example.net^\n||two.example.net^\n",
    [URL_B]: "0.0.0.0 three.example.net\n@@||free.example.net^\n",
  };
  const asked: string[] = [];
  const web = webOf(answers);
  const project = new MemoryProject(
    { "c.yaml": CONFIG },
    {
      fetch: async (request) => {
        asked.push(request.url);
        return await web.fetch(request);
      },
    },
  );
  const { exit, stderr } = await project.run("-c", "c.yaml", "--cache-dir", "cache");
  assert.equal(exit, 0, stderr);
  asked.length = 0;
  answers[URL_A] = "||changed.example.net^\n||ads.example.com^\n||two.example.net^\n";
  delete answers[URL_B];
  return { project, answers, asked };
}

function linesIn(text: string): Set<string> {
  return new Set(text.split("\n").filter((line) => line !== "" && !/^[!#]/.test(line)));
}

function changed(before: string, after: string): string[] {
  const [old, now] = [linesIn(before), linesIn(after)];
  return [
    ...[...now].filter((line) => !old.has(line)).map((line) => `+${line}`),
    ...[...old].filter((line) => !now.has(line)).map((line) => `-${line}`),
  ];
}

test("allow and block change one name, without a request", async () => {
  const { project, asked } = await published();
  const steps: readonly (readonly [string[], string[], string[]])[] = [
    [
      ["allow", "https://Shop.example.net./cart?x"],
      ["-||shop.example.net^"],
      ["-0.0.0.0 shop.example.net"],
    ],
    [
      ["block", "free.example.net"],
      ["+||free.example.net^", "-@@||free.example.net^"],
      ["+0.0.0.0 free.example.net"],
    ],
    [["allow", "x.ads.example.com", "--exact"], ["+@@|x.ads.example.com^"], []],
    [
      ["allow", "shop.example.net", "--remove"],
      ["+||shop.example.net^"],
      ["+0.0.0.0 shop.example.net"],
    ],
    // The later of two contrary decisions replaces the earlier one.
    [
      ["allow", "free.example.net/start?a"],
      ["-||free.example.net^", "+@@||free.example.net^"],
      ["-0.0.0.0 free.example.net"],
    ],
  ];
  for (const [words, list, hosts] of steps) {
    const before = [project.text("rules/n.txt"), project.text("rules/n.hosts")] as const;
    const { exit, stderr } = await project.run(...words, "-c", "c.yaml", "--cache-dir", "cache");
    assert.equal(exit, 0, stderr);
    assert.deepEqual(
      changed(before[0], project.text("rules/n.txt")).toSorted(),
      list.toSorted(),
      words.join(" "),
    );
    assert.deepEqual(
      changed(before[1], project.text("rules/n.hosts")).toSorted(),
      hosts.toSorted(),
      words.join(" "),
    );
  }
  assert.deepEqual(asked, []);
  const log = await project.run("log", "-c", "c.yaml");
  for (const note of ["allow shop.example.net", "removed: allow shop.example.net"])
    assert.match(log.stdout, new RegExp(`published .*  ${note}$`, "m"));
  assert.equal(project.text("c.yaml"), CONFIG);
  assert.equal(
    project
      .text("decisions.txt")
      .split("\n")
      .filter((line) => line.startsWith("allow")).length,
    2,
  );
  // The next compile asks again, and keeps the decisions.
  await project.run("-c", "c.yaml", "--cache-dir", "cache");
  assert.ok(asked.length > 0);
  assert.ok(project.text("rules/n.txt").includes("||changed.example.net^"));
  assert.ok(project.text("rules/n.txt").includes("@@|x.ads.example.com^"));
});

test("decisions that are made at the same time are all written", async () => {
  const { project } = await published();
  const names = ["one.example", "two.example", "three.example", "four.example"];
  await Promise.all(
    names.map((name) => project.run("block", name, "-c", "c.yaml", "--cache-dir", "cache")),
  );
  for (const name of names)
    assert.match(project.text("decisions.txt"), new RegExp(`^block ${name} `, "m"));
});

test("a decision about a name alone leaves the contrary one about the names below it", async () => {
  const { project } = await published();
  const where = ["-c", "c.yaml", "--cache-dir", "cache"];
  const decisions = (): string[] => project.text("decisions.txt").match(/^(?:allow|block).*/gm)!;
  await project.run("block", "casino.example", ...where);
  await project.run("allow", "casino.example", "--exact", ...where);
  const two = [/^block casino\.example since/, /^allow casino\.example exact since/];
  assert.equal(decisions().length, two.length);
  for (const [index, wanted] of two.entries()) assert.match(decisions()[index]!, wanted);
  const list = project.text("rules/n.txt");
  assert.match(list, /^\|\|casino\.example\^$/m);
  assert.match(list, /^@@\|casino\.example\^$/m);
  await project.run("allow", "casino.example", ...where);
  assert.equal(decisions().length, 1);
});

test("a decision about a held list is written, and says that it is not applied", async () => {
  const { project } = await published();
  const where = ["-c", "c.yaml", "--cache-dir", "cache"];
  await project.run("hold", "-c", "c.yaml");
  const before = project.text("rules/n.txt");
  const { stdout, stderr } = await project.run("block", "new.example", "--json", ...where);
  const { isApplied, lists } = JSON.parse(stdout) as DecideDocument;
  assert.deepEqual({ isApplied, lists }, { isApplied: false, lists: [] });
  assert.match(stderr, /list-held/);
  const said = await project.run("block", "new.example", ...where);
  assert.match(said.stderr, /^N is held: the next compile that publishes it applies it$/m);
  assert.equal(project.text("rules/n.txt"), before);
  await project.run("hold", "--end", "-c", "c.yaml");
  await project.run(...where);
  assert.match(project.text("rules/n.txt"), /^\|\|new\.example\^$/m);
});

test("where the texts are lost, the decision is written, and the next compile applies it", async () => {
  const { project, answers, asked } = await published();
  const before = project.text("rules/n.txt");
  for (const path of project.memory.files.keys())
    if (path.includes("/cache/objects/")) project.memory.files.delete(path);
  const { exit, stderr } = await project.run(
    "block",
    "new.example.net",
    "-c",
    "c.yaml",
    "--cache-dir",
    "cache",
  );
  assert.equal(exit, 0, stderr);
  assert.match(stderr, /published text of A is not stored: the next compile applies it/);
  assert.equal(project.text("rules/n.txt"), before);
  assert.deepEqual(asked, []);
  assert.match(project.text("decisions.txt"), /^block new\.example\.net since 2026-11-10$/m);
  answers[URL_A] = "||ads.example.com^\n||shop.example.net^\n||two.example.net^\n";
  answers[URL_B] = "0.0.0.0 three.example.net\n";
  const next = await project.run("-c", "c.yaml", "--cache-dir", "cache");
  assert.ok(project.text("rules/n.txt").includes("||new.example.net^"));
  assert.doesNotMatch(next.stderr, /published again/);
});

test("a source that was never read does not stop a decision", async () => {
  const answers: Record<string, string> = { [URL_A]: "||ads.example.com^\n||x.example.net^\n" };
  const project = new MemoryProject({ "c.yaml": CONFIG }, webOf(answers));
  const where = ["-c", "c.yaml", "--cache-dir", "cache"];
  await project.run(...where);
  const said = await project.run("allow", "x.example.net", ...where, "--json");
  assert.equal(said.exit, 0, said.stderr);
  assert.equal((JSON.parse(said.stdout) as DecideDocument).isApplied, true, said.stderr);
  assert.match(project.text("rules/n.txt"), /^\|\|ads\.example\.com\^$/m);
  assert.doesNotMatch(project.text("rules/n.txt"), /^\|\|x\.example\.net\^$/m);
  assert.doesNotMatch(said.stderr, /not stored|left out/);
  // Nor does one that was added since, required or not, or a list without its first build.
  const more = "https://c.example.org/list.txt";
  answers[more] = "||c.example.net^\n";
  project.write(
    "c.yaml",
    `${CONFIG.replace(/outputs:.*/s, "")}lists: [{ name: N }, { name: M }]\n`.replace(
      "    name: B",
      `$&\n  - source: ${more}\n    required: true`,
    ),
  );
  const added = await project.run("block", "y.example.net", ...where, "--filter", "N");
  assert.equal(added.exit, 0, added.stderr);
  assert.match(project.text("rules/n.txt"), /^\|\|ads\.example\.com\^\n\|\|y\.example\.net\^$/m);
  const first = await project.run("block", "z.example.net", ...where, "--filter", "M");
  assert.equal(first.exit, 0, first.stderr);
  assert.match(first.stderr, /is not stored: the next compile applies it/);
  // Both are asked for again by the next compile.
  const { stderr } = await project.run(...where);
  assert.match(project.text("rules/n.txt"), /^\|\|c\.example\.net\^$/m);
  assert.doesNotMatch(stderr, /published again/);
});

test("a decision names the other configurations of the folder, which it holds for, too", async () => {
  const { project } = await published();
  const where = ["-c", "c.yaml", "--cache-dir", "cache"];
  const alone = await project.run("block", "one.example", ...where);
  assert.doesNotMatch(alone.stderr, /holds for/);
  project.write("kids.yaml", "name: Kids\nsources: [a.txt]\n");
  project.write("a.txt", "||a.example^\n");
  project.write("other.yaml", "services: {}\n");
  const { stderr } = await project.run("block", "two.example", ...where);
  assert.match(
    stderr,
    /^It holds for the next compile of kids\.yaml, too; --filter LIST decides for one list$/m,
  );
  const kids = ["-c", "kids.yaml", "--cache-dir", "cache"];
  await project.run(...kids);
  const filtered = await project.run("block", "three.example", ...kids, "--filter", "kids");
  assert.doesNotMatch(filtered.stderr, /holds for/);
  await project.run(...where);
  assert.match(project.text("rules/kids.txt"), /\|\|two\.example\^\n\|\|three\.example\^/);
  assert.doesNotMatch(project.text("rules/n.txt"), /three\.example\^/);
});

test("a rollback and why name the decisions that wait for the next publish", async () => {
  const { project } = await published();
  const where = ["-c", "c.yaml", "--cache-dir", "cache"];
  await project.run("block", "one.example", ...where);
  project.now = "2026-11-10T01:00:00Z";
  await project.run("allow", "one.example", ...where);
  project.now = "2026-11-10T02:00:00Z";
  const { stderr } = await project.run("rollback", "@1", "-c", "c.yaml");
  const waits = "waits for the next publish: allow one.example  decisions.txt:3";
  assert.ok(stderr.includes(`\n${waits}`), stderr);
  const why = await project.run("why", "a.one.example", "two.example", ...where);
  assert.match(why.stdout, /^a\.one\.example {2}BLOCKED/);
  assert.equal(why.stdout.split(`  ${waits}`).length, 2, why.stdout);
  await project.run(...where);
  const after = await project.run("why", "one.example", ...where);
  assert.doesNotMatch(after.stdout, /waits|BLOCKED/);
});

test("why says that a decision is the reason, also for a line that another one made redundant", async () => {
  const files = { "c.yaml": "name: N\nsources: [a.txt]\ntransformations: [Compress]\n" };
  const lines = "||x.example.net^\n||a.x.example.net^\n||b.a.x.example.net^\n||y.example.net^\n";
  const project = new MemoryProject({ ...files, "a.txt": lines });
  const where = ["-c", "c.yaml"];
  await project.run(...where);
  await project.run("allow", "x.example.net", ...where);
  const { stdout } = await project.run("why", "b.a.x.example.net", ...where);
  assert.equal(stdout.match(/decided, the decision of the user/g)?.length, 2, stdout);
  assert.doesNotMatch(stdout, /covered/);
});

test("a decision says which one it replaces", async () => {
  const { project } = await published();
  const where = ["-c", "c.yaml", "--cache-dir", "cache"];
  const first = await project.run("allow", "shop.example.net", "--reason", "The cart", ...where);
  assert.doesNotMatch(first.stderr, /replaces/);
  const again = await project.run("allow", "shop.example.net", ...where);
  assert.match(again.stderr, /^replaces: allow shop\.example\.net .*: The cart$/m);
  const same = await project.run("allow", "shop.example.net", ...where);
  assert.doesNotMatch(same.stderr, /replaces/);
  const other = await project.run("block", "shop.example.net", ...where);
  assert.match(other.stderr, /^replaces: allow shop\.example\.net/m);
});

test("a decision for one list is removed with --filter, and the hint says so", async () => {
  const { project } = await published();
  const where = ["-c", "c.yaml", "--cache-dir", "cache"];
  const hintOf = async (...words: string[]): Promise<string | undefined> => {
    const { exit, stderr } = await project.run(...words, "--remove", ...where);
    assert.equal(exit, 2, stderr);
    return /hint: (?<hint>.*)/.exec(stderr)?.groups?.["hint"];
  };
  project.write("decisions.txt", "allow b.example in kids\nallow all.example\n");
  assert.equal(
    await hintOf("allow", "b.example"),
    "There is one for the list kids: add --filter kids",
  );
  assert.equal(
    await hintOf("allow", "all.example", "--filter", "N"),
    "There is one for all lists: remove it without --filter",
  );
  assert.match((await hintOf("block", "b.example"))!, /--list shows/);
});

test("the log says that a source with a problem was removed", async () => {
  const project = new MemoryProject({ "c.yaml": CONFIG }, webOf({ [URL_A]: "||a.example^\n" }));
  const where = ["-c", "c.yaml", "--cache-dir", "cache"];
  await project.run(...where);
  project.write("c.yaml", CONFIG.replace(/ {2}- source: \S+\n {4}name: B\n/, ""));
  project.now = "2026-11-11T00:00:00Z";
  const { stderr } = await project.run(...where);
  assert.doesNotMatch(stderr, /no longer/);
  const { stdout } = await project.run("log", "-c", "c.yaml");
  assert.match(stdout, /^ *2026-11-11 .*ended .* B is no longer in the configuration$/m);
  assert.match(stdout, /^ *2026-11-10 .*began .* B failed/m);
});

test("comments and order of the file stay, and what is not a decision is refused", async () => {
  const { project } = await published();
  project.write(
    "decisions.txt",
    "# one\nblock a.example.net # why\n\n# two\nallow b.example.net\n",
  );
  await project.run(
    "allow",
    "a.example.net",
    "-c",
    "c.yaml",
    "--cache-dir",
    "cache",
    "--reason",
    "other\nlines",
    "--until",
    "2026-12-01",
    "--ref",
    "#7",
  );
  assert.equal(
    project.text("decisions.txt"),
    "# one\nallow a.example.net since 2026-11-10 until 2026-12-01 ref #7 # other lines\n\n# two\nallow b.example.net\n",
  );
  for (const words of [
    ["block", "com"],
    ["allow", "10.1.2.3"],
    ["block", "x y"],
    ["allow", "c.example.net", "--until", "2026-11-09"],
    ["block", "b.example.net", "--remove"],
    ["allow"],
  ]) {
    const kept = project.text("decisions.txt");
    const { exit } = await project.run(...words, "-c", "c.yaml", "--cache-dir", "cache");
    assert.equal(exit, 2, words.join(" "));
    assert.equal(project.text("decisions.txt"), kept);
  }
});

test("the decision to allow a household name confirms that rules against it are dropped", async () => {
  const { project, answers } = await published();
  answers[URL_A] = "||google.com^\n||ads.example.com^\n||shop.example.net^\n||two.example.net^\n";
  answers[URL_B] = "0.0.0.0 three.example.net\n";
  const words = ["-c", "c.yaml", "--cache-dir", "cache"];
  assert.match((await project.run(...words)).stderr, /household-names/);
  const { stderr, exit } = await project.run("allow", "google.com", ...words, "--json");
  assert.equal(exit, 0, stderr);
  project.now = "2026-11-11T00:00:00Z";
  const { stdout } = await project.run(...words, "--json");
  assert.doesNotMatch(stdout, /household-names|"household":\[/);
});

test("decisions alone do not make a list while its sources are gone", async () => {
  const files = {
    "c.yaml": `name: N\nsources: [${URL_A}]\n`,
    "decisions.txt": "block x.example.net\n",
  };
  const project = new MemoryProject(files, webOf({}));
  const { exit, stderr } = await project.run("-c", "c.yaml");
  assert.equal(exit, 4, stderr);
  assert.ok([...project.memory.files.keys()].every((path) => !path.endsWith("rules/n.txt")));
});
