import assert from "node:assert/strict";
import {
  chmodSync,
  mkdirSync,
  readdirSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { TargetProject } from "../support/targets/target-project.ts";

const PUBLISH = ["-c", "c.json", "--publish"];

function withRemote(context: TestContext, more: object = {}): TargetProject {
  const git = { remote: "lists.git", branch: "lists" };
  const project = new TargetProject(context, [{ git }], more);
  project.git(".", "init", "--quiet", "--bare", "lists.git");
  return project;
}

function copyOf({ folder }: TargetProject): string {
  const state = join(folder, "rules/.rules-compiler");
  return join(
    state,
    readdirSync(state).find((name) => name.endsWith(".git"))!,
  );
}

const DAMAGES: readonly (readonly [string, (copy: string) => void])[] = [
  ["a locked ref", (copy) => writeFileSync(join(copy, "refs/heads/published.lock"), "")],
  [
    "a locked shallow file",
    (copy) => {
      writeFileSync(join(copy, "shallow.lock"), "");
      // The commit is fetched again.
      writeFileSync(join(copy, "packed-refs"), "");
      rmSync(join(copy, "refs/heads/published"), { force: true });
    },
  ],
  [
    "only HEAD",
    (copy) => {
      rmSync(copy, { recursive: true });
      mkdirSync(copy);
      writeFileSync(join(copy, "HEAD"), "ref: refs/heads/main\n");
    },
  ],
  [
    "an empty pack",
    (copy) => {
      const packs = join(copy, "objects/pack");
      for (const name of readdirSync(packs).filter((one) => one.endsWith(".pack"))) {
        chmodSync(join(packs, name), 0o644);
        truncateSync(join(packs, name), 0);
      }
    },
  ],
  ["a ref without a commit", (copy) => writeFileSync(join(copy, "refs/heads/published"), "")],
  ["no objects", (copy) => rmSync(join(copy, "objects"), { recursive: true })],
];

for (const [name, damage] of DAMAGES)
  test(`a local copy with ${name} is made again`, async (t) => {
    const project = withRemote(t);
    assert.equal((await project.run(...PUBLISH)).exit, 0);
    for (const round of [1, 2]) {
      damage(copyOf(project));
      project.lines("||one.example^", `||round-${round}.example^`);
      const { exit, stderr } = await project.run(...PUBLISH);
      assert.equal(exit, 0, stderr);
      assert.match(
        project.git("lists.git", "show", "lists:home.txt"),
        new RegExp(`round-${round}`),
      );
    }
    damage(copyOf(project));
    const { exit, stderr } = await project.run(...PUBLISH);
    assert.equal(exit, 0, stderr);
    assert.match(stderr, /^unchanged branch lists/m);
  });

test("the local copy has the hashes of forges, whatever git uses by default", async (t) => {
  const project = withRemote(t);
  project.env["GIT_DEFAULT_HASH"] = "sha256";
  assert.equal((await project.run(...PUBLISH)).exit, 0);
  const copy = copyOf(project);
  rmSync(copy, { recursive: true });
  project.git(".", "init", "--quiet", "--bare", "--object-format=sha256", copy);
  project.lines("||one.example^", "||new.example^");
  const { exit, stderr } = await project.run(...PUBLISH);
  assert.equal(exit, 0, stderr);
});

test("a failure that is not of the local copy leaves it alone", async (t) => {
  const project = withRemote(t);
  assert.equal((await project.run(...PUBLISH)).exit, 0);
  project.git(".", "clone", "--quiet", "--bare", "lists.git", "moved.git");
  rmSync(join(project.folder, "lists.git"), { recursive: true });
  const packs = join(copyOf(project), "objects/pack");
  const before = readdirSync(packs);
  assert.ok(before.length > 0);
  assert.equal((await project.run(...PUBLISH)).exit, 13);
  assert.deepEqual(readdirSync(packs), before);
});

test("an empty GIT_AUTHOR_NAME counts as not set", async (t) => {
  const project = withRemote(t);
  Object.assign(project.env, { GIT_AUTHOR_NAME: "", GIT_AUTHOR_EMAIL: "" });
  const { exit, stderr } = await project.run(...PUBLISH);
  assert.equal(exit, 0, stderr);
  assert.equal(project.git("lists.git", "log", "--format=%an", "lists"), "rules-compiler");
});

test("a failure names the command of git", async (t) => {
  const project = withRemote(t, { outputs: [{ format: "hosts", file: "sub/home.hosts" }] });
  mkdirSync(join(project.folder, "rules"));
  mkdirSync(join(project.folder, "elsewhere"));
  symlinkSync("../elsewhere", join(project.folder, "rules/sub"));
  const { exit, stderr } = await project.run(...PUBLISH);
  assert.equal(exit, 13);
  assert.match(stderr, /git add failed: .*symbolic link/);
});
