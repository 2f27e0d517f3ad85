import assert from "node:assert/strict";
import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { webhook } from "../support/hook-project.ts";
import { KEYS } from "../support/targets/swift-store.ts";
import { TargetProject } from "../support/targets/target-project.ts";

const PUBLISH = ["-c", "c.json", "--publish"];
const GIT = { remote: "lists.git", branch: "lists" };
const LISTS = {
  sources: ["a", "b"].map((name) => ({ name, source: `${name}.txt`, type: "adblock" })),
  lists: ["a", "b"].map((name) => ({ name, sources: [name] })),
  outputs: [{ format: "hosts", split: { max_rules: 1 }, pack: ["gzip"] }],
  combined: [{ format: "unbound-tags", path: "all.conf" }],
  manifest: { file: "{slug}.json" },
};

interface Place {
  readonly project: TargetProject;
  /** The names of the objects. */
  readonly objects: Set<string>;
}

/** A project with a bucket that accepts everything, and a branch. */
async function placeOf(context: TestContext, more: object): Promise<Place> {
  const objects = new Set<string>();
  const { base } = await webhook(context, ({ method, url }) => {
    const name = url.replace("/lists/", "");
    if (method === "HEAD") return { status: 404 };
    if (method === "DELETE") objects.delete(name);
    else objects.add(name);
    return {};
  });
  const publish = [{ s3: { endpoint: base, bucket: "lists" } }, { git: GIT }];
  const project = new TargetProject(context, publish, more);
  Object.assign(project.env, KEYS);
  project.git(".", "init", "--quiet", "--bare", "lists.git");
  project.write("b.txt", "||three.example^\n||four.example^\n");
  return { project, objects };
}

function pushed(project: TargetProject): string[] {
  return project.git("lists.git", "ls-tree", "-r", "--name-only", "lists").split("\n");
}

/** All files of the rules directory. */
function published({ folder }: TargetProject): string[] {
  return readdirSync(join(folder, "rules")).filter((name) => !name.startsWith("."));
}

function remove(project: TargetProject, ...names: readonly string[]): void {
  for (const name of names) rmSync(join(project.folder, name));
}

test("a list that --filter left out keeps its files, also without the record of targets", async (t) => {
  const { project, objects } = await placeOf(t, LISTS);
  const first = await project.run(...PUBLISH);
  assert.equal(first.exit, 0, first.stderr);
  const all = published(project).toSorted();
  assert.ok(all.includes("b-2.hosts.gz") && all.includes("all.conf"), all.join(" "));
  assert.deepEqual([...objects].toSorted(), all);
  for (const round of [1, 2]) {
    remove(project, "rules/.rules-compiler/publish.json");
    project.lines("||one.example^", `||round-${round}.example^`);
    const { exit, stderr } = await project.run(...PUBLISH, "--filter", "a");
    assert.equal(exit, 0, stderr);
    assert.deepEqual([...objects].toSorted(), all);
    assert.deepEqual(pushed(project).toSorted(), all);
    // The state has only what a run has published.
    const { lists } = JSON.parse(project.text("rules/.rules-compiler/publish.json")) as {
      lists: object;
    };
    assert.deepEqual(Object.keys(lists), ["a"]);
  }
});

test("a list with a missing file stays in the bucket and in the branch", async (t) => {
  const { project, objects } = await placeOf(t, LISTS);
  assert.equal((await project.run(...PUBLISH)).exit, 0);
  const all = pushed(project);
  remove(project, "b.txt");
  for (const file of ["rules/b-2.hosts", "rules/b.txt"]) {
    const text = project.text(file);
    remove(project, file);
    const { exit, stderr } = await project.run(...PUBLISH);
    assert.equal(exit, 4, stderr);
    assert.match(stderr, /the branch would lose b: not published in the rules directory/);
    assert.deepEqual([...objects].toSorted(), all.toSorted());
    assert.deepEqual(pushed(project), all);
    project.write(file, text);
  }
});

test("a copy of a list elsewhere does not remove files of the folder", async (t) => {
  const { project, objects } = await placeOf(t, LISTS);
  assert.equal((await project.run(...PUBLISH)).exit, 0);
  const all = pushed(project);
  const copied = await project.run(...PUBLISH, "--filter", "a", "-o", "other/list.txt", "-r");
  assert.equal(copied.exit, 0, copied.stderr);
  assert.deepEqual(pushed(project), all);
  assert.deepEqual([...objects].toSorted(), all.toSorted());
});

test("an output that a rollback leaves alone stays in the bucket and in the branch", async (t) => {
  const { project, objects } = await placeOf(t, { outputs: [{ format: "hosts" }] });
  assert.equal((await project.run(...PUBLISH)).exit, 0);
  const { publish } = JSON.parse(project.text("c.json")) as { publish: unknown };
  const rpz = { format: "rpz", split: { max_rules: 1 } };
  project.config(publish, { outputs: [{ format: "hosts" }, rpz] });
  project.lines("||one.example^", "||two.example^", "||three.example^");
  assert.equal((await project.run(...PUBLISH)).exit, 0);
  const all = published(project).toSorted();
  assert.ok(all.includes("home.rpz") && all.includes("home-3.rpz"), all.join(" "));
  const { exit, stderr } = await project.run("rollback", "@1", "--hold", ...PUBLISH);
  assert.equal(exit, 0, stderr);
  assert.match(stderr, /not-rolled-back\]: rules\/home\.rpz .* stays as it is/);
  assert.deepEqual([...objects].toSorted(), all);
  assert.deepEqual(pushed(project).toSorted(), all);
  assert.equal((await project.run(...PUBLISH)).exit, 0);
  assert.deepEqual([...objects].toSorted(), all);
  // The file of an output that is no longer configured goes.
  project.config(publish, { outputs: [{ format: "hosts" }] });
  assert.equal((await project.run(...PUBLISH)).exit, 0);
  assert.deepEqual([...objects].toSorted(), ["home.hosts", "home.txt"]);
});
