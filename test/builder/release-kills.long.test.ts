import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { pathToFileURL } from "node:url";
import { type TestContext, test } from "node:test";
import { inParallel } from "../support/command.ts";
import { DiskProject } from "../support/disk-project.ts";
import { RELEASE, buildsIn, linesOf, publicKey, secretKey } from "../support/killed-publish.ts";
import { isNightly } from "../support/nightly.ts";

const KILLS = isNightly ? 600 : 24;
const FOLDERS = 3;
const publisher = join(import.meta.dirname, "../support/release-forever.ts");
const REFUSING = JSON.stringify({ ...RELEASE, guards: { min_rules: 1000 } });

/** All files below the rules directory, by the paths that a host in memory would have. */
function filesOf(project: DiskProject): Map<string, Uint8Array> {
  const names = readdirSync(join(project.folder, "rules"), {
    recursive: true,
    withFileTypes: true,
  });
  return new Map(
    names
      .filter((one) => one.isFile())
      .map((one) => join(one.parentPath, one.name))
      .map((path) => [path.replace(project.folder, "/project"), readFileSync(path)]),
  );
}

async function killOnce(project: DiskProject, first: number, delay: number): Promise<void> {
  const cache = join(import.meta.dirname, "../support/compile-cache.ts");
  const words = ["--import", pathToFileURL(cache).href, publisher, project.folder, String(first)];
  const child = spawn(process.execPath, words, { stdio: ["ignore", "pipe", "ignore"] });
  await new Promise<void>((publishing, failed) => {
    child.stdout.once("data", () => publishing());
    child.once("exit", (code) => failed(new Error(`the publisher ended with ${code}`)));
  });
  await new Promise((waited) => setTimeout(waited, delay));
  const ended = new Promise((closed) => child.once("close", closed));
  child.kill("SIGKILL");
  await ended;
}

test(`after many kills of a publisher, a refused run leaves the files of one build`, async (context: TestContext) => {
  const free = Array.from({ length: FOLDERS }, () => new DiskProject(context));
  for (const [index, project] of free.entries()) {
    project.write("s.key", secretKey);
    project.write("c.json", JSON.stringify(RELEASE));
    project.write("a.txt", linesOf(index === 0 ? "one" : "two", 5));
    assert.equal((await project.run("-q", "-c", "c.json", "--no-cache")).exit, 0);
  }
  let unfinished = 0;
  const seen = new Map<string, number>();
  const killAt = async (index: number): Promise<void> => {
    const project = free.pop()!;
    // Spread over the time that the renames take, by a step that has no common measure with it; some are later.
    const delay = (index * 7.31) % (index % 4 === 0 ? 150 : 12);
    await killOnce(project, index, delay);
    const journal = join(project.folder, "rules/.rules-compiler/l.txt.journal");
    if (existsSync(journal)) unfinished++;
    project.write("c.json", REFUSING);
    const { exit, stderr } = await project.run("-q", "-c", "c.json", "--no-cache");
    assert.equal(exit, 5, stderr);
    const files = filesOf(project);
    const [build = "", ...others] = new Set(buildsIn(files).values());
    assert.deepEqual(others, [], `killed after ${delay} ms: ${[...buildsIn(files)].join("; ")}`);
    const left = [...files.keys()].filter((path) => /\.tmp$|\.journal$/.test(path));
    assert.deepEqual(left, [], `killed after ${delay} ms`);
    const verified = await project.run("verify", "rules/manifest.json", "--key", publicKey);
    assert.equal(verified.exit, 0, `killed after ${delay} ms: ${verified.stderr}`);
    seen.set(build, (seen.get(build) ?? 0) + 1);
    free.push(project);
  };
  // Few kills meet the renames; go on until one did.
  let kills = 0;
  for (let more = true; more; more = unfinished === 0 && kills < KILLS * 8) {
    const from = kills;
    kills += KILLS;
    await inParallel(Array(KILLS).keys(), FOLDERS, async (index) => await killAt(from + index));
  }
  assert.deepEqual([...seen.keys()].toSorted(), ["one", "two"]);
  assert.ok(unfinished > 0);
  context.diagnostic(`${kills} kills, ${unfinished} unfinished publishes, 0 mixed releases`);
});
