import assert from "node:assert/strict";
import { test } from "node:test";
import { crc32 } from "node:zlib";
import {
  RELEASE,
  buildsIn,
  killedMoments,
  projectWith,
  publicKey,
} from "../support/killed-publish.ts";
import type { MemoryProject } from "../support/memory-project.ts";

const COMPILE = ["-q", "-c", "c.json", "--no-cache"];
/** A list with so few rules is refused. */
const REFUSING = { ...RELEASE, guards: { min_rules: 1000 } };
const PARTS = { one: 5, two: 3 };

const JOURNAL = "/project/rules/.rules-compiler/l.txt.journal";

interface JournalSteps {
  readonly steps: readonly {
    readonly file: string;
    readonly checksum: string | null;
    readonly fresh: string | null;
    readonly before: string | null;
  }[];
}

function journalIn(files: ReadonlyMap<string, Uint8Array>): JournalSteps {
  return JSON.parse(new TextDecoder().decode(files.get(JOURNAL))) as JournalSteps;
}

function checksumOf(bytes: Uint8Array = new Uint8Array(0)): string {
  return `${bytes.length}-${crc32(bytes).toString(16)}`;
}

function temporaryPath(file: string, token: string | null): string {
  return `/project/rules/${file.replace(/[^/]*$/, `.$&.${token}.tmp`)}`;
}

/** Asserts that all files are of one build, and that nothing else is left. */
async function expectWhole(project: MemoryProject, what: string): Promise<string> {
  const files = new Map(project.memory.files.entries());
  const builds = buildsIn(files);
  const [build = "", ...others] = new Set(builds.values());
  assert.deepEqual(others, [], `${what}: ${JSON.stringify([...builds])}`);
  const parts = [...builds.keys()].filter((name) => /^l(?:-\d+)?\.dnsmasq\.conf$/.test(name));
  assert.equal(parts.length, PARTS[build as keyof typeof PARTS], `${what}: ${parts.join()}`);
  const left = [...files.keys()].filter((path) => /\.tmp$|\.journal$/.test(path));
  assert.deepEqual(left, [], what);
  const { exit, stderr } = await project.run("verify", "rules/manifest.json", "--key", publicKey);
  assert.equal(exit, 0, `${what}: ${stderr}`);
  return build;
}

test("whenever a publish is killed, the next run makes one build of all files, also if it is refused", async () => {
  const seen = new Set<string>();
  let number = 0;
  for (const files of await killedMoments()) {
    const project = projectWith(files, REFUSING);
    const { exit, stderr } = await project.run(...COMPILE);
    assert.equal(exit, 5, stderr);
    seen.add(await expectWhole(project, `killed at call ${++number}`));
  }
  assert.deepEqual([...seen], ["one", "two"]);
});

test("a publish that was killed is completed or undone only as far as the configuration names its files", async () => {
  const outputs = RELEASE.outputs.filter((one) => !("format" in one) || one.format !== "domains");
  const seen = new Set<string>();
  for (const files of await killedMoments()) {
    const before = buildsIn(files).get("l.domains");
    const project = projectWith(files, { ...REFUSING, outputs });
    assert.equal((await project.run(...COMPILE)).exit, 5);
    assert.equal(buildsIn(new Map(project.memory.files.entries())).get("l.domains"), before);
    for (const path of project.memory.files.keys())
      if (/\.l\.domains\.\w+\.tmp$/.test(path)) project.memory.files.delete(path);
    seen.add(await expectWhole(project, `with l.domains of build ${before}`));
  }
  assert.deepEqual([...seen], ["one", "two"]);
});

test("a publish is undone if new bytes are gone", async () => {
  const ends = new Set<string>();
  for (const files of await killedMoments()) {
    if (!files.has(JOURNAL)) continue;
    const { steps } = journalIn(files);
    for (const token of ["fresh", "before"] as const) {
      const project = projectWith(files, REFUSING);
      const isDone = steps.map(({ file, fresh, checksum }) =>
        fresh === null
          ? !files.has(`/project/rules/${file}`)
          : checksum === checksumOf(files.get(`/project/rules/${file}`)),
      );
      for (const step of steps) project.memory.files.delete(temporaryPath(step.file, step[token]));
      const { exit, stderr } = await project.run("-c", "c.json", "--no-cache");
      assert.equal(exit, 5);
      const end = /interrupted; it is now (\w+)/.exec(stderr)?.[1] ?? "left";
      ends.add(`${token} ${end}`);
      const isMissing = token === "fresh" && !isDone.every(Boolean);
      assert.equal(end, isMissing ? "undone" : "completed", `${token}: ${stderr}`);
      assert.equal(await expectWhole(project, token), isMissing ? "one" : "two");
    }
  }
  assert.deepEqual([...ends].toSorted(), ["before completed", "fresh completed", "fresh undone"]);
});

test("the next run publishes as usual, and rollback finishes a publish, too", async () => {
  const moments = await killedMoments();
  const unfinished = moments.filter((files) => files.has(JOURNAL));
  for (const files of [
    unfinished[0]!,
    unfinished[Math.floor(unfinished.length / 2)]!,
    unfinished.at(-1)!,
  ]) {
    const next = projectWith(files);
    assert.equal((await next.run(...COMPILE)).exit, 0);
    assert.equal(await expectWhole(next, "compile"), "two");
    assert.equal((await next.run("why", "-c", "c.json", "n1.two.example")).exit, 0);
    const back = projectWith(files);
    assert.equal((await back.run("rollback", "-c", "c.json")).exit, 0);
    assert.equal(await expectWhole(back, "rollback"), "one");
  }
});

test("commands that only read say that a publish is not finished, and write nothing", async () => {
  const moments = await killedMoments();
  const files = moments.findLast((one) => one.has(JOURNAL))!;
  const project = projectWith(files);
  const before = [...project.memory.files.entries()];
  for (const words of [
    ["why", "n1.one.example", "-c", "c.json"],
    ["stats", "-c", "c.json"],
    ["log", "-c", "c.json"],
    ["plan", "-c", "c.json", "--no-cache"],
    ["verify", "rules/manifest.json"],
  ]) {
    const { stderr } = await project.run(...words);
    const count = stderr.split("The last publish of").length - 1;
    assert.equal(count, 1, `${words.join(" ")}: ${stderr}`);
    assert.match(stderr, /warning\[publish-unfinished\].*is not finished/);
    assert.deepEqual([...project.memory.files.entries()], before, words.join(" "));
  }
});
