import assert from "node:assert/strict";
import process from "node:process";
import { test } from "node:test";
import { isNightly } from "../support/nightly.ts";
import { Random, seedFrom } from "../support/random.ts";
import { ProofLoop } from "../support/resolvers/proof-loop.ts";
import { RELOADS } from "../support/resolvers/simulated-resolvers.ts";

test("over random failures, a build is rolled back at most three times a day, only to a proved build, and the state is true", async (context) => {
  const seed = seedFrom(process.env["SEED"]);
  const random = new Random(seed);
  const seen = new Map<string, number>();
  const count = (what: string): void => void seen.set(what, (seen.get(what) ?? 0) + 1);
  for (let round = 0; round < (isNightly ? 100 : 10); round++) {
    const loop = new ProofLoop(random.chance(0.8) ? "rollback" : "keep");
    const proved = new Set<string>();
    const undone = new Map<string, number>();
    for (let step = 0; step < 14; step++) {
      const where = `seed ${seed}, round ${round}, step ${step}`;
      for (const resolver of loop.resolvers) {
        resolver.mode = random.chance(0.5) ? "whole" : random.pick(RELOADS);
        resolver.isDown = random.chance(0.1);
      }
      const before =
        step === 0 ? undefined : { proof: loop.proof, rollbacks: loop.rollbacks.length };
      const number = random.below(4);
      const { exit, proofs, stderr } = await loop.publish(number);
      const { resolvers } = loop.proof;
      // A rollback goes to a build that was proved; a second one puts the new build back.
      const rollbacks = loop.rollbacks.length - (before?.rollbacks ?? 0);
      assert.ok(rollbacks <= 2, where);
      if (rollbacks === 1) {
        const times = (undone.get(String(number)) ?? 0) + 1;
        undone.set(String(number), times);
        assert.ok(times <= 3, where);
        assert.ok(proved.has(loop.build), `${where}: rolled back to an unproved build`);
        assert.match(stderr, /proof-rollback/, where);
        count("rolled back");
      }
      if (rollbacks === 2) {
        assert.match(stderr, /proof-rollback[^]*proof-put-back/, where);
        count("put back");
      }
      // Those who were asked say what is true; the others were proved with this list.
      for (const [index, name] of ["first", "second"].entries()) {
        const { outcome, at, build } = resolvers[name]!;
        const isAsked = at !== before?.proof.resolvers[name]?.at;
        assert.equal(build, loop.build, where);
        const truth = loop.resolvers[index]!.outcomeFor(loop.list);
        assert.equal(outcome, isAsked ? truth : "proved", `${where}: ${name} ${stderr}`);
        if (outcome === "proved" && index === 0) proved.add(build);
        count(outcome);
      }
      const isRefused = /unproved-build/.test(stderr) && exit === 5;
      if (isRefused) count("refused");
      const isGood = Object.values(resolvers).every(({ outcome }) => outcome === "proved");
      assert.equal(exit, isRefused ? 5 : isGood && rollbacks === 0 ? 0 : 12, `${where}: ${stderr}`);
      for (const one of proofs) assert.equal(resolvers[one.resolver]!.outcome, one.outcome, where);
      // The last event that hooks heard of is the state.
      const last = loop.events.at(-1)?.["event"];
      const isQuiet = !isRefused && isGood && rollbacks === 0;
      if (!isQuiet) assert.ok(last !== undefined && last !== "recovered", where);
      else assert.ok(last === undefined || last === "recovered", where);
    }
  }
  context.diagnostic([...seen].map(([what, times]) => `${what} ${times}`).join(", "));
  for (const what of [
    "rolled back",
    "put back",
    "proved",
    "stale",
    "unfiltered",
    "wrong",
    "unreachable",
  ])
    assert.ok((seen.get(what) ?? 0) > 2, what);
});

/** What a killed process sees of the rest of its run. */
class Killed extends Error {}

