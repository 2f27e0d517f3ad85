import assert from "node:assert/strict";
import { chmodSync, existsSync, readFileSync, readdirSync, rmSync, statSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { TargetProject } from "../support/targets/target-project.ts";

const GIT = { remote: "lists.git", branch: "lists" };

/** A project with an empty bare repository, which logs every push. */
function withRemote(context: TestContext, git: object = GIT, more: object = {}): TargetProject {
  const project = new TargetProject(context, [{ git }], more);
  project.git(".", "init", "--quiet", "--bare", "lists.git");
  project.write("lists.git/hooks/post-receive", `#!/bin/sh\ncat >> "$GIT_DIR/pushes"\n`);
  chmodSync(join(project.folder, "lists.git/hooks/post-receive"), 0o755);
  return project;
}

function pushes(project: TargetProject): number {
  const log = join(project.folder, "lists.git/pushes");
  return existsSync(log) ? readFileSync(log, "utf8").trim().split("\n").length : 0;
}

const PUBLISH = ["-c", "c.json", "--publish"];

test("a branch gets the published files in one commit without a parent", async (t) => {
  const project = withRemote(t, GIT, { outputs: [{ format: "hosts" }], manifest: {}, patches: {} });
  project.write("rules/private.txt", "not ours");
  // Of a time when there was a key.
  project.write("rules/manifest.json.minisig", "old");
  assert.equal((await project.run(...PUBLISH)).exit, 0);
  project.lines("||one.example^", "||two.example^", "||three.example^");
  const { exit, stderr } = await project.run(...PUBLISH);
  assert.equal(exit, 0, stderr);
  assert.match(stderr, /^published branch lists of lists\.git: 4 files, /m);
  assert.equal(existsSync(join(project.folder, "rules/manifest.json.minisig")), false);
  project.write("rules/manifest.json.minisig", "old");
  assert.equal((await project.run(...PUBLISH)).exit, 0);
  assert.equal(project.git("lists.git", "rev-list", "--count", "lists"), "1");
  const names = project.git("lists.git", "ls-tree", "-r", "--name-only", "lists").split("\n");
  assert.match(names.join(" "), /^home\.hosts home\.txt manifest\.json patches\/home_v\S+\.patch$/);
  for (const name of names) {
    const stored = project.git("lists.git", "cat-file", "blob", `lists:${name}`);
    assert.equal(stored, project.text(join("rules", name)).trim(), name);
  }
});

test("a run without a change pushes nothing, also without the local copy", async (t) => {
  const project = withRemote(t);
  await project.run(...PUBLISH);
  assert.equal(pushes(project), 1);
  const before = project.git("lists.git", "rev-parse", "lists");
  assert.match(
    (await project.run(...PUBLISH)).stderr,
    /^unchanged branch lists of lists\.git: 1 file$/m,
  );
  rmSync(join(project.folder, "rules/.rules-compiler"), { recursive: true });
  assert.match(
    (await project.run(...PUBLISH)).stderr,
    /^unchanged branch lists of lists\.git: 1 file$/m,
  );
  assert.equal(project.git("lists.git", "rev-parse", "lists"), before);
  assert.equal(pushes(project), 1);
});

test("a machine without the local copy replaces a commit of rules-compiler", async (t) => {
  const project = withRemote(t);
  await project.run(...PUBLISH);
  rmSync(join(project.folder, "rules"), { recursive: true });
  project.lines("||one.example^", "||other.example^");
  assert.equal((await project.run(...PUBLISH)).exit, 0);
  assert.match(project.git("lists.git", "show", "lists:home.txt"), /other\.example/);
  assert.equal(project.git("lists.git", "rev-list", "--count", "lists"), "1");
});

test("without --publish, and by plan, nothing is pushed", async (t) => {
  const project = withRemote(t);
  const { exit, stderr } = await project.run("-c", "c.json");
  assert.equal(exit, 0);
  assert.match(stderr, /note\[targets-skipped\]: 1 target of publish skipped/);
  project.lines("||one.example^", "||two.example^", "||three.example^");
  assert.equal((await project.run("plan", "-c", "c.json")).exit, 0);
  assert.equal((await project.run("plan", "-c", "c.json", "--publish")).exit, 2);
  assert.equal(pushes(project), 0);
});

test("a list that goes only to -o is not copied", async (t) => {
  const project = withRemote(t);
  const { exit, stderr } = await project.run(...PUBLISH, "-o", "other/list.txt");
  assert.equal(exit, 0);
  assert.match(
    stderr,
    /targets-skipped\]: 1 target of publish skipped: the list is not in the rules directory/,
  );
  assert.equal((await project.run(...PUBLISH, "-o", "other/list.txt", "-r")).exit, 0);
  assert.equal(project.git("lists.git", "ls-tree", "--name-only", "lists"), "home.txt");
});

