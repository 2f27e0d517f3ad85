import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import process from "node:process";
import { test } from "node:test";
import { ATTACKS, type AttackCost, PLACES } from "../support/expression-attacks.ts";
import { isNightly } from "../support/nightly.ts";

/** CPU time for a hundred hostile expressions. Where other tests run at the same time, everything takes longer. */
const MOST_MS = isNightly ? 1000 : 3000;
/** Memory that one attack adds, or all of them one after the other. A linted list is compiled twice. */
const MOST_MEGABYTES = 64;
const MOST_MEGABYTES_IN_ALL = 256;
const TIMEOUT = 120_000;

const SCRIPT = new URL("../support/expression-attacks.ts", import.meta.url).pathname;

/** Those that strangers can reach; all others in the full form. */
const REMOTE = ["a remote source", "exclusions from an address", "the search of the report"];

for (const place of isNightly ? Object.keys(PLACES) : REMOTE)
  test(`a hundred hostile expressions cost almost no time: ${place}`, (context) => {
    const names = Object.keys(ATTACKS);
    const most = place === "lint" ? 2 * MOST_MEGABYTES : MOST_MEGABYTES;
    const costs = isNightly ? names.map((name) => leastOf(place, name, most)) : run(place, names);
    assert.equal(costs.length, names.length);
    for (const { attack, ms, megabytes } of costs) {
      context.diagnostic(`${attack}: ${ms.toFixed(0)} ms, ${megabytes.toFixed(0)} MB`);
      assert.ok(ms <= MOST_MS, `${attack}: ${ms.toFixed(0)} ms`);
      assert.ok(!isNightly || megabytes <= most, `${attack}: ${megabytes.toFixed(0)} MB`);
    }
    const sum = costs.reduce((all, { megabytes }) => all + megabytes, 0);
    assert.ok(isNightly || sum <= MOST_MEGABYTES_IN_ALL, `${sum.toFixed(0)} MB`);
  });

/** The runtime collects garbage when it suits it: what is above the limit every time is not garbage. */
function leastOf(place: string, attack: string, most: number): AttackCost {
  let least: AttackCost | undefined;
  for (let time = 0; time < 3 && (least === undefined || least.megabytes > most); time++) {
    const cost = run(place, [attack])[0]!;
    if (least === undefined || cost.megabytes < least.megabytes) least = cost;
  }
  return least!;
}

/** In a process of its own: a regular expression that hangs hears no signal. */
function run(place: string, attacks: readonly string[]): AttackCost[] {
  const child = spawnSync(process.execPath, [SCRIPT, place, ...attacks], {
    timeout: TIMEOUT,
    killSignal: "SIGKILL",
    encoding: "utf8",
  });
  const costs = child.stdout.split("\n").filter((line) => line !== "");
  const next = attacks[costs.length] ?? "";
  assert.equal(child.status, 0, `${next}: ${child.signal ?? child.stderr.slice(0, 500)}`);
  return costs.map((line) => JSON.parse(line) as AttackCost);
}
