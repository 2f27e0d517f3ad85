import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { test } from "node:test";
import { HookProject } from "../support/hook-project.ts";
import { ProofLoop, listOf } from "../support/resolvers/proof-loop.ts";

const BIN = join(import.meta.dirname, "../../dist/cli/bin.js");
const COMPILE = ["compile", "-c", "c.json", "--permit", "hooks", "--wait", "0"];

/** Runs commands, and returns how often each of them reads the configuration. */
function readsIn(loop: ProofLoop): (...words: string[]) => Promise<number> {
  let reads = 0;
  const count = (path: string): string => {
    if (path === "/project/c.json") reads++;
    return path;
  };
  loop.change((host) => ({
    readFile: async (path) => await host.readFile(count(path)),
    openFile: async (path) => await host.openFile(count(path)),
  }));
  return async (...words) => {
    reads = 0;
    const { exit, stderr } = await loop.project.run(...words);
    assert.ok([0, 5, 12].includes(exit), stderr);
    return reads;
  };
}

test("a run reads the configuration once, with hooks, a proof, a rollback and a second proof", async () => {
  const loop = new ProofLoop("rollback");
  const readsOf = readsIn(loop);
  const others = ["-c", "c.json"];
  assert.equal(await readsOf(...COMPILE), 1, "the first build");
  assert.equal(await readsOf(...COMPILE), 1, "nothing changed");
  loop.project.write("own.txt", listOf(2));
  assert.equal(await readsOf(...COMPILE), 1, "another list");
  loop.resolvers[0]!.mode = "picky";
  loop.project.write("own.txt", listOf(1));
  assert.equal(await readsOf(...COMPILE), 1, "a list that is undone");
  assert.equal(loop.rollbacks.length, 1);
  assert.equal(await readsOf("compile", ...others), 1, "without permission");
  assert.equal(await readsOf("rollback", ...others, "--permit", "hooks"), 1, "rollback");
  assert.equal(await readsOf("hold", ...others, "--permit", "hooks"), 1, "hold");
  assert.equal(await readsOf("hold", "--end", ...others), 1, "the end of a hold");
  assert.equal(await readsOf("prove", ...others, "--wait", "0"), 1, "prove");
  assert.equal(await readsOf("plan", ...others, "--save", "my.plan"), 1, "plan");
  assert.equal(await readsOf("apply", ...others, "my.plan", "--permit", "hooks"), 1, "apply");
});

test("several lists share one read", async () => {
  const loop = new ProofLoop("rollback");
  const readsOf = readsIn(loop);
  const config = JSON.parse(loop.project.text("c.json")) as object;
  const lists = [{ name: "List" }, { name: "Other" }];
  const resolvers = [{ name: "first", address: "127.0.0.1:1", list: "List" }];
  loop.project.write("c.json", JSON.stringify({ ...config, lists, resolvers }));
  assert.equal(await readsOf(...COMPILE), 1);
});

const hasStrace = spawnSync("strace", ["-V"]).status === 0;

test("the system sees one open of the configuration", { skip: !hasStrace }, (context) => {
  const more = { resolvers: [{ name: "first", address: "127.0.0.1:9" }] };
  const project = new HookProject(context, [{ run: ["tee", "-a", "said"] }], more);
  const trace = ["-f", "-e", "trace=open,openat,openat2", "-o", "trace"];
  const { status } = spawnSync("strace", [...trace, process.execPath, BIN, ...COMPILE], {
    cwd: project.folder,
    env: { PATH: process.env["PATH"], XDG_CACHE_HOME: join(project.folder, "cache") },
  });
  assert.equal(status, 12, "nobody answers");
  assert.equal(project.said("said").length, 1);
  const opens = readFileSync(join(project.folder, "trace"), "utf8").match(/\/c\.json"/g) ?? [];
  assert.equal(opens.length, 1);
});