test("a target that fails leaves the folder published, and the next run repeats it although nothing changed", async (t) => {
  const project = new TargetProject(t, [{ git: GIT }]);
  const { exit, stderr } = await project.run(...PUBLISH);
  assert.equal(exit, 13);
  assert.match(
    stderr,
    /error\[target-failed\]: Not published: branch lists of lists\.git\n.*the repository does not exist.*\n.*hint: Check remote/,
  );
  assert.match(project.text("rules/home.txt"), /\|\|one\.example\^/);
  project.git(".", "init", "--quiet", "--bare", "lists.git");
  const again = await project.run(...PUBLISH);
  assert.equal(again.exit, 0, again.stderr);
  assert.match(again.stderr, /^unchanged rules\/home\.txt/m);
  assert.match(again.stderr, /^published branch lists/m);
});

test("a commit of another person on the branch is not replaced", async (t) => {
  const project = withRemote(t);
  await project.run(...PUBLISH);
  project.git(".", "clone", "--quiet", "--branch", "lists", "lists.git", "clone");
  project.write("clone/notes.txt", "work");
  project.git("clone", "add", ".");
  project.git("clone", "commit", "--quiet", "-m", "Add notes\n\nPublished-by: rules-compiler");
  project.git("clone", "push", "--quiet");
  const theirs = project.git("lists.git", "rev-parse", "lists");
  project.lines("||one.example^", "||two.example^", "||three.example^");
  const { exit, stderr } = await project.run(...PUBLISH);
  assert.equal(exit, 13);
  assert.match(
    stderr,
    /the commit [0-9a-f]{12} of lists is not by rules-compiler; nothing was pushed/,
  );
  assert.equal(project.git("lists.git", "rev-parse", "lists"), theirs);
  project.git("lists.git", "branch", "-D", "lists");
  assert.equal((await project.run(...PUBLISH)).exit, 0);
});

test("a first commit of another person is not replaced", async (t) => {
  const project = withRemote(t);
  project.git(".", "init", "--quiet", "own");
  project.git("own", "commit", "--quiet", "--allow-empty", "-m", "First");
  project.git("own", "push", "--quiet", "../lists.git", "HEAD:refs/heads/lists");
  const { exit, stderr } = await project.run(...PUBLISH);
  assert.equal(exit, 13);
  assert.match(stderr, /is not by rules-compiler/);
  assert.equal(project.git("lists.git", "log", "--format=%s", "lists"), "First");
});

test("a push at the same moment wins, and the next run looks again", async (t) => {
  const project = withRemote(t);
  await project.run(...PUBLISH);
  // Between the look at the branch and the push, another machine pushes.
  project.write(
    "bin/git",
    `#!/bin/sh\nPATH='${project.env["PATH"]}'\ncase " $* " in *" push "*)\n  tree=$(git -C lists.git rev-parse 'lists^{tree}')\n  other=$(git -C lists.git -c user.name=x -c user.email=x commit-tree "$tree" -m other)\n  git -C lists.git update-ref refs/heads/lists "$other";;\nesac\nexec git "$@"\n`,
  );
  chmodSync(join(project.folder, "bin/git"), 0o755);
  const { PATH } = project.env;
  project.env["PATH"] = `${join(project.folder, "bin")}:${PATH}`;
  project.lines("||one.example^", "||two.example^", "||three.example^");
  const { exit, stderr } = await project.run(...PUBLISH);
  assert.equal(exit, 13);
  assert.match(stderr, /another client changed the branch at the same time/);
  assert.equal(project.git("lists.git", "log", "--format=%s", "lists"), "other");
  assert.doesNotMatch(project.git("lists.git", "show", "lists:home.txt"), /three/);
});

