import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { outputTarget } from "../../src/publish/list-file.ts";
import { memoryHost } from "../support/internals.ts";

const BIN = join(import.meta.dirname, "../../dist/cli/bin.js");
const CONFIG = { name: "My list", sources: [{ source: "a.txt" }] };

interface Project {
  readonly folder: string;
  at(...names: string[]): string;
  run(...words: string[]): { exit: number | null; stdout: string; stderr: string };
}

function projectIn(context: TestContext, config: object = CONFIG): Project {
  const folder = mkdtempSync(join(tmpdir(), "output-places-"));
  context.after(() => rmSync(folder, { recursive: true }));
  const at = (...names: string[]): string => join(folder, ...names);
  writeFileSync(at("c.json"), JSON.stringify(config));
  writeFileSync(at("a.txt"), "||a.example^\n");
  const run = (...words: string[]): ReturnType<Project["run"]> => {
    const args = [BIN, "-c", "c.json", "--no-cache", ...words];
    const { status, stdout, stderr } = spawnSync(process.execPath, args, {
      cwd: folder,
      encoding: "utf8",
    });
    return { exit: status, stdout, stderr };
  };
  return { folder, at, run };
}

const isPosix = process.platform !== "win32";

function makePipe(path: string): void {
  execFileSync("sh", ["-c", 'mkfifo "$1"', "sh", path]);
}

test(
  "a path that leads to standard output counts as standard output",
  { skip: !isPosix },
  (context) => {
    const project = projectIn(context);
    symlinkSync("/proc/self/fd/1", project.at("link"));
    symlinkSync("link", project.at("link-to-link"));
    for (const output of ["-", "link", "link-to-link", "/dev/fd/1"]) {
      const { exit, stdout, stderr } = project.run("-o", output);
      assert.equal(exit, 0, `${output}: ${stderr}`);
      assert.match(stdout, /^\|\|a\.example\^/m, output);
    }
    assert.ok(lstatSync(project.at("link")).isSymbolicLink());
    assert.deepEqual(readdirSync(project.folder).toSorted(), [
      "a.txt",
      "c.json",
      "link",
      "link-to-link",
    ]);
  },
);

test(
  "standard output redirected to a file can be written through a link",
  { skip: !isPosix },
  (context) => {
    const project = projectIn(context);
    symlinkSync("/proc/self/fd/1", project.at("link"));
    const file = openSync(project.at("got.txt"), "w");
    const words = [BIN, "-q", "-c", "c.json", "--no-cache", "-o", "link"];
    spawnSync(process.execPath, words, { cwd: project.folder, stdio: ["ignore", file, "ignore"] });
    assert.match(readFileSync(project.at("got.txt"), "utf8"), /^\|\|a\.example\^/m);
    assert.ok(lstatSync(project.at("link")).isSymbolicLink());
  },
);

test("/dev/stdout and similar names are recognised by their links", async () => {
  const links: Record<string, string> = {
    "/dev/stdout": "/proc/self/fd/1",
    "/dev/stderr": "/proc/self/fd/2",
    "/project/out": "../dev/stdout",
    "/project/null": "/dev/null",
    "/project/loop": "loop",
    "/project/list": "other/list.txt",
    "/project/tty": "/dev/tty",
  };
  const kinds: Record<string, "folder" | "other"> = { "/dev/tty": "other", "/project/f": "folder" };
  const host = {
    ...memoryHost(),
    kindOf: async (path: string) => (path in links ? "link" : kinds[path]),
    readLink: async (path: string) => links[path],
  };
  for (const [path, target] of [
    ["/dev/stdout", "stdout"],
    ["/dev/stderr", "other"],
    ["/dev/fd/1", "stdout"],
    ["/dev/fd/63", "other"],
    ["/dev/null", "nowhere"],
    ["/project/out", "stdout"],
    ["/project/null", "nowhere"],
    ["/project/loop", "other"],
    ["/project/list", "file"],
    ["/project/tty", "other"],
    ["/project/f", "folder"],
    ["/project/new.txt", "file"],
  ] as const)
    assert.equal(await outputTarget(path, host), target, path);
});

test(
  "a list that goes to /dev/null is compiled, and nothing is written",
  { skip: !isPosix },
  (context) => {
    const project = projectIn(context, { ...CONFIG, outputs: [{ format: "hosts" }] });
    const { exit, stdout, stderr } = project.run("-o", "/dev/null");
    assert.equal(exit, 0, stderr);
    assert.equal(stdout, "");
    assert.deepEqual(readdirSync(project.folder).toSorted(), ["a.txt", "c.json"]);
    assert.ok(statSync("/dev/null").isCharacterDevice());
  },
);

