import assert from "node:assert/strict";
import { test } from "node:test";
import { run } from "../../src/cli/main.ts";
import { type Config, type MemoryHost, memoryHost } from "../support/internals.ts";
import { listIn } from "../support/documents.ts";

const NAMES = Array.from({ length: 300 }, (_, index) => `||n${index}.example^`);

class Project {
  readonly host: MemoryHost;

  constructor(config: object) {
    this.host = memoryHost({ files: { "c.json": JSON.stringify(config) } });
    this.write(NAMES);
  }

  write(lines: readonly string[]): void {
    this.host.files.set("/project/own.txt", new TextEncoder().encode(`${lines.join("\n")}\n`));
  }

  async run(...more: string[]): Promise<{ exit: number; said: string; stdout: string }> {
    this.host.output.stderr = this.host.output.stdout = "";
    const exit = await run(["-c", "c.json", ...more], this.host, new AbortController().signal);
    return { exit, said: this.host.output.stderr, stdout: this.host.output.stdout };
  }
}

const ONE: Config = { name: "N", sources: [{ source: "own.txt", name: "Own", type: "adblock" }] };

test("a refusal shows the summary of the sources before the causes", async () => {
  const project = new Project(ONE);
  assert.equal((await project.run()).exit, 0);
  project.write([...NAMES, "||apple.com^"]);
  const { exit, said } = await project.run();
  assert.equal(exit, 5);
  assert.match(
    said,
    / {2}Own {7}301 {3}301 {8}0[^]*error\[blocks-protected\][^]*--> own\.txt:301\n/,
  );
  const quiet = await project.run("--quiet");
  assert.match(quiet.said, /^error\[blocks-protected\]/);
});

test("a refusal shows the summary for an empty output and for one of several lists", async () => {
  const outputs: Config = { ...ONE, outputs: [{ format: "wildcard" }] };
  const empty = new Project(outputs);
  empty.write(["0.0.0.0 a.example", "0.0.0.0 b.example"]);
  const { exit, said } = await empty.run();
  assert.equal(exit, 5, said);
  assert.match(said, /\n {2}total [^]*error\[empty-output\]/);
  const several = new Project({
    ...ONE,
    lists: [
      { name: "A", sources: ["Own"] },
      { name: "B", sources: ["Own"], guards: { min_rules: 1000 } },
    ],
  });
  const both = await several.run();
  assert.equal(both.exit, 5);
  assert.match(both.said, /\nB\n {2}source [^]*\n {2}total [^]*error\[too-few-rules\]: B: /);
});

test("with --json, a refused list has a report with its causes", async () => {
  const project = new Project(ONE);
  await project.run();
  project.write([...NAMES, "||apple.com^"]);
  const { exit, stdout } = await project.run("--json");
  assert.equal(exit, 5);
  const report = listIn(stdout) as {
    outputs: unknown[];
    sources: { lines: number }[];
    violations: { code: string; at: { file: string; line: number } }[];
  };
  assert.deepEqual(report.outputs, []);
  assert.equal(report.sources[0]!.lines, 301);
  assert.equal(report.violations[0]!.code, "blocks-protected");
  assert.equal(report.violations[0]!.at.line, 301);
});

