import assert from "node:assert/strict";
import { test } from "node:test";
import { run } from "../../src/cli/main.ts";
import { ScriptedWeb } from "../support/scripted-web.ts";
import type { MemoryHost } from "../support/internals.ts";
import { packingHost } from "../support/packing-host.ts";

const FAR = "https://a.example/l.txt";
const OTHER = "https://b.example/l.txt";
const SOURCES = "/project/rules/n.sources.json";
const LIST = "/project/rules/n.txt";

function names(count: number, start = "n"): string {
  return Array.from({ length: count }, (_, index) => `||${start}${index}.example^\n`).join("");
}

/** A configuration with two remote sources. */
class Project {
  readonly web: ScriptedWeb;

  constructor(more: object = {}) {
    const sources = [{ source: FAR, name: "Far" }, { source: OTHER }];
    this.web = new ScriptedWeb({ "c.json": JSON.stringify({ name: "N", sources, ...more }) });
    this.web.answers[FAR] = names(3000);
    this.web.answers[OTHER] = names(10, "o");
  }

  get host(): MemoryHost {
    return this.web.host as MemoryHost;
  }

  async run(...more: string[]): Promise<{ exit: number; said: string }> {
    this.host.output.stderr = "";
    const exit = await run(
      [...more, "-c", "c.json"],
      { ...packingHost(this.host), cacheDir: () => "/project/cache" },
      new AbortController().signal,
    );
    return { exit, said: this.host.output.stderr };
  }

  text(path: string): string {
    return new TextDecoder().decode(this.host.files.get(path));
  }

  get rules(): number {
    return this.text(LIST)
      .split("\n")
      .filter((line) => line.startsWith("||")).length;
  }

  /** Removes the state, as in a fresh clone. */
  forget(isOf: (path: string) => boolean): void {
    for (const path of this.host.files.keys()) if (isOf(path)) this.host.files.delete(path);
  }
}

function isState(path: string): boolean {
  return path.includes(".rules-compiler/");
}

test("what is published of each remote source is in a file beside the list", async () => {
  const project = new Project({ manifest: {} });
  assert.equal((await project.run()).exit, 0);
  const before = project.text(SOURCES);
  const { list, sources } = JSON.parse(before) as {
    list: string;
    sources: { name: string; names: number; state: string; since: string; sketch: string }[];
  };
  assert.equal(list, "N");
  assert.deepEqual(
    sources.map((one) => [one.name, one.names, one.state, one.since]),
    [
      ["Far", 3000, "fetched", "2026-01-01"],
      [OTHER, 10, "fetched", "2026-01-01"],
    ],
  );
  assert.ok(before.length < 2500, `${before.length} bytes`);
  const manifest = JSON.parse(project.text("/project/rules/manifest.json")) as {
    files: { file: string }[];
  };
  assert.deepEqual(
    manifest.files.map(({ file }) => file),
    ["n.txt", "n.sources.json"],
  );
  const args = ["verify", "rules/manifest.json"];
  assert.equal(await run(args, project.host, new AbortController().signal), 0);
});

test("neither a list that is written alone nor one of own files has such a file", async () => {
  for (const output of ["try.txt", "-"]) {
    const project = new Project();
    await project.run("-o", output);
    assert.ok(![...project.host.files.keys()].some((path) => path.endsWith(".sources.json")));
  }
  const project = new Project({ sources: [{ source: "c.json", type: "domains" }] });
  await project.run();
  assert.equal(project.host.files.has(SOURCES), false);
});

test("where state is lost, the published file is the baseline, and the run reports it", async () => {
  for (const [what, text, code] of [
    ["a tenth is left", names(300), "source-shrunk"],
    ["ten times as much", names(30_000), "source-grown"],
    ["other names", names(3000, "x"), "source-replaced"],
  ] as const) {
    const project = new Project();
    assert.equal((await project.run()).exit, 0);
    project.forget(isState);
    project.web.answers[FAR] = text;
    const { said } = await project.run();
    assert.match(said, /note\[sources-state-lost\]/, what);
    assert.match(said, new RegExp(`--accept ${code}`), what);
    assert.equal(project.rules, 3010, what);
    assert.ok(!(await project.run()).said.includes("sources-state-lost"), "once");
    // Without the cache, too, as in a fresh clone: the text is lost, but the list does not take the change.
    project.forget((path) => isState(path) || path.includes("/objects/"));
    await project.run();
    assert.equal(project.rules, 3010, `${what}, in a fresh clone`);
  }
});