test("pipes and links to them are refused and not replaced", { skip: !isPosix }, (context) => {
  const project = projectIn(context);
  makePipe(project.at("pipe"));
  symlinkSync("pipe", project.at("link"));
  for (const output of ["pipe", "link"]) {
    const { exit, stderr } = project.run("-o", output);
    assert.equal(exit, 6, stderr);
    assert.match(stderr, /error\[output-failed\]: Cannot write (?:pipe|link): not a regular file/);
    assert.match(stderr, /-o -/);
  }
  assert.ok(lstatSync(project.at("link")).isSymbolicLink());
  assert.ok(lstatSync(project.at("pipe")).isFIFO());
});

test("outputs do not replace links to pipes", { skip: !isPosix }, (context) => {
  const outputs = [{ format: "hosts", file: "link" }];
  const project = projectIn(context, { ...CONFIG, outputs });
  mkdirSync(project.at("rules"));
  makePipe(project.at("rules/pipe"));
  symlinkSync("pipe", project.at("rules/link"));
  assert.equal(project.run().exit, 2);
  assert.ok(lstatSync(project.at("rules/link")).isSymbolicLink());
});

test("a link to a file is replaced, and the file is not changed", { skip: !isPosix }, (context) => {
  const project = projectIn(context);
  writeFileSync(project.at("file.txt"), "of somebody else");
  symlinkSync("file.txt", project.at("list.txt"));
  assert.equal(project.run("-q", "-o", "list.txt").exit, 0);
  assert.ok(lstatSync(project.at("list.txt")).isFile());
  assert.equal(readFileSync(project.at("file.txt"), "utf8"), "of somebody else");
});

test("-o with a folder writes a file named after the list", (context) => {
  const project = projectIn(context);
  mkdirSync(project.at("there"));
  if (isPosix) symlinkSync("there", project.at("linked"));
  for (const output of ["new/", "new/below/", "there", "there/", ...(isPosix ? ["linked"] : [])]) {
    const { exit, stderr } = project.run("-o", output);
    assert.equal(exit, 0, stderr);
    const file = project.at(output, "my-list.txt");
    assert.match(readFileSync(file, "utf8"), /^\|\|a\.example\^/m);
    rmSync(file);
  }
});

test("why finds a list in an output folder, and several lists can share one", (context) => {
  const project = projectIn(context, {
    name: "All",
    sources: [{ name: "A", source: "a.txt" }],
    lists: [{ name: "One" }, { name: "Two" }],
  });
  assert.equal(project.run("-o", "out/").exit, 0);
  assert.deepEqual(
    readdirSync(project.at("out"))
      .filter((name) => !name.startsWith("."))
      .toSorted(),
    ["one.txt", "two.txt"],
  );
  const args = [BIN, "why", "-c", "c.json", "--filter", "Two", "-o", "out/", "a.example"];
  const { stdout, stderr } = spawnSync(process.execPath, args, {
    cwd: project.folder,
    encoding: "utf8",
  });
  assert.match(stdout, /BLOCKED in out\/two\.txt/, stderr);
});

test("published files keep their permissions", { skip: !isPosix }, (context) => {
  const project = projectIn(context, {
    ...CONFIG,
    outputs: [{ format: "hosts", pack: ["gzip"], split: { max_rules: 1 } }],
    manifest: {},
    patches: "7d",
  });
  writeFileSync(project.at("a.txt"), "||a.example^\n||b.example^\n");
  const names = ["my-list.txt", "my-list.hosts", "my-list-2.hosts", "manifest.json"];
  assert.equal(project.run("-q").exit, 0);
  for (const name of names) chmodSync(project.at("rules", name), 0o600);
  writeFileSync(project.at("a.txt"), "||c.example^\n||d.example^\n");
  const { exit, stderr } = project.run("-q");
  assert.equal(exit, 0, stderr);
  for (const name of [...names, "my-list.hosts.gz", "my-list-2.hosts.gz"])
    assert.equal(statSync(project.at("rules", name)).mode & 0o777, 0o600, name);
});

test("an invalid time is an error", () => {
  const env = { ...process.env, SOURCE_DATE_EPOCH: "abc" };
  const folder = mkdtempSync(join(tmpdir(), "output-places-"));
  writeFileSync(join(folder, "a.txt"), "||a.example^\n");
  for (const [epoch, exit] of [
    ["abc", 2],
    ["-5", 2],
    ["1.5", 2],
    ["1700000000 ", 2],
    ["", 0],
    ["1700000000", 0],
  ] as const) {
    const { status, stderr } = spawnSync(
      process.execPath,
      [BIN, "-i", "a.txt", "-o", "l.txt", "--no-cache"],
      { cwd: folder, env: { ...env, SOURCE_DATE_EPOCH: epoch }, encoding: "utf8" },
    );
    assert.equal(status, exit, `${epoch}: ${stderr}`);
    if (exit !== 0) assert.match(stderr, /error\[environment-invalid\]: SOURCE_DATE_EPOCH must be/);
  }
  rmSync(folder, { recursive: true });
});
