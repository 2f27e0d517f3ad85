import type { HistoryEntry, LogEvent } from "../../src/documents/facts.ts";
import assert from "node:assert/strict";
import { test } from "node:test";
import { isDeepStrictEqual } from "node:util";
import { HistoryLog } from "../../src/record/record-file.ts";
import { COMPILE, SPLIT, WORDS, built, config, later } from "../support/kept-project.ts";
import { type Host, HostError, type MemoryHost, memoryHost } from "../support/internals.ts";
import type { MemoryProject } from "../support/memory-project.ts";
import { Random } from "../support/random.ts";
import { listIn } from "../support/documents.ts";

const LIST = "/project/rules/home.txt";
const LOG = "/project/rules/.rules-compiler/home.txt.log.jsonl";

/** A project with something of everything in its log. */
async function eventful(): Promise<MemoryProject> {
  const project = await built();
  const step = async (...words: string[]): Promise<void> => {
    await project.run(...words);
    later(project, 60);
  };
  project.write("ads.txt", "||x.example^\n");
  await step(...COMPILE, "--accept", "source-shrunk");
  project.write("c.json", config({ ...SPLIT, guards: { min_rules: 1000 } }));
  await step(...COMPILE, "--by", "night job �");
  project.write("c.json", config(SPLIT));
  await step("hold", "@1", ...WORDS);
  await step(...COMPILE);
  await step("hold", "--end", ...WORDS);
  project.write("ads.txt", "||y.example^\n");
  await step(...COMPILE);
  // The same list again.
  await step(...COMPILE);
  return project;
}

async function eventsOf(project: MemoryProject): Promise<LogEvent[]> {
  const { exit, stdout, stderr } = await project.run("log", "--json", ...WORDS);
  assert.equal(exit, 0, stderr);
  return (listIn(stdout) as { events: LogEvent[] }).events;
}

test("log shows builds and events, newest first, and who asked", async () => {
  const project = await eventful();
  const events = await eventsOf(project);
  assert.deepEqual(
    events.map(({ build = "", event, by, guards = [] }) => [build, event, by, ...guards]),
    [
      ["@0", "unchanged", "user@memory"],
      ["@1", "published", "user@memory"],
      ["", "hold-ended", "user@memory"],
      ["", "held", "user@memory"],
      ["@2", "rolled-back", "user@memory"],
      ["", "refused", "night job �", "too-few-rules"],
      ["@3", "accepted", "user@memory", "source-shrunk"],
      ["@4", "published", "user@memory"],
    ],
  );
  const [newest, first] = [events[1]!, events.at(-1)!];
  assert.deepEqual(
    first.from?.map(({ source }) => source),
    ["Ads", "Hosts"],
  );
  assert.match(first.from?.[0]?.sha256 ?? "", /^[0-9a-f]{64}$/);
  assert.notEqual(first.to, newest.to);
  const { stdout } = await project.run("log", ...WORDS);
  const [title, head, ...rows] = stdout.trimEnd().split("\n");
  assert.deepEqual([title, rows.length], ["rules/home.txt", 8]);
  assert.match(head!, /^ {2}build +when +event +rules +change +by +note$/);
  assert.match(
    rows[4]!,
    /^ {2}@2 +2026-11-10 00:\d\d UTC +rolled-back +3 +±0 +user@memory +to the build of 2026/,
  );
});

test("a list that has no file yet has no log, and the message says so", async () => {
  const project = await built();
  const { exit, stderr } = await project.run("log", "-o", "other.txt", ...WORDS);
  assert.equal(exit, 2, stderr);
  assert.match(stderr, /error\[record-missing\]: Nothing has happened to other\.txt yet/);
});

test("damaged lines are skipped, the others are shown, and the next event is added", async () => {
  const project = await eventful();
  const { files } = project.memory;
  const whole = files.get(LOG)!;
  const random = new Random(17);
  const log = new HistoryLog(LIST, project.memory);
  const all = await log.entries();
  for (let count = 0; count < 500; count++) {
    const cut = random.chance(0.3) ? random.below(whole.length + 1) : whole.length;
    const bytes = whole.slice(0, cut);
    const changes = cut === 0 ? 0 : random.below(4);
    for (let change = 0; change < changes; change++) bytes[random.below(cut)] = random.below(256);
    files.set(LOG, bytes);
    const left = await log.entries();
    const texts = new TextDecoder().decode(bytes).split("\n");
    const intact = all.filter((entry) => texts.includes(JSON.stringify(entry)));
    for (const entry of intact) assert.ok(left.some((one) => isDeepStrictEqual(one, entry)));
    await log.append(fact(7));
    assert.deepEqual(await log.entries(), [...left, fact(7)], `cut at ${cut}`);
  }
  files.set(LOG, whole.slice(0, -9));
  assert.equal(
    (await eventsOf(project)).length,
    all.length + 1,
    "builds are shown without their event",
  );
  for (const text of [
    "null",
    "[]",
    "1",
    '{"at":"x"}',
    '{"at":"2026-11-10","by":"x","event":"y"}',
  ]) {
    project.write("rules/.rules-compiler/home.txt.log.jsonl", `${text}\n`);
    assert.deepEqual(await log.entries(), [], text);
  }
});

/** Thrown where a run is killed. */
class Killed extends Error {}

function fact(n: number): HistoryEntry {
  const to = String(n).padStart(64, "0");
  return { at: "2026-11-10T00:00:00.000Z", build: n, event: "published", by: `run ${n}`, to };
}

/** A host that is killed after it has appended a part of the bytes. */
function mortal(memory: MemoryHost, part: number): Host {
  return {
    ...memory,
    appendFile: async (path, bytes) => {
      await memory.appendFile(path, bytes.subarray(0, Math.floor(bytes.length * part)));
      throw new Killed();
    },
  };
}

test("after a run that was killed while it wrote, the next entry is whole", async () => {
  for (const part of [0, 0.3, 0.99, 1]) {
    const memory = memoryHost();
    const log = new HistoryLog(LIST, memory);
    for (let n = 1; n <= 3; n++) await log.append(fact(n));
    await assert.rejects(new HistoryLog(LIST, mortal(memory, part)).append(fact(4)), Killed);
    await log.append(fact(5));
    const killed = part === 1 ? ["run 4"] : [];
    assert.deepEqual(
      (await log.entries()).map(({ by }) => by),
      ["run 1", "run 2", "run 3", ...killed, "run 5"],
      `part ${part}`,
    );
    assert.equal(await log.lastDigest(), fact(5).to);
  }
});

test("a log that cannot be written does not stop a publish", async () => {
  const project = await built({
    appendFile: () => Promise.reject(new HostError("ENOSPC", "no space left on device")),
  });
  project.write("ads.txt", "||x.example^\n");
  const { exit, stderr } = await project.run(...COMPILE);
  assert.equal(exit, 0);
  assert.match(stderr, /log-failed/);
  assert.match(project.text("rules/home.txt"), /\|\|x\.example\^/);
});
