import assert from "node:assert/strict";
import process from "node:process";
import { test } from "node:test";
import { type Host, HostError } from "../../src/host/host.ts";
import { isNightly } from "../support/nightly.ts";
import { Random, seedFrom } from "../support/random.ts";
import { ProofLoop } from "../support/resolvers/proof-loop.ts";
import type { SimulatedResolver } from "../support/resolvers/simulated-resolvers.ts";

const COUNT = 40;
const GROUPS = ["east", "west"];
const LOAD = { name: "load", reload: "unbound", with: ["{resolver}"], each: GROUPS };
const DRAIN = {
  name: "drain",
  run: ["/drain", "{resolver}", "{address}"],
  on: ["degraded", "recovered"],
  each: GROUPS,
};

/** Forty resolvers in two groups, with one hook that reloads each and one that drains each. */
class Fleet extends ProofLoop {
  /** What the hooks of single resolvers heard. */
  readonly heard: string[] = [];
  /** How many reloads ran at the same time. */
  most = 0;
  private running = 0;
  /** Resolvers whose hook fails. */
  readonly broken: Set<string> = new Set();

  constructor(more: object = {}) {
    super("rollback", COUNT, {
      groupOf: (index) => GROUPS[index % 2]!,
      after: [LOAD, DRAIN],
      more,
    });
    this.change((host) => ({
      runProgram: async (asked) => {
        const [program, name = "", address] = asked.words;
        const ended = { exit: 0, isLate: false, output: "", bytes: 0 };
        if (program === "/drain") {
          const message = JSON.parse(asked.input) as Record<string, unknown>;
          assert.equal(message["resolver"], name);
          assert.equal(asked.env["RULES_COMPILER_RESOLVER"], name);
          assert.equal(asked.env["RULES_COMPILER_ADDRESS"], address);
          this.heard.push(`${name} ${String(message["event"])}`);
          return ended;
        }
        if (program === "/state") return await host.runProgram!(asked);
        this.most = Math.max(this.most, ++this.running);
        await new Promise((done) => setImmediate(done));
        this.running--;
        return this.broken.has(name) ? { ...ended, exit: 1 } : await host.runProgram!(asked);
      },
    }));
  }

  get reloads(): number[] {
    return this.resolvers.map(({ reloads }) => reloads);
  }

  in(group: string): readonly SimulatedResolver[] {
    return this.resolvers.filter((_, index) => GROUPS[index % 2] === group);
  }
}

test("one broken resolver of forty is reported, drained and reloaded alone; the others keep the list", async () => {
  const fleet = new Fleet();
  assert.equal((await fleet.compile()).exit, 0);
  assert.equal(fleet.most, COUNT / 4, "a quarter at the same time");
  assert.deepEqual(fleet.heard, []);
  fleet.resolvers[3]!.mode = "failed";
  const bad = await fleet.publish(2);
  assert.equal(bad.exit, 12, bad.stderr);
  assert.deepEqual(
    bad.proofs.filter(({ outcome }) => outcome !== "proved").map(({ resolver }) => resolver),
    ["r4"],
  );
  assert.match(bad.stderr, /Hook failed: load for r4, published, List/);
  assert.equal(fleet.rollbacks.length, 0);
  assert.deepEqual(fleet.heard, ["r4 degraded"]);
  assert.equal(fleet.events.length, 1);
  const before = fleet.reloads;
  assert.equal((await fleet.compile()).exit, 12);
  const again = fleet.reloads.map((count, index) => count - before[index]!);
  assert.deepEqual(
    again.flatMap((count, index) => (count > 0 ? [index] : [])),
    [3],
    "only the broken one is reloaded again",
  );
  assert.deepEqual(fleet.heard, ["r4 degraded"], "it is drained once");
  fleet.resolvers[3]!.mode = "whole";
  assert.equal((await fleet.compile()).exit, 0);
  assert.deepEqual(fleet.heard, ["r4 degraded", "r4 recovered"]);
});

test("a source that fails drains no resolver", async () => {
  const fleet = new Fleet();
  await fleet.compile();
  fleet.project.write("own.txt", "||com^\n");
  assert.equal((await fleet.compile()).exit, 5);
  assert.deepEqual(fleet.heard, []);
  assert.equal(fleet.events.at(-1)!["event"], "refused");
});

test("a list that one group cannot use goes back, although more than half of all resolvers can", async () => {
  const fleet = new Fleet();
  await fleet.compile();
  const proved = fleet.build;
  for (const one of fleet.in("west").slice(0, 11)) one.mode = "picky";
  const bad = await fleet.publish(1);
  assert.equal(bad.exit, 12, bad.stderr);
  assert.match(bad.stderr, /proof-rollback/);
  assert.equal(fleet.build, proved);
  assert.ok(bad.proofs.every(({ outcome }) => outcome === "proved"));
});

test("more than half of a group decide", async () => {
  for (const [failing, rollbacks] of [
    [10, 0],
    [11, 1],
  ] as const) {
    const fleet = new Fleet();
    await fleet.compile();
    for (const one of fleet.in("east").slice(0, failing)) one.mode = "picky";
    await fleet.publish(1);
    assert.equal(fleet.rollbacks.length, rollbacks, `${failing}`);
  }
});

