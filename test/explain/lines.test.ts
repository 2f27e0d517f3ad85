import assert from "node:assert/strict";
import { test } from "node:test";
import { MemoryProject } from "../support/memory-project.ts";
import { fatesIn } from "../support/documents.ts";

const CONFIG = JSON.stringify({
  name: "My list",
  sources: [
    { name: "Ads", source: "ads.txt", type: "hosts" },
    { name: "Own rules", source: "own.txt", type: "adblock" },
  ],
  transformations: ["RemoveComments", "Compress", "Validate"],
});
const FILES = {
  "compiler-config.json": CONFIG,
  "ads.txt":
    "# ads\n0.0.0.0 ads.example.com x.ads.example.com y.ads.example.com\n0.0.0.0 bad_ host\n",
  "own.txt": "! own\n||a b^\n||ads.example.com^\r\n!#include more.txt\n||tab\tbed^\n",
  "more.txt": "||c d^\n||ok.example^\n",
};

async function published(): Promise<MemoryProject> {
  const project = new MemoryProject(FILES);
  const { exit, stderr } = await project.run("-q");
  assert.equal(exit, 0, stderr);
  return project;
}

test("lines with a fate are listed with file, line and text", async () => {
  const project = await published();
  const { exit, stdout, stderr } = await project.run("stats", "--fate", "bad-syntax");
  assert.equal(exit, 0, stderr);
  assert.equal(stdout, "own.txt:2: ||a b^\nown.txt:5: ||tab\\u{9}bed^\nmore.txt:1: ||c d^\n");
  assert.match(stderr, /^3 lines: bad-syntax, not a valid rule\n$/);
  const same = await project.run("stats", "--fate", "same-host", "--fate", "covered");
  // A name of line 2 of ads.txt is in the list, so the line is, whatever became of its other names.
  assert.equal(same.stdout, "own.txt:3: ||ads.example.com^\n");
});

test("-s chooses sources, and --json prints one object per line", async () => {
  const project = await published();
  for (const name of ["Ads", "ads", "ads.txt"])
    assert.equal(
      (await project.run("stats", "--fate", "comment", "-s", name)).stdout,
      "ads.txt:1: # ads\n",
    );
  const { stdout } = await project.run(
    "stats",
    "--fate",
    "bad-syntax",
    "-s",
    "Own rules",
    "--json",
  );
  assert.deepEqual(
    stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as unknown)[0],
    {
      list: "My list",
      source: "Own rules",
      file: "own.txt",
      path: "/project/own.txt",
      line: 2,
      fate: "bad-syntax",
      text: "||a b^",
    },
  );
  const unknown = await project.run("stats", "--fate", "comment", "-s", "Adds");
  assert.equal(unknown.exit, 2);
  assert.match(unknown.stderr, /No source matches -s Adds[^]*Did you mean "Ads"\?/);
});

test("without a fate, the command lists all fates", async () => {
  const project = await published();
  const { exit, stdout } = await project.run("stats", "--fate");
  assert.equal(exit, 0);
  assert.match(stdout, /^ +bad-syntax +3 {2}not a valid rule$/m);
  assert.match(stdout, /^ +comment +2 {2}comment$/m);
  const some = await project.run("stats", "--fate", "-s", "Ads");
  assert.doesNotMatch(some.stdout, /bad-syntax/);
  const json = await project.run("stats", "--fate", "--json");
  assert.equal(fatesIn(json.stdout)["bad-syntax"], 3);
  const wrong = await project.run("stats", "--fate", "bad-sintax");
  assert.equal(wrong.exit, 2);
  assert.match(wrong.stderr, /Unknown fate: bad-sintax[^]*Did you mean "bad-syntax"\?/);
});

test("every line that the summary counts is listed", async () => {
  const project = await published();
  const counts = fatesIn((await project.run("stats", "--fate", "--json")).stdout);
  assert.ok(Object.keys(counts).length > 3);
  for (const [fate, count] of Object.entries(counts)) {
    const { stdout } = await project.run("stats", "--fate", fate);
    const lines = stdout.split("\n").length - 1;
    assert.equal(lines, count, fate);
  }
});

test("lines of a file that has changed are listed without their text", async () => {
  const project = await published();
  project.write("own.txt", "||other.example^\n");
  const { exit, stdout, stderr } = await project.run("stats", "--fate", "bad-syntax");
  assert.equal(exit, 0);
  assert.equal(stdout, "own.txt:2\nown.txt:5\nmore.txt:1: ||c d^\n");
  assert.match(stderr, /own\.txt has changed since the build, or is not cached/);
});

test("a fate without lines is reported", async () => {
  const project = await published();
  const { exit, stdout, stderr } = await project.run("stats", "--fate", "too-long");
  assert.equal(exit, 0);
  assert.equal(stdout, "");
  assert.match(stderr, /^0 lines: too-long, /);
});

test("stats takes one form of answer at a time", async () => {
  const project = await published();
  for (const words of [
    ["--fate", "--html"],
    ["--fate", "comment", "--markdown"],
    ["--html", "--markdown"],
    ["--fate", "--traffic", "q.log"],
    ["-s", "Ads"],
  ])
    assert.equal((await project.run("stats", ...words)).exit, 2, words.join(" "));
});