test("a file over max_file, or all files over max_total, is an error before anything is pushed", async (t) => {
  const project = withRemote(t, { ...GIT, max_file: "150" }, { outputs: [{ format: "domains" }] });
  const { exit, stderr } = await project.run(...PUBLISH);
  assert.equal(exit, 13);
  assert.match(stderr, /over max_file 150: home\.txt \(0\.0 MiB\).*nothing was pushed/);
  project.config([{ git: { ...GIT, max_total: "150" } }], { outputs: [{ format: "domains" }] });
  const total = await project.run(...PUBLISH);
  assert.equal(total.exit, 13);
  assert.match(total.stderr, /2 files have .*, over max_total 150; nothing was pushed/);
  assert.equal(project.git("lists.git", "for-each-ref"), "");
  assert.equal(
    readdirSync(join(project.folder, "rules/.rules-compiler")).some((name) =>
      name.endsWith(".git"),
    ),
    false,
  );
});

const LISTS = {
  lists: [
    { name: "One", sources: ["A"] },
    { name: "Two", sources: ["B"] },
  ],
};
const SOURCES = ["a", "b"].map((name) => ({
  name: name.toUpperCase(),
  source: `${name}.txt`,
  type: "adblock",
}));

test("lists that a run does not publish stay in the branch", async (t) => {
  const project = withRemote(t, GIT, { ...LISTS, sources: SOURCES });
  const first = await project.run(...PUBLISH);
  assert.equal(first.exit, 4);
  assert.match(first.stderr, /the branch would lose Two: not published in the rules directory/);
  assert.equal(pushes(project), 0);
  project.write("b.txt", "||two.example^\n");
  assert.equal((await project.run(...PUBLISH)).exit, 0);
  project.write("b.txt", "||com^\n");
  project.lines("||new.example^", "||one.example^");
  assert.equal((await project.run(...PUBLISH)).exit, 5);
  assert.equal(project.git("lists.git", "ls-tree", "--name-only", "lists"), "one.txt\ntwo.txt");
  assert.match(project.git("lists.git", "show", "lists:one.txt"), /new\.example/);
  project.lines("||newer.example^", "||one.example^");
  assert.equal((await project.run(...PUBLISH, "--filter", "One")).exit, 0);
  assert.equal(project.git("lists.git", "ls-tree", "--name-only", "lists"), "one.txt\ntwo.txt");
  assert.equal(project.git("lists.git", "log", "--format=%s", "lists"), "Publish 2 lists");
});

test("an output outside the rules directory is reported and not pushed", async (t) => {
  const project = withRemote(t);
  project.config([{ git: GIT }], {
    outputs: [{ format: "hosts", file: join(project.folder, "elsewhere.hosts") }],
  });
  const { exit, stderr } = await project.run(...PUBLISH);
  assert.equal(exit, 0, stderr);
  assert.match(
    stderr,
    /warning\[target-incomplete\]: Outside the rules directory, and not sent to targets: elsewhere\.hosts/,
  );
  assert.equal(project.git("lists.git", "ls-tree", "--name-only", "lists"), "home.txt");
});

test("attributes and settings of the user do not change the bytes", async (t) => {
  const project = withRemote(t, GIT, { description: "$Id: mine$" });
  project.write("rules/.gitattributes", "* ident text eol=crlf\n");
  project.write(
    "gitconfig",
    "[core]\n\tautocrlf = true\n\thooksPath = /nonexistent\n[push]\n\tgpgSign = true\n",
  );
  project.env["GIT_CONFIG_GLOBAL"] = join(project.folder, "gitconfig");
  project.env["GIT_DIR"] = "/nonexistent";
  const { exit, stderr } = await project.run(...PUBLISH);
  assert.equal(exit, 0, stderr);
  assert.match(project.git("lists.git", "show", "lists:home.txt"), /\$Id: mine\$/);
  const { size } = statSync(join(project.folder, "rules/home.txt"));
  assert.equal(Number(project.git("lists.git", "cat-file", "-s", "lists:home.txt")), size);
});

