import assert from "node:assert/strict";
import process from "node:process";
import { test } from "node:test";
import { openProject } from "../../src/builder/plan/project.ts";
import type { Host } from "../../src/host/host.ts";
import { Probe, type ProbeChange } from "../../src/resolvers/probe.ts";
import { Random, seedFrom } from "../support/random.ts";
import { ProofLoop } from "../support/resolvers/proof-loop.ts";
import { RELOADS } from "../support/resolvers/simulated-resolvers.ts";

const OPTIONS = {
  configPath: "c.json",
  inputs: [],
  inputType: undefined,
  filter: [],
  permit: [],
  output: undefined,
  copyToRules: false,
  rulesDir: "rules",
};

async function probeOf({ project }: ProofLoop, changes: Partial<Host> = {}): Promise<Probe> {
  const host = { ...project.host, ...changes };
  return new Probe((await openProject(OPTIONS, host)).lists, OPTIONS, host);
}

const { signal } = new AbortController();
const round = (probe: Probe): Promise<ProbeChange[]> => probe.round(() => false, signal);

async function outcomes(probe: Probe): Promise<Record<string, string | null>> {
  return Object.fromEntries((await probe.states()).map((one) => [one.resolver, one.outcome]));
}

test("over random failures between runs, each round finds the truth, and reads no list", async (context) => {
  const seed = seedFrom(process.env["SEED"]);
  const random = new Random(seed);
  const seen = new Map<string, number>();
  for (let loops = 0; loops < 5; loops++) {
    const loop = new ProofLoop("keep", 4);
    await loop.compile();
    const before = loop.list;
    await loop.publish(2);
    const probe = await probeOf(loop, {
      readFile: async (path) => {
        assert.ok(!path.endsWith("list.txt"), "a list may have millions of lines");
        return await loop.project.host.readFile(path);
      },
    });
    for (let step = 0; step < 12; step++) {
      for (const resolver of loop.resolvers) {
        resolver.isDown = random.chance(0.15);
        if (random.chance(0.5)) continue;
        resolver.mode = random.chance(0.5) ? "whole" : random.pick(RELOADS);
        resolver.reload(random.chance(0.3) ? before : loop.list);
      }
      const changes = await round(probe);
      const found = await outcomes(probe);
      for (const [index, name] of ["first", "second", "third", "fourth"].entries()) {
        const truth = loop.resolvers[index]!.outcomeFor(loop.list);
        const where = `seed ${seed}, loop ${loops}, step ${step}, ${name}`;
        assert.equal(found[name], truth, `${where}: ${JSON.stringify(changes)}`);
        seen.set(truth, (seen.get(truth) ?? 0) + 1);
      }
    }
    // The next run knows, asks again, and reloads.
    for (const resolver of loop.resolvers)
      Object.assign(resolver, { isDown: false, mode: "whole" });
    const isBad = Object.values(await outcomes(probe)).some((one) => one !== "proved");
    const { proofs } = await loop.compile();
    assert.equal(proofs.length, isBad ? 4 : 0);
    assert.deepEqual(await round(probe), []);
    assert.deepEqual(new Set(Object.values(await outcomes(probe))), new Set(["proved"]));
  }
  context.diagnostic([...seen].map(([what, times]) => `${what} ${times}`).join(", "));
  for (const what of ["proved", "stale", "unfiltered", "wrong", "unreachable"])
    assert.ok((seen.get(what) ?? 0) > 2, what);
});

test("what a round finds while another list is published counts for neither", async () => {
  const loop = new ProofLoop("keep", 4);
  await loop.compile();
  const probe = await probeOf(loop);
  await round(probe);
  const proved = await outcomes(probe);
  // During a run, a list that nobody was asked about is left to the run.
  for (const resolver of loop.resolvers) resolver.mode = "ignored";
  loop.project.write("own.txt", "||other.site.org^\n||another.site.org^\n");
  const words = ["-c", "c.json", "--no-cache", "--accept", "source-shrunk"];
  assert.equal((await loop.project.run(...words)).exit, 0);
  assert.deepEqual(await probe.round(() => true, signal), []);
  const after = await round(probe);
  assert.deepEqual(new Set(after.map(({ outcome }) => outcome)), new Set(["stale"]));
  assert.notDeepEqual(await outcomes(probe), proved);
  // The list changes between the questions and the end of the round.
  const { host } = loop.project;
  let asked = 0;
  const during = await probeOf(loop, {
    exchange: async (what) => {
      if (asked++ === 3) loop.project.write("rules/list.txt", loop.list.replace(/b-\w/, "b-0"));
      await host.exchange!(what);
    },
  });
  for (const resolver of loop.resolvers) resolver.isDown = true;
  assert.deepEqual(await round(during), []);
});

test("a proof of a clock that was ahead does not outlive it", async () => {
  const loop = new ProofLoop("keep", 4);
  await loop.compile();
  const ahead = await probeOf(loop, { now: () => new Date("2036-01-01") });
  for (const resolver of loop.resolvers) resolver.isDown = true;
  await round(ahead);
  for (const resolver of loop.resolvers) resolver.isDown = false;
  const probe = await probeOf(loop);
  await round(probe);
  assert.deepEqual(new Set(Object.values(await outcomes(probe))), new Set(["proved"]));
  assert.deepEqual((await loop.compile()).proofs, [], "the run believes it, too");
});

test("two questions and a few names are enough for a resolver that answers as before", async () => {
  const loop = new ProofLoop("keep", 4);
  await loop.compile();
  const { host } = loop.project;
  let questions = 0;
  const probe = await probeOf(loop, {
    exchange: async (what) => {
      questions++;
      await host.exchange!(what);
    },
  });
  for (const resolver of loop.resolvers) resolver.blocksBelow = true;
  await round(probe);
  assert.equal(questions, 4 * 6);
});