test("a source that differs too much, and whose text is lost, is not called unreadable", async () => {
  const project = new Project();
  project.web.answers[OTHER] = names(12_000, "o");
  await project.run();
  project.forget((path) => path.includes("/objects/"));
  project.web.answers[FAR] = names(300);
  const { said, exit } = await project.run();
  assert.equal(exit, 0, said);
  assert.equal(project.rules, 12_000);
  const told =
    /source-dropped\]: Far differs too much and is left out: its published text is not in the cache\n.*\n.*--accept source-shrunk/;
  assert.match(said, told);
  assert.match(said, / Far .* left out: differs too much\n/);
  assert.match(project.text("/project/rules/n.txt"), /Left out: source differs too much/);
});

test("where state is lost, a source still blocks only the kinds of names that it blocked", async () => {
  const project = new Project();
  project.web.answers[OTHER] = `${names(10, "o")}||facebook.com^\n`;
  await project.run();
  assert.match(project.text(SOURCES), /"kinds": \{\s*"social": 1\s*\}/);
  project.forget(isState);
  project.web.answers[FAR] = `${names(3000)}||instagram.com^\n`;
  project.web.answers[OTHER] = `${names(10, "o")}||facebook.com^\n||x.com^\n`;
  const { exit, said } = await project.run();
  assert.equal(exit, 0, said);
  assert.match(said, /household-names\]: Far would block 1 name that people need/);
  const text = project.text(LIST);
  assert.deepEqual(
    ["facebook.com", "x.com", "instagram.com"].map((name) => text.includes(`||${name}^`)),
    [true, true, false],
  );
});

test("where state is lost, an ordinary change passes, and a source that the file does not name is new", async () => {
  const project = new Project();
  await project.run();
  project.forget(isState);
  project.web.answers[FAR] = names(3100);
  project.web.answers[OTHER] = names(11, "o");
  assert.equal((await project.run()).exit, 0);
  assert.equal(project.rules, 3111);
  const file = JSON.parse(project.text(SOURCES)) as { sources: unknown[] };
  file.sources.splice(0, 1);
  project.host.files.set(SOURCES, new TextEncoder().encode(JSON.stringify(file)));
  project.forget(isState);
  project.web.answers[FAR] = names(100_000);
  assert.equal((await project.run()).exit, 0);
  assert.equal(project.rules, 100_011);
});

test("a damaged ledger counts as lost", async () => {
  for (const text of ["{", "[]", '{"version":1}']) {
    const project = new Project();
    await project.run();
    const path = "/project/rules/.rules-compiler/sources.json";
    assert.ok(project.host.files.has(path));
    project.host.files.set(path, new TextEncoder().encode(text));
    project.web.answers[FAR] = names(300);
    assert.match((await project.run()).said, /state of the sources is damaged/);
    assert.equal(project.rules, 3010);
  }
});

test("plan reads the ledger and never writes it", async () => {
  const project = new Project();
  await project.run();
  project.web.time = new Date(project.web.time.getTime() + 86_400_000);
  project.web.answers[FAR] = names(300);
  const path = "/project/rules/.rules-compiler/sources.json";
  const before = project.text(path);
  await project.run("plan");
  assert.equal(project.text(path), before);
  await project.run();
  assert.notEqual(project.text(path), before);
});

test("what rollback and apply publish is what sources are compared with", async () => {
  const project = new Project();
  assert.equal((await project.run("plan", "--save", "p")).exit, 0);
  const { exit, said } = await project.run("apply", "p");
  assert.equal(exit, 0, said);
  assert.equal(project.rules, 3010);
  project.web.answers[FAR] = names(100);
  assert.match((await project.run()).said, /source-held/);
  assert.equal(project.rules, 3010);
  const accepted = await project.run("--accept", "source-shrunk");
  assert.equal(accepted.exit, 0, accepted.said);
  assert.equal(project.rules, 110);
  const back = await project.run("rollback");
  assert.equal(back.exit, 0, back.said);
  assert.equal(project.rules, 3010);
  const again = await project.run();
  assert.match(
    again.said,
    /lost more than 50 % of its names/,
    "compared with the text of the rolled-back build",
  );
  assert.equal(project.rules, 3010);
});
