import assert from "node:assert/strict";
import { test } from "node:test";
import type { LastProof } from "../../src/build/state/last-proof.ts";
import type { Proof } from "../../src/resolvers/prove.ts";
import { buildOf, canaryIn } from "../../src/syntax/canary-name.ts";
import { MemoryProject, type Said } from "../support/memory-project.ts";
import { isNightly } from "../support/nightly.ts";
import { Random, seedFrom } from "../support/random.ts";
import {
  RELOADS,
  SimulatedResolver,
  exchangeWith,
} from "../support/resolvers/simulated-resolvers.ts";

const STATES = ["refused", "degraded", "recovered", "failed"];

/** A list of forty names; lists with an odd number contain the bad name. */
function listOf(number: number): string {
  const names = Array.from({ length: 40 }, (_, index) => `n${number * 5 + index}.site.org`);
  if (number % 2 === 1) names.push("n1000.site.org");
  return `${names.map((name) => `||${name}^`).join("\n")}\n`;
}

/** Two resolvers with a reload each, and a hook that hears of changed states. Only the first may cause a rollback. */
class Loop {
  readonly resolvers: readonly SimulatedResolver[] = [
    new SimulatedResolver(),
    new SimulatedResolver(),
  ];
  readonly events: Record<string, unknown>[] = [];
  readonly project: MemoryProject;
  private time = Date.parse("2026-11-16T00:00:00Z");

  constructor(onFailure: "keep" | "rollback", count = 2) {
    const config = {
      name: "List",
      sources: [{ name: "Own", source: "own.txt", type: "adblock" }],
      after: [
        { run: ["/state"], on: STATES },
        { reload: "unbound", with: ["1"] },
        { reload: "unbound", with: ["2"] },
      ],
      resolvers: [
        { name: "first", address: "127.0.0.1", port: 1, on_failure: onFailure },
        { name: "second", address: "127.0.0.1", port: 2 },
      ].slice(0, count),
    };
    this.project = new MemoryProject(
      { "c.json": JSON.stringify(config), "own.txt": listOf(0) },
      {
        now: () => new Date(this.time++),
        wait: async (ms) => void (this.time += ms),
        exchange: exchangeWith(this.resolvers),
        runProgram: async ({ words, input }) => {
          let isGood = true;
          if (words[0] === "/state") this.events.push(JSON.parse(input) as Record<string, unknown>);
          else isGood = this.resolvers[Number(words[1]) - 1]!.reload(this.list);
          return { exit: isGood ? 0 : 1, isLate: false, output: "", bytes: 0 };
        },
      },
    );
  }

  get list(): string {
    return this.project.text("rules/list.txt");
  }

  get build(): string {
    return buildOf(canaryIn(this.list)!);
  }

  get proof(): LastProof {
    return JSON.parse(this.project.text("rules/.rules-compiler/list.txt.proof.json")) as LastProof;
  }

  get rollbacks(): { readonly by: string }[] {
    const lines = this.project.text("rules/.rules-compiler/list.txt.history.jsonl").split("\n");
    return lines
      .filter((line) => line.includes('"rolled-back"'))
      .map((line) => JSON.parse(line) as { by: string });
  }

  async compile(...more: string[]): Promise<Said & { readonly proofs: readonly Proof[] }> {
    this.time += 3_600_000;
    const words = ["-c", "c.json", "--hooks", "--wait", "0", "--json", "--no-cache", ...more];
    const said = await this.project.run(...words);
    const { resolvers = [] } = JSON.parse(said.stdout || "{}") as { resolvers?: Proof[] };
    return { ...said, proofs: resolvers };
  }

  async publish(number: number, ...more: string[]): ReturnType<Loop["compile"]> {
    this.project.write("own.txt", listOf(number));
    return await this.compile(...more);
  }

  outcomes(proofs: readonly Proof[]): string {
    return proofs.map(({ resolver, outcome }) => `${resolver} ${outcome}`).join(", ");
  }
}

