import assert from "node:assert/strict";
import { test } from "node:test";
import { run } from "../../src/cli/main.ts";
import { type Config, type MemoryHost, memoryHost } from "../../src/index.ts";

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

test("a refusal shows what the sources gave before it says why", async () => {
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

test("the same for an output that would be empty, and for one of several lists", async () => {
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

test("for machines, a refused list has a report with its causes", async () => {
  const project = new Project(ONE);
  await project.run();
  project.write([...NAMES, "||apple.com^"]);
  const { exit, stdout } = await project.run("--json");
  assert.equal(exit, 5);
  const report = JSON.parse(stdout) as {
    outputs: unknown[];
    sources: { lines: number }[];
    refused: { code: string; at: { file: string; line: number } }[];
  };
  assert.deepEqual(report.outputs, []);
  assert.equal(report.sources[0]!.lines, 301);
  assert.equal(report.refused[0]!.code, "blocks-protected");
  assert.equal(report.refused[0]!.at.line, 301);
});
