import assert from "node:assert/strict";
import { chmodSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { type Ended, runProgram } from "../support/command.ts";
import { webhook } from "../support/hook-project.ts";
import { KEYS } from "../support/targets/swift-store.ts";
import { TargetProject } from "../support/targets/target-project.ts";

const PUBLISH = ["-c", "c.json", "--publish"];

function withRemote(context: TestContext, more: object = {}): TargetProject {
  const git = { remote: "lists.git", branch: "lists" };
  const project = new TargetProject(context, [{ git, ...more }]);
  project.git(".", "init", "--quiet", "--bare", "lists.git");
  return project;
}

/** Runs the built program with a `git` that does something else first if it gets a command. */
async function runWith(project: TargetProject, command: string, script: string): Promise<Ended> {
  const { PATH } = project.env;
  project.write(
    "bin/git",
    `#!/bin/sh\nPATH='${PATH}'\ncase " $* " in *" ${command} "*) ${script};; esac\nexec git "$@"\n`,
  );
  chmodSync(join(project.folder, "bin/git"), 0o755);
  const env = { PATH: `${join(project.folder, "bin")}:${PATH}`, HOME: project.folder };
  return await runProgram(PUBLISH, { cwd: project.folder, env });
}

for (const [signal, code] of [
  ["INT", 130],
  ["TERM", 143],
] as const)
  test(`SIG${signal} during a push gives the exit code of the signal`, async (t) => {
    const project = withRemote(t);
    const script = `kill -${signal} $PPID; exec sleep 600`;
    const { exit, stderr } = await runWith(project, "push", script);
    assert.equal(exit, code, stderr);
    assert.match(stderr, /target-failed\]: Not published: branch lists of lists\.git\n.*stopped/);
    assert.equal(project.git("lists.git", "for-each-ref"), "");
  });

test("what happens after the push does not make it fail", async (t) => {
  const project = withRemote(t);
  const stopped = await runWith(project, "gc", "kill -TERM $PPID; exec sleep 600");
  assert.equal(stopped.exit, 143);
  assert.match(stopped.stderr, /^published branch lists/m);
  project.lines("||one.example^", "||new.example^");
  const failed = await runWith(project, "gc", "exit 1");
  assert.equal(failed.exit, 0, failed.stderr);
  project.lines("||one.example^", "||newer.example^");
  const lost = await runWith(project, "update-ref", "exit 1");
  assert.equal(lost.exit, 0, lost.stderr);
  assert.match(project.git("lists.git", "show", "lists:home.txt"), /newer/);
  project.lines("||one.example^", "||newest.example^");
  assert.equal((await project.run(...PUBLISH)).exit, 0);
  assert.match(project.git("lists.git", "show", "lists:home.txt"), /newest/);
});

test("a signal stops all further targets, which are reported", async (t) => {
  const stop = new AbortController();
  const { base } = await webhook(t, () => {
    stop.abort("SIGINT");
    return { isSilent: true };
  });
  const targets = ["one", "two"].map((bucket) => ({ s3: { endpoint: base, bucket } }));
  const project = new TargetProject(t, targets);
  Object.assign(project.env, KEYS);
  const { exit, stderr } = await project.runUntil(stop.signal, ...PUBLISH);
  assert.equal(exit, 130);
  for (const bucket of ["one", "two"])
    assert.match(stderr, new RegExp(`Not published: s3://${bucket}\n.*stopped`));
});
