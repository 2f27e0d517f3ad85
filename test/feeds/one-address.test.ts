import assert from "node:assert/strict";
import { test } from "node:test";
import { zip } from "../support/make-archive.ts";
import { MemoryProject } from "../support/memory-project.ts";
import { ScriptedWeb } from "../support/scripted-web.ts";

const ARCHIVE = "https://feed.example/all.zip";
const FILES = [
  ["ads/domains", "ads.example.com\n"],
  ["games/domains", "games.example.com\nplay.example.com\n"],
] as const;

function projectOf(sources: readonly object[], web: ScriptedWeb): MemoryProject {
  const config = { name: "L", sources, output: "l.txt" };
  return new MemoryProject(
    { "compiler-config.json": JSON.stringify(config), one: "Bearer-one\n", two: "Bearer-two\n" },
    { fetch: (request) => web.host.fetch(request) },
  );
}

function archiveProject(web: ScriptedWeb): MemoryProject {
  web.answers[ARCHIVE] = { body: zip(FILES) };
  return projectOf(
    ["ads", "games"].map((name) => ({
      name,
      source: ARCHIVE,
      type: "domains",
      member: `${name}/domains`,
    })),
    web,
  );
}

function rulesIn(text: string): string[] {
  return text.split("\n").filter((line) => line !== "" && !/^[!#]/.test(line));
}

const ALL = ["||ads.example.com^", "||games.example.com^", "||play.example.com^"];

test("a frozen build reads each member of an archive as its own source reads it", async () => {
  const web = new ScriptedWeb();
  const project = archiveProject(web);
  assert.equal((await project.run("compile", "--cache-dir", "/cache", "--update")).exit, 0);
  const before = project.text("rules/l.txt");
  assert.deepEqual(
    rulesIn(before).map((line) => line.replace(/^([^|].*)$/, "||$1^")),
    ALL,
  );
  web.answers[ARCHIVE] = { status: 404 };
  const { exit, stderr } = await project.run("compile", "--cache-dir", "/cache", "--frozen");
  assert.equal(exit, 0, stderr);
  assert.equal(project.text("rules/l.txt"), before);
});

test("a lock names each member of an archive, and --update leaves the others as they are", async () => {
  const web = new ScriptedWeb();
  const project = archiveProject(web);
  await project.run("compile", "--cache-dir", "/cache", "--update");
  const { locks } = JSON.parse(project.text("rules.lock")) as {
    locks: { sources: { key: string; rules: number; files: { sha256: string }[] }[] }[];
  };
  const sources = locks[0]!.sources;
  assert.deepEqual(
    sources.map(({ rules }) => rules),
    [1, 2],
  );
  assert.notEqual(sources[0]!.key, sources[1]!.key);
  assert.notEqual(sources[0]!.files[0]!.sha256, sources[1]!.files[0]!.sha256);
  web.answers[ARCHIVE] = {
    body: zip([
      ["ads/domains", "new.example.com\n"],
      ["games/domains", "other.example.com\n"],
    ]),
  };
  const { exit, stderr } = await project.run("compile", "--cache-dir", "/cache", "--update", "ads");
  assert.equal(exit, 0, stderr);
  const text = project.text("rules/l.txt");
  assert.match(text, /new\.example\.com/);
  assert.match(text, /games\.example\.com/);
  assert.doesNotMatch(text, /other\.example\.com/);
});

test("why finds the lines of both members", async () => {
  const project = archiveProject(new ScriptedWeb());
  await project.run("compile", "--cache-dir", "/cache");
  const { stdout } = await project.run(
    "why",
    "--cache-dir",
    "/cache",
    "ads.example.com",
    "play.example.com",
  );
  assert.match(stdout, /ads:1 {2}ads\.example\.com {2}kept/);
  assert.match(stdout, /games:2 {2}play\.example\.com {2}kept/);
});

test("one address with two keys gives two texts", async () => {
  const web = new ScriptedWeb();
  const url = "https://feed.example/list";
  web.answers[url] = async ({ headers }) =>
    headers["authorization"] === "Bearer Bearer-one" ? "one.example.com\n" : "two.example.com\n";
  const project = projectOf(
    ["one", "two"].map((file) => ({
      name: file,
      source: url,
      type: "domains",
      auth: { bearer_file: file },
    })),
    web,
  );
  assert.equal((await project.run("compile", "--cache-dir", "/cache", "--update")).exit, 0);
  const before = project.text("rules/l.txt");
  assert.match(before, /one\.example\.com[^]*two\.example\.com/);
  web.answers[url] = { status: 404 };
  const { exit, stderr } = await project.run("compile", "--cache-dir", "/cache", "--frozen");
  assert.equal(exit, 0, stderr);
  assert.equal(project.text("rules/l.txt"), before);
});
