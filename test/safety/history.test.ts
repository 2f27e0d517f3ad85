import assert from "node:assert/strict";
import { test } from "node:test";
import type { HistoryFact } from "../../src/record/history-entry.ts";
import { HistoryLog } from "../../src/record/history-log.ts";
import { COMPILE, SPLIT, WORDS, built, config, later } from "../support/kept-project.ts";
import { type Host, HostError, type MemoryHost, memoryHost } from "../support/internals.ts";
import type { MemoryProject } from "../support/memory-project.ts";
import { Random } from "../support/random.ts";

const LIST = "/project/rules/home.txt";
const LOG = "/project/rules/.rules-compiler/home.txt.history.jsonl";
const HEAD = "/project/rules/.rules-compiler/home.txt.history.json";

/** A project with something of everything in its history. */
async function eventful(): Promise<MemoryProject> {
  const project = await built();
  const step = async (...words: string[]): Promise<void> => {
    await project.run(...words);
    later(project, 60);
  };
  project.write("ads.txt", "||x.example^\n");
  await step(...COMPILE, "--accept", "list-shrunk");
  project.write("c.json", config({ ...SPLIT, guards: { min_rules: 1000 } }));
  await step(...COMPILE, "--by", "night job �");
  project.write("c.json", config(SPLIT));
  await step("rollback", "--hold", ...WORDS);
  await step(...COMPILE);
  await step("rollback", "--release", ...WORDS);
  project.write("ads.txt", "||y.example^\n");
  await step(...COMPILE);
  // The same list again.
  await step(...COMPILE);
  return project;
}

test("history shows who did what", async () => {
  const project = await eventful();
  const { exit, stdout } = await project.run("history", "--json", ...WORDS);
  assert.equal(exit, 0);
  const entries = stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as HistoryFact);
  assert.deepEqual(
    entries.map(({ event, by, guards = [] }) => [event, by, ...guards]),
    [
      ["published", "user@memory"],
      ["accepted", "user@memory", "list-shrunk"],
      ["refused", "night job �", "too-few-rules"],
      ["rolled-back", "user@memory"],
      ["held", "user@memory"],
      ["released", "user@memory"],
      ["published", "user@memory"],
    ],
  );
  assert.deepEqual(
    entries[0]?.from?.map(({ source }) => source),
    ["Ads", "Hosts"],
  );
  assert.match(entries[0]?.from?.[0]?.sha256 ?? "", /^[0-9a-f]{64}$/);
  assert.notEqual(entries[0]?.to, entries[1]?.to);
  const shown = await project.run("history", ...WORDS);
  assert.match(shown.stdout, /rolled-back +3 +user@memory +[0-9a-f]{12} +the build of 2026-11-10/);
  const verified = await project.run("history", "--verify", ...WORDS);
  assert.equal(verified.exit, 0, verified.stderr);
  assert.match(verified.stdout, /^good: 7 entries of rules\/home\.txt, head [0-9a-f]{64}$/m);
});

test("each of 1,000 changes of one byte is found", async () => {
  const project = await eventful();
  const { files } = project.memory;
  const log = files.get(LOG)!;
  const random = new Random(17);
  for (let count = 0; count < 1000; count++) {
    const changed = log.slice();
    const at =
      count < log.length && count % 10 === 0
        ? log.length - 1 - count / 10
        : random.below(log.length);
    changed[at] = (changed[at]! + 1 + random.below(255)) % 256;
    files.set(LOG, changed);
    const { problems } = await new HistoryLog(LIST, project.memory).check();
    assert.notEqual(problems.length, 0, `byte ${at}: ${log[at]} → ${changed[at]}`);
  }
  files.set(LOG, log);
  assert.deepEqual((await new HistoryLog(LIST, project.memory).check()).problems, []);
});

function text(lines: readonly string[]): Uint8Array {
  return new TextEncoder().encode(lines.join(""));
}

