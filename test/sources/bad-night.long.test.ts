import assert from "node:assert/strict";
import { test } from "node:test";
import { isNightly } from "../support/nightly.ts";
import type { Plot } from "../support/policy/upstreams.ts";
import { type Run, World } from "../support/policy/world.ts";

const MONTHS = isNightly ? 100 : 1;
const NIGHTS: readonly Plot[] = ["outage", "garbage", "flood", "wipe"];

async function runsOf(world: World, days: number): Promise<Run[]> {
  const runs: Run[] = [];
  for await (const run of world.runs(days)) runs.push(run);
  return runs;
}

function rulesOf({ list }: Run): string[] {
  return list.split("\n").filter((line) => !line.startsWith("!"));
}

for (const plot of NIGHTS)
  test(`after one night (${plot}), the list is as if that night had not been`, async () => {
    for (let seed = 1; seed <= MONTHS; seed++) {
      const [bad, good] = [new World(seed, [plot]), new World(seed, [plot])];
      const victim = bad.upstreams.at(-1)!;
      good.upstreams.at(-1)!.isMuted = true;
      const days = victim.to + 4;
      const [one, other] = [await runsOf(bad, days), await runsOf(good, days)];
      assert.equal(one.length, other.length);
      let isDifferent = false;
      for (const [index, run] of one.entries()) {
        const isNight = run.day >= victim.from && run.day < victim.to;
        if (isNight) isDifferent ||= run.stderr !== "";
        else assert.deepEqual(rulesOf(run), rulesOf(other[index]!), `seed ${seed}, day ${run.day}`);
      }
      assert.ok(isDifferent, `seed ${seed}: somebody is told of the night`);
    }
  });
