import assert from "node:assert/strict";
import { test } from "node:test";
import { FORMAT_NAMES } from "../../src/config/outputs.ts";
import { MemoryProject } from "../support/memory-project.ts";
import { listIn } from "../support/documents.ts";

function entriesIn(text: string): string[] {
  return text.split("\n").filter((line) => line.trim() !== "" && !/^\s*[!#]/.test(line));
}

function projectOf(config: Record<string, unknown>, files: Record<string, string>): MemoryProject {
  return new MemoryProject({ ...files, "c.json": JSON.stringify({ name: "L", ...config }) });
}

/** Names of two sources, of which those of the second are more popular. */
const TWO = {
  one: Array.from({ length: 20 }, (_, index) => `||one${index}.com^`).join("\n"),
  two: "||two0.com^\n||two1.com^\n|exact.two2.com^\n||ads*.two3.com^\n@@||good.one1.com^",
  top: "two1.com\nwww.two0.com\none7.com\nads9.two3.com\ntwo2.com\nexact.two2.com\none1.com",
};
const SOURCES = ["one", "two"].map((source) => ({ name: source, source, type: "adblock" }));

function limited(format: string, max_rules: number, more: object = {}): MemoryProject {
  const outputs = [{ format, file: "out", fit: { max_rules } }];
  const config = { sources: SOURCES, ranks: ["top"], outputs, ...more };
  return projectOf(config, TWO);
}

test("the rules for popular names stay, in the order of the list", async () => {
  const project = limited("adblock", 5);
  const { exit, stdout, stderr } = await project.run("compile", "-c", "c.json", "--json");
  assert.equal(exit, 0, stderr);
  assert.deepEqual(entriesIn(project.text("rules/out")), [
    "||ads*.two3.com^",
    "@@||good.one1.com^",
    "||one7.com^",
    "||two0.com^",
    "||two1.com^",
  ]);
  const { outputs } = listIn(stdout) as { outputs: { leftOut?: unknown }[] };
  assert.deepEqual(outputs[1]!.leftOut, [
    { label: "two", names: 1 },
    { label: "one", names: 19 },
  ]);
});

test("if everything fits, the file is the same as without ranks", async () => {
  for (const format of ["adblock", "hosts", "rpz", "dnsmasq"]) {
    const texts = [];
    for (const ranks of [["top"], undefined]) {
      const project = limited(format, 100, { ranks });
      await project.run("compile", "-c", "c.json");
      texts.push(project.text("rules/out"));
    }
    assert.equal(texts[0], texts[1], format);
  }
});

test("no format exceeds its limit, and all keep the most popular name", async () => {
  for (const format of FORMAT_NAMES) {
    const project = limited(format, 8, { transformations: ["Validate", "Compress"] });
    const { exit, stderr } = await project.run("compile", "-c", "c.json");
    assert.equal(exit, 0, stderr);
    const text = project.text("rules/out");
    assert.match(text, /\btwo1\b/, format);
    assert.doesNotMatch(text, /\bone19\b/, format);
    const names = new Set(text.match(/\b(?:one|two)\d+\.com/g));
    assert.ok(names.size <= 8, `${format}: ${names.size}`);
  }
});

test("the canary of a list stays", async () => {
  const resolvers = [{ name: "r", address: "192.0.2.1" }];
  const project = limited("hosts", 3, { resolvers, transformations: ["Compress"] });
  const { exit, stderr } = await project.run("compile", "-c", "c.json");
  assert.equal(exit, 0, stderr);
  assert.match(project.text("rules/out"), /canary\.rules-compiler\.example/);
  assert.equal(entriesIn(project.text("rules/out")).length, 3);
});

test("rollback and apply choose the same rules, whatever is popular then", async () => {
  for (const format of ["adblock", "hosts", "rpz", "dnscrypt"]) {
    const project = limited(format, 6, {
      transformations: ["Compress"],
      expand: { names: ["known"] },
    });
    project.write("known", "ads9.two3.com\nads8.two3.com\n");
    project.now = "2026-11-10T00:00:00Z";
    await succeed(project, "plan", "-c", "c.json", "--save", "saved.plan");
    await succeed(project, "compile", "-c", "c.json");
    const built = undated(project.text("rules/out"));
    project.now = "2026-11-11T00:00:00Z";
    project.write("top", "one3.com\none4.com\n");
    project.write("one", `${TWO.one}\n||new.com^`);
    await succeed(project, "compile", "-c", "c.json");
    assert.notEqual(undated(project.text("rules/out")), built, format);
    project.now = "2026-11-12T00:00:00Z";
    await succeed(project, "rollback", "-c", "c.json");
    assert.equal(undated(project.text("rules/out")), built, format);
    const other = limited(format, 6);
    for (const [path, bytes] of project.memory.files)
      if (path.endsWith("saved.plan")) other.memory.files.set(path, bytes);
    await succeed(other, "apply", "saved.plan");
    assert.equal(undated(other.text("rules/out")), built, format);
  }
});

test("top is for lists and needs ranks, and the limits of files are for outputs", async () => {
  const outputs = [{ format: "hosts", fit: { top: 3 } }];
  for (const [config, message] of [
    [{ ranks: ["top"], outputs }, /: outputs\[0\]\.fit\.top is for lists/],
    [{ ranks: ["top"], lists: [{ name: "A", outputs }] }, /lists\[0\]\.outputs\[0\]\.fit\.top is/],
    [{ ranks: ["top"], lists: [{ name: "A", fit: { ram: "1M" } }] }, /\.fit\.ram is for outputs/],
    [{ fit: { top: 3 } }, /fit\.top needs ranks/],
  ] as const) {
    const project = projectOf({ sources: SOURCES, ...config }, TWO);
    const { exit, stderr } = await project.run("compile", "-c", "c.json");
    assert.equal(exit, 2);
    assert.match(stderr, message);
  }
});

async function succeed(project: MemoryProject, ...words: string[]): Promise<void> {
  const { exit, stderr } = await project.run(...words);
  assert.equal(exit, 0, `${words.join(" ")}: ${stderr}`);
}

/** Without dates and the serial of a zone, which are those of the rollback. */
function undated(text: string): string {
  return text.replaceAll(/2026-11-1\d\S*|SOA .*/g, "<date>");
}