/** Operations that change something outside, in the order of a run; a process may be killed before each. */
const CHANGING = ["rename", "removeFile", "appendFile", "link", "exchange", "runProgram"] as const;

/** A project whose process can be killed after so many operations. */
class MortalLoop extends ProofLoop {
  left = Infinity;

  constructor(count?: number) {
    super("rollback", count);
    this.change((host) =>
      Object.fromEntries(
        CHANGING.map((name) => {
          const real = host[name] as (...words: unknown[]) => Promise<unknown>;
          const mortal = async (...words: unknown[]): Promise<unknown> => {
            if (this.left-- <= 0) throw new Killed("killed");
            return await real(...words);
          };
          return [name, mortal];
        }),
      ),
    );
  }

  /** Publishes a list, and is killed after so many operations; returns whether it was. */
  async publishUntil(left: number, number: number): Promise<boolean> {
    this.left = left;
    await this.publish(number).catch(() => {});
    const isKilled = this.left < 0;
    this.left = Infinity;
    return isKilled;
  }
}

test("a run that is killed at any moment before the end of a rollback is made up for by the next run", async (context) => {
  let kills = 0;
  for (let left = 0, isKilled = true; isKilled; left += isNightly ? 1 : 4) {
    const loop = new MortalLoop(1);
    await loop.compile();
    const proved = loop.build;
    loop.resolvers[0]!.mode = "picky";
    isKilled = await loop.publishUntil(left, 1);
    if (isKilled) kills++;
    const next = await loop.compile();
    const where = `killed after ${left}: ${next.stderr}`;
    assert.equal(loop.build, proved, where);
    assert.ok(next.exit === 5 || next.exit === 12, where);
    assert.ok([1, 2].includes(loop.rollbacks.length), where);
    assert.equal(loop.proof.before, undefined, where);
    assert.equal(loop.proof.resolvers["first"]!.outcome, "proved", where);
    loop.resolvers[0]!.mode = "whole";
    const last = await loop.compile();
    assert.equal(last.exit, 0, `${where}\n${last.stderr}`);
    assert.notEqual(loop.build, proved, where);
    assert.equal((await loop.project.run("log", "-c", "c.json")).exit, 0, where);
  }
  context.diagnostic(`${kills} kills`);
  assert.ok(kills > 10, String(kills));
});

test("after a kill at any moment, the next runs end in a true state", async (context) => {
  const random = new Random(seedFrom(process.env["SEED"]));
  const seen = { kills: 0, rollbacks: 0 };
  for (let round = 0; round < (isNightly ? 100 : 10); round++) {
    const loop = new MortalLoop();
    await loop.compile();
    for (let step = 0; step < 6; step++) {
      const where = `round ${round}, step ${step}`;
      for (const resolver of loop.resolvers)
        resolver.mode = random.pick(["whole", "whole", "picky", "half"]);
      const number = random.below(4);
      if (await loop.publishUntil(random.below(120), number)) seen.kills++;
      // The machine starts again; everything works, or the list is still one that a resolver cannot use.
      for (const resolver of loop.resolvers) resolver.mode = random.pick(["whole", "picky"]);
      const { exit, stderr } = await loop.publish(number);
      assert.ok([0, 5, 12].includes(exit), `${where}: ${stderr}`);
      const { resolvers } = loop.proof;
      for (const [index, name] of ["first", "second"].entries()) {
        const truth = loop.resolvers[index]!.outcomeFor(loop.list);
        assert.equal(resolvers[name]!.outcome, truth, `${where}: ${name}\n${stderr}`);
        assert.equal(resolvers[name]!.build, loop.build, where);
        if (exit === 0) assert.equal(truth, "proved", where);
      }
      assert.equal((await loop.project.run("log", "-c", "c.json")).exit, 0, where);
    }
    seen.rollbacks += loop.rollbacks.length;
  }
  context.diagnostic(JSON.stringify(seen));
  assert.ok(seen.kills > 5 && seen.rollbacks > 0, JSON.stringify(seen));
});