test("a cut end, added bytes and a lost head are found, also after the next entry", async () => {
  const project = await eventful();
  const { files } = project.memory;
  const [log, head] = [files.get(LOG)!, files.get(HEAD)!];
  const lines = new TextDecoder().decode(log).split(/(?<=\n)/);
  const found = async (change: () => void): Promise<void> => {
    files.set(LOG, log);
    files.set(HEAD, head);
    change();
    const checked = await project.run("history", "--verify", ...WORDS);
    assert.equal(checked.exit, 5, change.toString());
    assert.match(checked.stderr, /error\[history-changed\]/);
    project.write("ads.txt", `||z${project.now.replaceAll(/\D/g, "")}.example^\n`);
    later(project, 60);
    assert.equal((await project.run(...COMPILE)).exit, 0);
    const again = await project.run("history", "--verify", ...WORDS);
    assert.equal(again.exit, 5, `after the next entry: ${change.toString()}`);
  };
  for (let length = 0; length < log.length; length += length > log.length - 3 ? 1 : 611)
    await found(() => files.set(LOG, log.slice(0, length)));
  await found(() => files.set(LOG, text(lines.slice(0, -1))));
  await found(() => files.set(LOG, text(lines.toSpliced(2, 1))));
  await found(() => files.set(LOG, text([...lines, lines.at(-1)!])));
  await found(() => files.set(LOG, text([...lines, "\n"])));
  await found(() => files.delete(LOG));
  await found(() => files.delete(HEAD));
  await found(() => files.set(HEAD, head.slice(0, -9)));
});

/** Thrown where a run is killed. */
class Killed extends Error {}

function fact(n: number): HistoryFact {
  const to = String(n).padStart(64, "0");
  return { at: "2026-11-10T00:00:00.000Z", event: "published", by: `run ${n}`, to };
}

/** A host that is killed at its n-th step. An append may have written a part of its bytes. */
function mortal(memory: MemoryHost, step: number, part: number): Host {
  let steps = 0;
  return {
    ...memory,
    rename: async (from, to) => {
      if (++steps === step) throw new Killed();
      await memory.rename(from, to);
    },
    appendFile: async (path, bytes) => {
      if (++steps !== step) return await memory.appendFile(path, bytes);
      await memory.appendFile(path, bytes.subarray(0, Math.floor(bytes.length * part)));
      throw new Killed();
    },
  };
}

test("a run that is killed anywhere leaves a log that the next run completes", async () => {
  let repaired = 0;
  for (let step = 1; step <= 4; step++)
    for (const part of [0, 0.3, 0.99, 1]) {
      const memory = memoryHost();
      const log = new HistoryLog(LIST, memory);
      for (let n = 1; n <= 3; n++) await log.append(fact(n));
      const dying = new HistoryLog(LIST, mortal(memory, step, part)).append(fact(4));
      const isKilled = await dying.then(
        () => false,
        (error: unknown) => {
          assert.ok(error instanceof Killed);
          return true;
        },
      );
      const what = `step ${step}, part ${part}`;
      assert.equal(isKilled, step < 4, what);
      const left = await log.check();
      assert.deepEqual(left.problems, [], what);
      await log.append(fact(5));
      const { entries, problems, isUnfinished } = await log.check();
      assert.deepEqual([problems, isUnfinished], [[], false], what);
      const names = entries.map(({ event, by }) => (event === "published" ? by : event));
      const note = left.isUnfinished ? ["repaired"] : [];
      repaired += note.length;
      // The first step writes the entry to the head; before it, there is nothing to complete.
      const killed = step === 1 ? [] : ["run 4"];
      assert.deepEqual(names, ["run 1", "run 2", "run 3", ...killed, ...note, "run 5"], what);
    }
  assert.equal(repaired, 3);
});

test("half an entry that differs from what was being written is a change", async () => {
  const memory = memoryHost();
  const log = new HistoryLog(LIST, memory);
  await log.append(fact(1));
  await new HistoryLog(LIST, mortal(memory, 2, 0.5)).append(fact(2)).catch(() => {});
  const bytes = memory.files.get(LOG)!.slice();
  bytes[bytes.length - 3]! ^= 1;
  memory.files.set(LOG, bytes);
  const { problems, isUnfinished } = await log.check();
  assert.deepEqual([problems.length > 0, isUnfinished], [true, false]);
});

test("a list that another program replaced is reported, and is not an error", async () => {
  const project = await eventful();
  project.write("rules/home.txt", "||other.example^\n");
  const { exit, stderr } = await project.run("history", "--verify", ...WORDS);
  assert.equal(exit, 0);
  assert.match(stderr, /warning\[history-open\].*is not the list that the history names last/);
});

test("a history that cannot be written does not stop a publish", async () => {
  const project = await built({
    appendFile: () => Promise.reject(new HostError("ENOSPC", "no space left on device")),
  });
  project.write("ads.txt", "||x.example^\n");
  const { exit, stderr } = await project.run(...COMPILE);
  assert.equal(exit, 0);
  assert.match(stderr, /history-failed/);
  assert.match(project.text("rules/home.txt"), /\|\|x\.example\^/);
});
