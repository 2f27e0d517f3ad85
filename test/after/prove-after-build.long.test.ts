import assert from "node:assert/strict";
import { test } from "node:test";
import { CANARY_SUFFIX } from "../../src/syntax/host-name.ts";
import { ProofLoop, listOf } from "../support/resolvers/proof-loop.ts";
import { listIn, listsIn } from "../support/documents.ts";

test("a build with --permit hooks reloads, then asks; an unchanged one asks only what is not proved", async () => {
  const loop = new ProofLoop("keep");
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

test("without --permit hooks, or when a guard refuses and everything is proved, no resolver is asked", async () => {
  const loop = new ProofLoop("keep");
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
  const loop = new ProofLoop("keep", 1);
  await loop.compile();
  loop.resolvers[0]!.mode = "ignored";
  assert.equal((await loop.publish(2)).exit, 12);
  loop.resolvers[0]!.mode = "whole";
  assert.equal((await loop.compile()).exit, 0);
});

test("a list that a resolver cannot use is rolled back and tried again, at most three times a day", async () => {
  const loop = new ProofLoop("rollback");
  await loop.compile();
  const proved = loop.build;
  loop.resolvers[0]!.mode = "picky";
  for (let attempt = 1; attempt <= 3; attempt++) {
    const bad = await loop.publish(1);
    assert.equal(bad.exit, 12);
    assert.match(bad.stderr, /resolver-wrong[^]*proof-rollback/);
    assert.equal(loop.build, proved, "published again");
    assert.equal(loop.outcomes(bad.proofs), "first proved, second proved");
    assert.deepEqual(
      loop.rollbacks.map(({ by }) => by),
      Array.from({ length: attempt }, () => "proof"),
    );
  }
  const log = await loop.project.run("log", "-c", "c.json");
  assert.match(log.stdout, /@0 .* proof +/);
  // Then the day must pass.
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
  // A person may insist; there is no further rollback.
  assert.equal((await loop.publish(1)).exit, 5);
  const accepted = await loop.publish(1, "--accept", "unproved-build");
  assert.equal(accepted.exit, 12);
  assert.equal(loop.outcomes(accepted.proofs), "first wrong, second proved");
  assert.equal(loop.rollbacks.length, 3);
  // The list is published: it is not refused, but reported.
  assert.equal((await loop.compile()).exit, 12);
  loop.resolvers[0]!.mode = "whole";
  assert.equal((await loop.compile()).exit, 0);
});

test("a build that is held is tried again a day later, also after a wrong clock", async () => {
  const loop = new ProofLoop("rollback", 1);
  await loop.compile();
  loop.resolvers[0]!.mode = "picky";
  for (let attempt = 0; attempt < 3; attempt++) await loop.publish(1);
  assert.equal((await loop.publish(1)).exit, 5);
  for (const days of [1, -400]) {
    loop.sleep(days);
    const tried = await loop.publish(1);
    assert.equal(tried.exit, 12, tried.stderr);
    assert.match(tried.stderr, /proof-rollback/);
  }
  loop.resolvers[0]!.mode = "whole";
  const good = await loop.publish(1);
  assert.equal(good.exit, 0, good.stderr);
  assert.equal(loop.proof.undone, undefined, "nothing is left of it");
});

test("a source cannot move the proof, whatever its lines and its names say", async () => {
  const loop = new ProofLoop("rollback", 1);
  const config = JSON.parse(loop.project.text("c.json")) as { sources: object[] };
  config.sources.push({ name: "Weak", source: "weak.txt", trust: "block-only" });
  loop.project.write("c.json", JSON.stringify(config));
  loop.project.write("weak.txt", "||a.attacker.net^\n||b.attacker.net^\n");
  assert.equal((await loop.compile()).exit, 0);
  // It drops a name and answers 0.0.0.0 for it, or it touches the canary.
  const nights = ["||b.attacker.net^", `||${CANARY_SUFFIX}^`, "/^c-/", "||b.attacker.net^"];
  loop.resolvers[0]!.world.set("a.attacker.net", "0.0.0.0");
  loop.resolvers[0]!.world.set("b.attacker.net", "0.0.0.0");
  for (const [night, line] of nights.entries()) {
    loop.project.write("weak.txt", `${line}\n||n${night}.attacker.net^\n`);
    const { exit, stderr, proofs } = await loop.publish(2 + 2 * night);
    assert.equal(exit, 0, stderr);
    assert.equal(loop.outcomes(proofs), "first proved");
    assert.ok(loop.list.includes(listOf(2 + 2 * night).split("\n")[39]!), "the threat is blocked");
    // What it freed is reported, and decides nothing.
    if (night < 2) assert.match(proofs[0]!.detail, /but it blocks [ab]\.attacker\.net/);
  }
  assert.equal(loop.rollbacks.length, 0);
});

test("one broken resolver of four does not roll back the others, and three of four do", async () => {
  const loop = new ProofLoop("rollback", 4);
  assert.equal((await loop.compile()).exit, 0);
  loop.resolvers[3]!.mode = "failed";
  const one = await loop.publish(2);
  assert.equal(one.exit, 12, one.stderr);
  assert.equal(
    loop.outcomes(one.proofs),
    "first proved, second proved, third proved, fourth stale",
  );
  assert.equal(loop.rollbacks.length, 0);
  // It is at fault from the start now: it decides nothing, and two of the three others are more than half.
  loop.resolvers[0]!.mode = "picky";
  assert.equal((await loop.publish(1)).exit, 12);
  assert.equal(loop.rollbacks.length, 0);
  loop.resolvers[0]!.mode = "whole";
  assert.equal((await loop.publish(4)).exit, 12);
  loop.resolvers[1]!.mode = "picky";
  loop.resolvers[2]!.mode = "picky";
  const most = await loop.publish(3);
  assert.match(most.stderr, /proof-rollback/);
  assert.equal(loop.rollbacks.length, 1);
  for (const resolver of loop.resolvers) resolver.mode = "whole";
  assert.equal((await loop.publish(3)).exit, 0, "the next run tries it again");
});

test("a resolver that lost its list before the publish decides nothing", async () => {
  const loop = new ProofLoop("rollback", 1);
  assert.equal((await loop.compile()).exit, 0);
  // It was proved, and then restarted without its list.
  loop.resolvers[0]!.mode = "nothing";
  loop.resolvers[0]!.reload("");
  const { exit, stderr } = await loop.publish(2);
  assert.equal(exit, 12, stderr);
  assert.match(stderr, /resolver-unfiltered/);
  assert.equal(loop.rollbacks.length, 0);
  assert.match(loop.list, /n10\.site\.org/);
});

test("an unreachable resolver causes no rollback, and neither does one that was bad before", async () => {
  const loop = new ProofLoop("rollback");
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

test("a build that a person chose and holds is not rolled back", async () => {
  const loop = new ProofLoop("rollback", 1);
  await loop.compile();
  const first = loop.build;
  assert.equal((await loop.publish(2)).exit, 0);
  const held = await loop.project.run("hold", "@1", "-c", "c.json");
  assert.equal(held.exit, 0, held.stderr);
  assert.equal(loop.build, first);
  loop.resolvers[0]!.mode = "failed";
  const stale = await loop.compile();
  assert.match(stale.stderr, /resolver-stale/);
  assert.doesNotMatch(stale.stderr, /proof-rollback/);
  assert.equal(loop.build, first);
});

test("a build that a person published again is not rolled back, although it is not held", async () => {
  const loop = new ProofLoop("rollback", 1);
  await loop.compile();
  const first = loop.build;
  assert.equal((await loop.publish(2)).exit, 0);
  assert.equal((await loop.project.run("rollback", "@1", "-c", "c.json")).exit, 0);
  assert.equal(loop.build, first);
  loop.resolvers[0]!.mode = "failed";
  // A guard refuses the next list, so the one that the person chose stays published.
  loop.project.write("own.txt", "||com^\n");
  const { exit, stderr } = await loop.compile();
  assert.equal(exit, 5, stderr);
  assert.match(stderr, /resolver-stale/);
  assert.doesNotMatch(stderr, /proof-rollback/);
  assert.equal(loop.build, first);
  assert.equal(loop.rollbacks.length, 1, "that of the person");
});

test("a refusal and a rollback in the same run are both told", async () => {
  const loop = new ProofLoop("rollback", 1);
  await loop.compile();
  const first = loop.build;
  // Published without hooks, so no resolver was asked yet.
  loop.project.write("own.txt", listOf(1));
  assert.equal((await loop.project.run("-c", "c.json", "--no-cache")).exit, 0);
  assert.notEqual(loop.build, first);
  loop.resolvers[0]!.mode = "picky";
  loop.project.write("own.txt", "||com^\n");
  const { exit, stdout, stderr } = await loop.compile();
  assert.equal(exit, 5, stderr);
  assert.match(stderr, /resolver-wrong[^]*proof-rollback/);
  assert.equal(loop.build, first, "rolled back");
  const { violations } = listIn(stdout) as { violations: { code: string }[] };
  assert.deepEqual(
    violations.map(({ code }) => code),
    ["blocks-suffix"],
    stdout,
  );
  assert.deepEqual(
    loop.events.map(({ event, problems }) => ({ event, codes: codesOf(problems) })),
    [{ event: "refused", codes: ["blocks-suffix", "proof-rollback"] }],
  );
});

test("hooks of states hear of a rollback in the same run, and once", async () => {
  const loop = new ProofLoop("rollback", 1);
  await loop.compile();
  loop.resolvers[0]!.mode = "picky";
  assert.equal((await loop.publish(1)).exit, 12);
  const heard = (): unknown =>
    loop.events.map(({ event, problems }) => ({ event, codes: codesOf(problems) }));
  const refused = { event: "refused", codes: ["proof-rollback"] };
  assert.deepEqual(heard(), [refused]);
  assert.equal((await loop.compile()).exit, 12, "tried again, and rolled back again");
  assert.deepEqual(heard(), [refused], "nothing has changed");
  assert.equal((await loop.publish(2)).exit, 0);
  assert.deepEqual(heard(), [refused, { event: "recovered", codes: [] }]);
});

function codesOf(problems: unknown): string[] {
  return (problems as { readonly code: string }[]).map(({ code }) => code);
}

test("after a rollback that did not help, the new list is put back", async () => {
  const loop = new ProofLoop("rollback", 1);
  await loop.compile();
  const old = loop.build;
  loop.resolvers[0]!.mode = "nothing";
  const bad = await loop.publish(2);
  assert.equal(bad.exit, 12);
  assert.match(bad.stderr, /proof-rollback[^]*proof-put-back/);
  assert.equal(loop.outcomes(bad.proofs), "first unfiltered");
  assert.notEqual(loop.build, old);
  assert.equal(loop.rollbacks.length, 2, "back and forth");
  assert.equal(loop.proof.undone?.length ?? 0, 0);
  assert.deepEqual(
    loop.events.map(({ event }) => event),
    ["degraded"],
  );
  assert.equal((await loop.compile()).exit, 12);
  assert.equal(loop.rollbacks.length, 2, "and not again");
  loop.resolvers[0]!.mode = "whole";
  assert.equal((await loop.compile()).exit, 0);
  assert.notEqual(loop.build, old);
});

test("a proved build that is no longer stored cannot be published again, which is an error", async () => {
  const loop = new ProofLoop("rollback", 1);
  await loop.compile("--no-record");
  loop.resolvers[0]!.mode = "picky";
  const { exit, stderr } = await loop.publish(1, "--no-record");
  assert.equal(exit, 12);
  assert.match(stderr, /no-proved-build/);
  assert.match(loop.list, /n1000\.site\.org/);
});

test("each of several lists has its own proofs, and only the one that failed is rolled back", async () => {
  const loop = new ProofLoop("rollback");
  const config = JSON.parse(loop.project.text("c.json")) as { resolvers: object[] };
  const [first, second] = config.resolvers;
  const both = {
    ...config,
    name: "All",
    sources: [
      { name: "Own", source: "own.txt", type: "adblock" },
      { name: "More", source: "more.txt", type: "adblock" },
    ],
    lists: [
      { name: "List", sources: ["Own"] },
      { name: "Other", sources: ["Own", "More"] },
    ],
    resolvers: [
      { ...first, list: "List" },
      { ...second, list: "Other" },
    ],
  };
  loop.project.write("c.json", JSON.stringify(both));
  loop.project.write("more.txt", "||more.site.net^\n");
  loop.files = ["rules/list.txt", "rules/other.txt"];
  const compile = async (number: number): Promise<{ exit: number; lists: string[] }> => {
    const { exit, stdout, stderr } = await loop.publish(number);
    const said = listsIn(stdout) as { list: string; resolvers?: { outcome: string }[] }[];
    assert.ok(said.length === 2, stderr);
    return {
      exit,
      lists: said.map(({ list, resolvers = [] }) =>
        [list, ...resolvers.map(({ outcome }) => outcome)].join(" "),
      ),
    };
  };
  assert.deepEqual(await compile(0), { exit: 0, lists: ["List proved", "Other proved"] });
  const before = loop.build;
  loop.resolvers[0]!.mode = "picky";
  assert.deepEqual(await compile(1), { exit: 12, lists: ["List proved", "Other proved"] });
  assert.equal(loop.build, before);
  assert.match(loop.project.text("rules/other.txt"), /n1000\.site\.org/);
});