test("credentials of git are not shown, and git does not ask for them", async (t) => {
  const server = createServer((_, response) => {
    response.writeHead(401, { "www-authenticate": 'Basic realm="x"' });
    response.end();
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  t.after(() => server.close());
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const project = new TargetProject(t, [
    { git: { ...GIT, remote: "https://forge.example/lists.git" } },
  ]);
  project.write(
    "gitconfig",
    `[url "http://me:planted-token@${host}/"]\n\tinsteadOf = https://forge.example/\n`,
  );
  project.env["GIT_CONFIG_GLOBAL"] = join(project.folder, "gitconfig");
  project.env["GIT_TRACE_CURL"] = "1";
  const { exit, stderr, stdout } = await project.run(...PUBLISH, "--json");
  assert.equal(exit, 13);
  assert.match(stderr, /the server refused the credentials of git/);
  assert.doesNotMatch(stderr + stdout, /planted-token/);
  // git prints the address that it connects to.
  project.write(
    "gitconfig",
    '[url "http://127.0.0.1:1/lists.git?private_token=planted&x="]\n\tinsteadOf = https://forge.example/lists.git\n',
  );
  const closed = await project.run(...PUBLISH, "--json");
  assert.equal(closed.exit, 13);
  assert.match(closed.stderr, /127\.0\.0\.1/);
  assert.doesNotMatch(closed.stderr + closed.stdout, /planted/);
});

test("--json reports each target", async (t) => {
  const project = withRemote(t);
  project.config([{ git: GIT }, { git: { ...GIT, remote: "missing.git" } }]);
  const { exit, stdout } = await project.run(...PUBLISH, "--json");
  assert.equal(exit, 13);
  const { targets } = JSON.parse(stdout) as { targets: Record<string, unknown>[] };
  const [done, failed] = targets;
  assert.deepEqual(
    { ...done, seconds: 0, bytes: 0 },
    {
      target: "git",
      to: "branch lists of lists.git",
      outcome: "published",
      files: 1,
      bytes: 0,
      seconds: 0,
    },
  );
  assert.equal(failed?.["outcome"], "failed");
  assert.equal((failed["problem"] as { code: string }).code, "target-failed");
});

test("rollback and apply copy what they publish", async (t) => {
  const project = withRemote(t);
  await project.run(...PUBLISH);
  project.lines("||one.example^", "||two.example^", "||three.example^");
  assert.equal((await project.run("plan", "-c", "c.json", "--save", "my.plan")).exit, 0);
  const applied = await project.run("apply", "my.plan", "-c", "c.json", "--publish");
  assert.equal(applied.exit, 0, applied.stderr);
  assert.match(project.git("lists.git", "show", "lists:home.txt"), /three/);
  const back = await project.run("rollback", "-c", "c.json", "--publish");
  assert.equal(back.exit, 0, back.stderr);
  assert.doesNotMatch(project.git("lists.git", "show", "lists:home.txt"), /three/);
});

test("the local copy keeps one commit", async (t) => {
  const project = withRemote(t);
  for (let round = 0; round < 4; round++) {
    project.lines("||one.example^", `||round-${round}.example^`);
    assert.equal((await project.run(...PUBLISH)).exit, 0);
  }
  const folder = "rules/.rules-compiler";
  const copy = readdirSync(join(project.folder, folder)).find((name) => name.endsWith(".git"))!;
  const counts = project.git(join(folder, copy), "count-objects", "-v");
  assert.match(counts, /^count: 0\n[^]*^in-pack: 3$/m);
});

test("files that did not change are not sent again", async (t) => {
  const project = withRemote(t, GIT, { ...LISTS, sources: SOURCES });
  project.write("b.txt", "||two.example^\n");
  project.write(
    "lists.git/hooks/pre-receive",
    `#!/bin/sh\nfind "$GIT_QUARANTINE_PATH" -type f | wc -l > "$GIT_DIR/received"\n`,
  );
  chmodSync(join(project.folder, "lists.git/hooks/pre-receive"), 0o755);
  assert.equal((await project.run(...PUBLISH)).exit, 0);
  assert.equal(project.text("lists.git/received").trim(), "4");
  for (const name of ["new", "newer", "newest"]) {
    project.lines("||one.example^", `||${name}.example^`);
    assert.equal((await project.run(...PUBLISH)).exit, 0);
    // The commit, its tree and one list.
    assert.equal(project.text("lists.git/received").trim(), "3", name);
  }
  rmSync(join(project.folder, "rules/.rules-compiler"), { recursive: true });
  project.lines("||one.example^", "||other.example^");
  const { exit, stderr } = await project.run(...PUBLISH);
  assert.equal(exit, 0, stderr);
  assert.equal(project.text("lists.git/received").trim(), "3");
});
