import assert from "node:assert/strict";
import { chmodSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { TargetProject } from "../support/targets/target-project.ts";

const TARGETS = [{ git: { remote: "lists.git", branch: "lists" } }];
const PUBLISH = ["-c", "c.json", "--publish"];

function withRemote(context: TestContext): TargetProject {
  const project = new TargetProject(context, TARGETS);
  project.git(".", "init", "--quiet", "--bare", "lists.git");
  return project;
}

test("a branch with the lists of another configuration is not replaced", async (t) => {
  const project = withRemote(t);
  assert.equal((await project.run(...PUBLISH)).exit, 0);
  project.config(TARGETS, { name: "Office" });
  for (const args of [PUBLISH, [...PUBLISH, "--no-cache"]]) {
    const { exit, stderr } = await project.run(...args);
    assert.equal(exit, 13, stderr);
    assert.match(stderr, /the branch has the lists of another configuration: Home; nothing was/);
  }
  assert.equal(project.git("lists.git", "ls-tree", "--name-only", "lists"), "home.txt");
  project.git("lists.git", "branch", "-D", "lists");
  assert.equal((await project.run(...PUBLISH)).exit, 0);
  assert.equal(project.git("lists.git", "ls-tree", "--name-only", "lists"), "office.txt");
});

test("files that the branch loses are counted", async (t) => {
  const project = withRemote(t);
  project.config(TARGETS, { outputs: [{ format: "hosts" }, { format: "domains" }] });
  assert.equal((await project.run(...PUBLISH)).exit, 0);
  project.config(TARGETS);
  const { exit, stderr } = await project.run(...PUBLISH);
  assert.equal(exit, 0, stderr);
  assert.match(stderr, /^published branch lists of lists\.git: 1 file, 2 removed, /m);
});

test("the words of a server that rejects a push are shown", async (t) => {
  const project = withRemote(t);
  const hook = join(project.folder, "lists.git/hooks/pre-receive");
  project.write(
    "lists.git/hooks/pre-receive",
    "#!/bin/sh\necho 'policy: no pushes on friday'\nexit 1\n",
  );
  chmodSync(hook, 0o755);
  const { exit, stderr } = await project.run(...PUBLISH);
  assert.equal(exit, 13, stderr);
  assert.match(stderr, /the server rejected the push: remote: policy: no pushes on friday/);
});
