import assert from "node:assert/strict";
import { test } from "node:test";
import { openProject } from "../../src/builder/plan/project.ts";
import { Probe, type ProbeChange } from "../../src/resolvers/probe.ts";
import { MemoryProject } from "../support/memory-project.ts";
import { listOf } from "../support/resolvers/proof-loop.ts";
import { SimulatedResolver } from "../support/resolvers/simulated-resolvers.ts";
import { SimulatedTime } from "../support/resolvers/simulated-time.ts";

/** What `serve` waits from one round to the next. */
const EVERY_MS = 60_000;
const COUNT = 1000;
const SILENT = 300;
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

test("a thousand resolvers, of which 300 are silent, are asked within a minute, and a lost policy is found within two", async (context) => {
  const time = new SimulatedTime();
  const resolvers = Array.from({ length: COUNT }, () => new SimulatedResolver());
  const deaf = new Set<SimulatedResolver>();
  let [open, most, asked] = [0, 0, 0];
  const config = {
    name: "List",
    sources: [{ name: "Own", source: "own.txt", type: "adblock" }],
    resolvers: resolvers.map((_, index) => ({
      name: `r${index}`,
      address: `127.0.0.1:${index + 1}`,
    })),
  };
  const files = { "c.json": JSON.stringify(config), "own.txt": listOf(0) };
  const project = new MemoryProject(files, {
    now: () => new Date(time.now),
    wait: async (ms, signal) => await time.sleep(ms, signal),
    exchange: async ({ port, message, timeoutMs, signal, ...exchange }) => {
      const resolver = resolvers[port - 1]!;
      asked++;
      most = Math.max(most, ++open);
      try {
        if (resolver.isDown) await time.silence(timeoutMs, signal);
        const answer = resolver.answer(message);
        // An answer of its own has no record.
        const isForwarded = answer[7] !== 0 || answer[9] !== 0;
        if (deaf.has(resolver) && isForwarded) await time.silence(timeoutMs, signal);
        await time.sleep(10, signal);
        exchange.take(answer);
      } finally {
        open--;
      }
    },
  });
  assert.equal((await time.during(project.run("-c", "c.json", "--no-cache"))).exit, 0);
  for (const [index, resolver] of resolvers.entries()) {
    resolver.blocksBelow = true;
    resolver.reload(project.text("rules/list.txt"));
    resolver.isDown = index % 10 < (SILENT * 10) / COUNT;
  }
  assert.equal((await time.during(project.run("prove", "-c", "c.json", "--wait", "0s"))).exit, 12);
  const probe = new Probe((await openProject(OPTIONS, project.host)).lists, OPTIONS, project.host);
  const { signal } = new AbortController();
  const round = async (): Promise<{ changes: ProbeChange[]; ms: number; questions: number }> => {
    const [began, before] = [time.now, asked];
    most = 0;
    const changes = await time.during(probe.round(() => false, signal));
    const ms = time.now - began;
    context.diagnostic(`${asked - before} questions in ${ms / 1000} s, at most ${most} at once`);
    assert.ok(most <= 200, `${most} at once`);
    assert.ok(ms < EVERY_MS, `${ms} ms`);
    return { changes, ms, questions: asked - before };
  };
  const calm = await round();
  assert.deepEqual(calm.changes, []);
  assert.ok(calm.questions <= (COUNT - SILENT) * 7 + SILENT * 6, "a glance each");
  // Both break when the round has just passed them; the next begins a minute after this one began.
  const [lost, cut] = [resolvers[5]!, resolvers[6]!];
  lost.mode = "nothing";
  lost.reload("");
  deaf.add(cut);
  const { changes, ms } = await round();
  const found = new Map(changes.map((one) => [one.resolver, one]));
  assert.deepEqual([...found.keys()].toSorted(), ["r5", "r6"]);
  assert.equal(found.get("r5")!.outcome, "unfiltered");
  assert.equal(found.get("r6")!.outcome, "unreachable");
  assert.match(found.get("r6")!.detail, /upstream does not answer/);
  assert.ok(EVERY_MS + ms <= 2 * EVERY_MS, `found ${EVERY_MS + ms} ms later at the most`);
  const states = await probe.states();
  assert.equal(states.find(({ resolver }) => resolver === "r6")!.upstream, false);
  // All that were silent before are back at the same time, and others silent.
  for (const resolver of resolvers) resolver.isDown = !resolver.isDown && resolver !== lost;
  await round();
});