/** The longest run of names with commas between them. */
function mostNames(text: string): number {
  const listed = text.match(/[\w*|^/.-]+(?:, "?[\w*|^/.-]+)+/g) ?? [];
  return Math.max(0, ...listed.map((one) => one.split(", ").length));
}

const TOP = "top zip xyz click link work date bid win loan men".split(" ");

for (const [what, lines, config] of [
  ["protected names of one rule", ["||apple.com^"], {}],
  ["protected names of many rules", ["||apple.com^", "||google.com^", "||microsoft.com^"], {}],
  ["many suffixes", TOP.map((suffix) => `||${suffix}^`), {}],
  ["the largest suffixes", "com net org de nl fr eu".split(" ").map((one) => `||${one}^`), {}],
  ["nearly everything, many times", ["*", "/./", "||*^", "/^.*$/", "/.+/", "*.*", "/[a-z]/"], {}],
  [
    "allow-list without use",
    [],
    { allow: Array.from({ length: 80 }, (_, index) => `unused${index}.example`) },
  ],
] as const)
  test(`one message shows at most five names, and all with --verbose: ${what}`, async () => {
    const project = new Project({ ...ONE, ...config });
    const first = await project.run("--accept", "blocks-suffix");
    project.write([...NAMES, ...lines]);
    const said = first.said + (await project.run()).said;
    assert.ok(mostNames(said) <= 5, said);
    const headings = said.split("\n").filter((line) => /^(?:error|warning)\[/.test(line));
    const codes = headings.map((line) => line.slice(0, line.indexOf("]")));
    assert.deepEqual([...new Set(codes)], codes, said);
    assert.ok(said.includes(" more"), said);
    const loud = await project.run("--verbose");
    const all = /\n {2}= all: \[(?<names>.+)\]\n/.exec(loud.said)?.groups?.["names"] ?? "";
    assert.ok(all.split(", ").length > 5, loud.said);
  });

test("a problem that several lists share is reported once", async () => {
  const project = new Project({
    ...ONE,
    lists: [
      { name: "A", sources: ["Own"] },
      { name: "B", sources: ["Own"] },
    ],
  });
  project.write([...NAMES, "||crl.microsoft.com^"]);
  const { exit, said } = await project.run();
  assert.equal(exit, 0);
  assert.equal(said.split("warning[protected-blocked]").length, 2, said);
});

const CSV = Array.from({ length: 1000 }, (_, index) => `${index + 1},site${index}.example`);

for (const [what, config, exit, message] of [
  [
    "guards.protect",
    { guards: { protect: ["t.csv"] } },
    2,
    /error\[bad-allow-entry\]: .*none of the 1,000 entries of guards\.protect is a name, such as 1,site0\.example\n {2}--> t\.csv:1\n/,
  ],
  [
    "allow_sources",
    { allow_sources: ["t.csv"] },
    0,
    /warning\[entries-ignored\]: 1,000 entries ignored, .*\n {2}--> t\.csv:1\n/,
  ],
  [
    "expressions of exclusions_sources",
    { exclusions_sources: ["bad.txt"] },
    2,
    /error\[bad-regex-entry\]: .*\/\(0\/ is not a regular expression, and so are 999 entries of the file\n {2}--> bad\.txt:1\n/,
  ],
  [
    "allow",
    { allow: CSV },
    2,
    /error\[bad-allow-entry\]: .*1,000 entries are not names to allow: /,
  ],
  [
    "guards.may_block",
    { guards: { may_block: CSV } },
    0,
    /warning\[may-block-unknown\]: 1,000 entries of guards\.may_block are not protected names: /,
  ],
] as const)
  test(`a file without names is one problem with a count: ${what}`, async () => {
    const project = new Project({ ...ONE, ...config });
    const bad = CSV.map((_, index) => `/(${index}/`);
    for (const [file, lines] of [
      ["t.csv", CSV],
      ["bad.txt", bad],
    ] as const)
      project.host.files.set(`/project/${file}`, new TextEncoder().encode(`${lines.join("\n")}\n`));
    const ended = await project.run();
    assert.equal(ended.exit, exit, ended.said.slice(0, 2000));
    assert.match(ended.said, message);
    assert.equal(ended.said.match(/^(?:error|warning)\[/gm)?.length, 1);
  });

test("a file of protected names may have a few other lines", async () => {
  const project = new Project({ ...ONE, guards: { protect: ["p.txt"] } });
  const text = "name\nn3.example\n1,n4.example\n";
  project.host.files.set("/project/p.txt", new TextEncoder().encode(text));
  const { exit, said } = await project.run();
  assert.equal(exit, 0);
  assert.match(said, /protected-blocked\]: \|\|n3\.example\^ blocks n3\.example/);
});