test("hooks have names, and control programs and scripts get the time limit", async () => {
  const calls: { words: readonly string[]; limit: string | undefined }[] = [];
  const after = [
    { reload: "powerdns-recursor", with: ["--socket-dir=/run/a"], timeout: "90s" },
    { reload: "bind", timeout: "2m" },
    { reload: "bind", with: ["-s", "192.0.2.1"] },
    { run: ["/bin/load", "a"], timeout: "7s" },
    { run: ["/bin/load", "b"] },
    { name: "third", run: ["/bin/load", "c"] },
  ];
  const fleet = new ProofLoop("keep", 1, { groupOf: () => "all", after });
  fleet.change((host) => ({
    runProgram: async (asked) => {
      if (asked.words[0] === "/state") return await host.runProgram!(asked);
      calls.push({ words: asked.words, limit: asked.env["RULES_COMPILER_TIMEOUT"] });
      return { exit: asked.words[1] === "b" ? 1 : 0, isLate: false, output: "", bytes: 0 };
    },
  }));
  const { stderr } = await fleet.compile();
  assert.deepEqual(calls, [
    {
      words: ["rec_control", "--timeout=90", "--socket-dir=/run/a", "reload-lua-config"],
      limit: undefined,
    },
    { words: ["rndc", "reload"], limit: undefined },
    { words: ["rndc", "-s", "192.0.2.1", "reload"], limit: undefined },
    { words: ["/bin/load", "a"], limit: "7" },
    { words: ["/bin/load", "b"], limit: "60" },
    { words: ["/bin/load", "c"], limit: "60" },
  ]);
  for (const title of [
    "ran: reload powerdns-recursor,",
    "ran: reload bind (after[2]),",
    "ran: reload bind (after[3]),",
    "ran: run /bin/load (after[4]),",
    "failed: run /bin/load (after[5]),",
    "ran: third,",
  ])
    assert.ok(stderr.includes(`Hook ${title} published, List`), `${title}\n${stderr}`);
});

/** Files that runs keep about resolvers and hooks. */
const STATES = ["proof.json", "hooks.json", "probe.json", "conditions.json"];

function never(_path: string): boolean {
  return false;
}

/** What is broken in a run, and whether the list can be published. */
const FAULTS = ["nothing", "resolver", "hook", "disk", "clock", "state", "list"] as const;

test("with a broken resolver, hook, disk, clock or state, no verdict is wrong and no list goes back for nothing", async (context) => {
  const seed = seedFrom(process.env["SEED"]);
  const random = new Random(seed);
  const runs = isNightly ? 100 : 20;
  const seen: Record<string, number> = { verdicts: 0, wrong: 0, needless: 0, missed: 0 };
  let fleet = new Fleet();
  let isFull = never;
  const full = (host: Host): Partial<Host> => ({
    createFile: (...words) => {
      if (isFull(words[0])) throw new HostError("ENOSPC", "no space left on device");
      return host.createFile(...words);
    },
  });
  fleet.change(full);
  await fleet.compile();
  for (let run = 0; run < runs; run++) {
    const fault = run < FAULTS.length * 2 ? FAULTS[run % FAULTS.length]! : random.pick(FAULTS);
    const where = `seed ${seed}, run ${run}, ${fault}`;
    // A list with an odd number has the bad name, which only a picky resolver stumbles over.
    const number = random.below(50) * 2 + 1;
    const few = 1 + random.below(4);
    const unlucky = new Set(Array.from({ length: few }, () => random.below(COUNT)));
    for (const [index, one] of fleet.resolvers.entries()) {
      one.mode = "whole";
      one.isDown = false;
      if (fault !== "nothing" && unlucky.has(index)) {
        if (fault === "hook") fleet.broken.add(fleet.names[index]!);
        else if (random.chance(0.3)) one.isDown = true;
        else one.mode = random.pick(["failed", "ignored", "half", "nothing", "picky"]);
      }
    }
    if (fault === "list") for (const one of fleet.in(random.pick(GROUPS))) one.mode = "picky";
    if (fault === "clock") fleet.sleep(random.pick([-400, -1, 1, 400]));
    if (fault === "state")
      for (const name of STATES) {
        const path = `rules/.rules-compiler/list.txt.${name}`;
        const text = fleet.project.text(path);
        if (random.chance(0.4)) fleet.project.memory.files.delete(`/project/${path}`);
        else if (random.chance(0.5)) fleet.project.write(path, text.slice(0, text.length / 2));
      }
    if (fault === "disk") {
      const part = random.pick([/\.rules-compiler/, /json/, /proof/, /./]);
      isFull = (path) => part.test(path) && random.chance(0.5);
    }
    const before = fleet.rollbacks.length;
    const { proofs, stderr, exit } = await fleet.publish(number);
    isFull = never;
    fleet.broken.clear();
    const truth = fleet.resolvers.map((one) => one.outcomeFor(fleet.list));
    for (const { resolver, outcome } of proofs) {
      seen["verdicts"]!++;
      if (outcome === truth[fleet.names.indexOf(resolver)]) continue;
      seen["wrong"]!++;
      context.diagnostic(`${where}: ${resolver} is ${outcome}; exit ${exit}; ${stderr}`);
    }
    const rollbacks = fleet.rollbacks.length - before;
    if (fault === "list" ? false : rollbacks > 0) {
      seen["needless"]!++;
      context.diagnostic(`${where}: rolled back; ${stderr}`);
    }
    if (fault === "list" && rollbacks !== 1) {
      seen["missed"]!++;
      context.diagnostic(`${where}: not rolled back; ${stderr}`);
    }
    seen[fault] = (seen[fault] ?? 0) + 1;
    // Everything is repaired, and the next run ends well.
    for (const one of fleet.resolvers) {
      one.mode = "whole";
      one.isDown = false;
    }
    const next = await fleet.publish(random.below(50) * 2);
    assert.equal(next.exit, 0, `${where}: ${next.stderr}`);
    assert.ok(next.proofs.every(({ outcome }) => outcome === "proved"));
  }
  context.diagnostic(JSON.stringify(seen));
  assert.ok(seen["verdicts"]! > runs * 10);
  const { wrong, needless, missed } = seen;
  assert.deepEqual({ wrong, needless, missed }, { wrong: 0, needless: 0, missed: 0 });
});
