import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { test } from "node:test";
import { HistoryReplay, namesIn, textOf } from "../support/history-replay.ts";

const DAY = 86_400_000;

function numbers(count: number, from = 0): number[] {
  return Array.from({ length: count }, (_, index) => from + index);
}

function list(count: number, from = 0): Uint8Array {
  return textOf(numbers(count, from));
}

/** On which days (from 0) a source is held that has these texts, one a day. */
async function heldDays(
  texts: readonly Uint8Array[],
  replay = new HistoryReplay(),
): Promise<number[]> {
  const held: number[] = [];
  for (const [day, text] of texts.entries())
    if ((await replay.day(text)).length > 0) held.push(day);
  return held;
}

function lines(names: readonly string[]): Uint8Array {
  return Buffer.from(names.map((name) => `${name}\n`).join(""));
}

test("small steps count together: in one day, in a week and in a month", async () => {
  const grown = new HistoryReplay();
  const codes: string[] = [];
  // 2,000 become 195,312 in six runs of a day.
  for (const size of [2000, 5000, 12_500, 31_250, 78_125, 195_312]) {
    grown.now += 60_000;
    codes.push((await grown.run(list(size)))[0] ?? "");
  }
  assert.deepEqual(codes, ["", "", ...Array.from({ length: 4 }, () => "source-grown")]);
  assert.equal(namesIn(grown.published).length, 5000);

  const shrunk = new HistoryReplay();
  for (let run = 0; run < 30; run++) {
    shrunk.now += 60_000;
    await shrunk.run(list(Math.round(8000 * 0.9 ** run)));
  }
  assert.ok(namesIn(shrunk.published).length > 3600, "half of it stays on the first day");

  for (const [share, days] of [
    [0.85, 7],
    [0.96, 25],
  ] as const) {
    const texts = Array.from({ length: 40 }, (_, day) => list(Math.round(10_000 * share ** day)));
    const [first] = await heldDays(texts);
    assert.ok(first !== undefined && first <= days + 2, `${share}: ${first}`);
  }
});

test("a list that changes its form is not held, then or later, and its memory stays", async () => {
  const parents = numbers(600).map((one) => `p${one}.example`);
  const withHosts = (name: string): string[] => [
    name,
    ...numbers(40).map((one) => `h${one}.${name}`),
  ];
  const domains = lines(parents.flatMap(withHosts));
  const rules = lines(parents.map((name) => `||${name}^`));
  const some = (share: number): Uint8Array =>
    lines(parents.slice(0, Math.round(parents.length * share)).map((name) => `||${name}^`));
  for (const [before, now] of [
    [domains, rules],
    [rules, domains],
  ] as const) {
    const replay = new HistoryReplay();
    assert.deepEqual(await heldDays([before, before, now, now], replay), []);
    for (let day = 0; day < 35; day++) assert.deepEqual(await replay.day(now), []);
    assert.deepEqual(replay.holds, []);
  }
  // What was lost before the rewrite counts after it.
  const replay = new HistoryReplay();
  const fewer = lines(parents.slice(0, 360).flatMap(withHosts));
  assert.deepEqual(await heldDays([domains, fewer, some(0.6)], replay), []);
  assert.deepEqual(await replay.day(some(0.33)), ["source-shrunk"]);
});

test("a feed is judged by its own pace, and held when it is wiped", async () => {
  const feed = (day: number): Uint8Array => list(3000, day * 2000);
  const replay = new HistoryReplay();
  const held = await heldDays(
    Array.from({ length: 30 }, (_, day) => feed(day)),
    replay,
  );
  assert.ok(
    held.every((day) => day < 7),
    held.join(),
  );
  assert.deepEqual(await replay.day(list(200, 30 * 2000 + 2000)), ["source-shrunk"]);
});

test("a list that swings between two sizes is not held", async () => {
  const texts = Array.from({ length: 60 }, (_, day) => list(day % 2 === 0 ? 5500 : 9600));
  assert.deepEqual(await heldDays(texts), []);
});

test("after a bad night, the list is the one without that night", async () => {
  for (const bad of [list(900), list(70_000), list(3000, 9000), list(2900)]) {
    const replay = new HistoryReplay();
    await heldDays([list(1000), list(1001), list(1002)], replay);
    replay.now += DAY;
    await replay.run(bad, ["source-shrunk", "source-grown", "source-replaced"]);
    assert.deepEqual(await replay.day(list(1003)), []);
    assert.deepEqual(namesIn(replay.published), numbers(1003));
  }
});

test("while a source is held, what it adds does not hide what it lost", async () => {
  const replay = new HistoryReplay();
  await heldDays([list(2000), list(2000)], replay);
  const offer = Buffer.concat([list(900), list(3500, 50_000)]);
  const held = await heldDays([offer, offer, offer], replay);
  assert.deepEqual(held, [0, 1, 2]);
  assert.equal(namesIn(replay.published).length, 5500);
});

test("a wrong clock neither holds nor frees a source", async () => {
  for (const jump of [400, -400]) {
    const replay = new HistoryReplay();
    await heldDays([list(2000), list(2001)], replay);
    const { now } = replay;
    replay.now = now + jump * DAY;
    assert.deepEqual(await replay.run(list(2002)), []);
    replay.now = now + DAY;
    assert.deepEqual(await replay.run(list(2003)), []);
    assert.deepEqual(await replay.day(list(500)), ["source-shrunk"]);
    assert.deepEqual(await replay.day(list(500)), ["source-shrunk"]);
  }
});