test("a build with --hooks reloads, then asks; an unchanged one asks only what is not proved", async () => {
  const loop = new Loop("keep");
  const first = await loop.compile();
  assert.equal(first.exit, 0, first.stderr);
  assert.equal(loop.outcomes(first.proofs), "first proved, second proved");
  const [asked] = first.proofs;
  assert.equal(asked!.build, loop.build);
  const again = await loop.compile();
  assert.equal(again.exit, 0);
  assert.deepEqual(again.proofs, [], "everything is proved already");
  loop.resolvers[0]!.mode = "failed";
  const stale = await loop.publish(2);
  assert.equal(stale.exit, 12, stale.stderr);
  assert.equal(loop.outcomes(stale.proofs), "first stale, second proved");
  assert.equal(stale.stderr.match(/"code":"resolver-/g)?.length, 1);
  assert.match(stale.stderr, /"code":"resolver-stale","severity":"error"/);
  assert.deepEqual(
    loop.events.map(({ event, unproved }) => ({ event, unproved })),
    [{ event: "degraded", unproved: [{ resolver: "first", outcome: "stale" }] }],
  );
  assert.equal((await loop.compile()).exit, 12, "asked again, although nothing was published");
  assert.equal(loop.events.length, 1, "no change of state");
  loop.resolvers[0]!.mode = "whole";
  const recovered = await loop.compile();
  assert.equal(recovered.exit, 0, recovered.stderr);
  assert.equal(loop.outcomes(recovered.proofs), "first proved, second proved");
  assert.deepEqual(
    loop.events.map(({ event }) => event),
    ["degraded", "recovered"],
  );
});

test("without --hooks, or when a guard refuses and everything is proved, no resolver is asked", async () => {
  const loop = new Loop("keep");
  const plain = await loop.project.run("-c", "c.json", "--no-cache");
  assert.equal(plain.exit, 0);
  assert.throws(() => loop.proof, "no proof is kept");
  await loop.compile();
  const { at } = loop.proof.resolvers["first"]!;
  loop.project.write("own.txt", "||com^\n");
  const refused = await loop.compile();
  assert.equal(refused.exit, 5);
  assert.deepEqual(refused.proofs, []);
  assert.equal(loop.proof.resolvers["first"]!.at, at);
  loop.resolvers[0]!.isDown = true;
  loop.resolvers[0]!.mode = "failed";
  await loop.publish(2);
  loop.project.write("own.txt", "||com^\n");
  const both = await loop.compile();
  assert.equal(both.exit, 5, "the refusal is the cause that matters");
  assert.match(both.stderr, /resolver-unreachable/);
});

test("a reload that reports success and changes nothing is repeated in the next run", async () => {
  const loop = new Loop("keep", 1);
  await loop.compile();
  loop.resolvers[0]!.mode = "ignored";
  assert.equal((await loop.publish(2)).exit, 12);
  loop.resolvers[0]!.mode = "whole";
  assert.equal((await loop.compile()).exit, 0);
});

test("a list that a resolver cannot use is rolled back once, and refused until its rules change", async () => {
  const loop = new Loop("rollback");
  await loop.compile();
  const proved = loop.build;
  loop.resolvers[0]!.mode = "picky";
  const bad = await loop.publish(1);
  assert.equal(bad.exit, 12);
  assert.match(bad.stderr, /resolver-wrong[^]*proof-rollback/);
  assert.equal(loop.build, proved, "published again");
  assert.equal(loop.outcomes(bad.proofs), "first proved, second proved");
  assert.deepEqual(
    loop.rollbacks.map(({ by }) => by),
    ["proof"],
  );
  const builds = await loop.project.run("builds", "-c", "c.json");
  assert.match(builds.stdout, /@0 .* proof +/);
  // Scheduled runs do not publish it again.
  for (let run = 0; run < 3; run++) {
    const refused = await loop.compile();
    assert.equal(refused.exit, 5, refused.stderr);
    assert.match(refused.stderr, /unproved-build/);
    assert.match(refused.stderr, /first was wrong/);
    assert.equal(loop.build, proved);
  }
  const plan = await loop.project.run("plan", "-c", "c.json");
  assert.match(plan.stdout + plan.stderr, /unproved-build/);
  // Other rules are published, and the next good one is proved.
  const next = await loop.publish(2);
  assert.equal(next.exit, 0, next.stderr);
  assert.equal(loop.outcomes(next.proofs), "first proved, second proved");
  // A person may insist; there is no second rollback.
  assert.equal((await loop.publish(1)).exit, 5);
  const accepted = await loop.publish(1, "--accept", "unproved-build");
  assert.equal(accepted.exit, 12);
  assert.equal(loop.outcomes(accepted.proofs), "first wrong, second proved");
  assert.equal(loop.rollbacks.length, 1);
  // The list is published: it is not refused, but reported.
  assert.equal((await loop.compile()).exit, 12);
  loop.resolvers[0]!.mode = "whole";
  assert.equal((await loop.compile()).exit, 0);
});

test("an unreachable resolver causes no rollback, and neither does one that was bad before", async () => {
  const loop = new Loop("rollback");
  await loop.compile();
  loop.resolvers[0]!.isDown = true;
  assert.equal((await loop.publish(2)).exit, 12);
  assert.equal(loop.rollbacks.length, 0);
  // It comes back with the old list: the others keep the new one.
  loop.resolvers[0]!.isDown = false;
  loop.resolvers[0]!.mode = "nothing";
  assert.equal(loop.outcomes((await loop.compile()).proofs), "first unfiltered, second proved");
  assert.equal((await loop.publish(4)).exit, 12);
  assert.equal(loop.rollbacks.length, 0);
});

test("after a rollback that did not help, the next run publishes the new list", async () => {
  const loop = new Loop("rollback", 1);
  await loop.compile();
  const old = loop.build;
  loop.resolvers[0]!.mode = "nothing";
  const bad = await loop.publish(2);
  assert.equal(loop.outcomes(bad.proofs), "first unfiltered");
  assert.equal(loop.build, old);
  assert.equal(loop.rollbacks.length, 1);
  const next = await loop.compile();
  assert.equal(next.exit, 12);
  assert.notEqual(loop.build, old, "published again");
  assert.equal(loop.rollbacks.length, 1, "and not rolled back again");
});

test("a proved build that is no longer stored cannot be published again, which is an error", async () => {
  const loop = new Loop("rollback", 1);
  await loop.compile("--no-record");
  loop.resolvers[0]!.mode = "picky";
  const { exit, stderr } = await loop.publish(1, "--no-record");
  assert.equal(exit, 12);
  assert.match(stderr, /no-proved-build/);
  assert.match(loop.list, /n1000\.site\.org/);
});

test("over random failures, a build is rolled back at most once, only to a proved build, and the state is true", async (context) => {
  const seed = seedFrom(process.env["SEED"]);
  const random = new Random(seed);
  const seen = new Map<string, number>();
  const count = (what: string): void => void seen.set(what, (seen.get(what) ?? 0) + 1);
  for (let round = 0; round < (isNightly ? 200 : 10); round++) {
    const loop = new Loop(random.chance(0.8) ? "rollback" : "keep");
    const proved = new Set<string>();
    const undone = new Set<string>();
    for (let step = 0; step < 14; step++) {
      const where = `seed ${seed}, round ${round}, step ${step}`;
      for (const resolver of loop.resolvers) {
        resolver.mode = random.chance(0.5) ? "whole" : random.pick(RELOADS);
        resolver.isDown = random.chance(0.1);
      }
      const before =
        step === 0 ? undefined : { proof: loop.proof, rollbacks: loop.rollbacks.length };
      const known = new Set(before?.proof.undone?.map(({ build }) => build));
      const { exit, proofs, stderr } = await loop.publish(random.below(4));
      const { resolvers, undone: now = [] } = loop.proof;
      // At most one rollback per build, and only to a build that was proved.
      const rollbacks = loop.rollbacks.length - (before?.rollbacks ?? 0);
      assert.ok(rollbacks <= 1, where);
      if (rollbacks === 1) {
        const fresh = now.filter(({ build }) => !known.has(build));
        assert.equal(fresh.length, 1, where);
        assert.ok(!undone.has(fresh[0]!.build), where);
        undone.add(fresh[0]!.build);
        assert.ok(proved.has(loop.build), `${where}: rolled back to an unproved build`);
        assert.match(stderr, /proof-rollback/, where);
        count("rolled back");
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
      if (isRefused || !isGood) assert.ok(last !== undefined && last !== "recovered", where);
      else assert.ok(last === undefined || last === "recovered", where);
    }
  }
  context.diagnostic([...seen].map(([what, times]) => `${what} ${times}`).join(", "));
  for (const what of [
    "rolled back",
    "refused",
    "proved",
    "stale",
    "unfiltered",
    "wrong",
    "unreachable",
  ])
    assert.ok((seen.get(what) ?? 0) > 3, what);
});
