import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { test } from "node:test";
import { nodeHost } from "../../src/host/node.ts";
import { Observations } from "../../src/liveness/observations.ts";
import { Verdicts } from "../../src/liveness/verdict.ts";
import { FILTERED } from "../../src/resolvers/ask-names.ts";
import { isNightly } from "../support/nightly.ts";
import {
  DAY_MS,
  GONE_BELOW,
  SPLIT,
  START,
  Unbound,
  realSetting,
} from "../support/liveness/real-world.ts";
import { World, deathOf, existsOn } from "../support/liveness/world.ts";

const NAMES = isNightly ? 200_000 : 1500;
/** Some of the days on which a maintainer would ask. */
const DAYS = isNightly
  ? Array.from({ length: 38 }, (_, day) => day)
  : [0, 6, 7, 8, 12, 14, 15, 16, 21, 22, 27, 28, 29, 34, 35];
test(
  "unbound over Knot: of the names whose truth is known, none that lives is called dead",
  { timeout: 3 * 3_600_000 },
  async (context) => {
    const { folder, world, authority, broken, ask } = await realSetting(context, new World(NAMES));
    const upstream = { authority: authority.port, broken };
    const inside = await Unbound.start(
      context,
      join(folder, "inside"),
      upstream,
      `  local-zone: "split-static.com" static
  local-data: "split-static.com 60 A 10.0.0.1"
stub-zone:
  name: "split-stub.com"
  stub-addr: 127.0.0.1@${broken}`,
    );
    const outside = await Unbound.start(context, join(folder, "outside"), upstream);
    const found = new Map<string, number>();
    const wrong: string[] = [];
    let denied = 0;
    let verdicts = 0;
    const cost = { ms: 0, cpu: 0, names: 0 };
    for (const day of DAYS) {
      world.day = day;
      await authority.reload();
      const began = performance.now();
      const cpu = process.cpuUsage();
      let batches = 0;
      const filtered = [...FILTERED, ...world.names.map(({ name }) => name)];
      const isFilterDay = day === 7;
      const { refusal, asked } = await ask([inside, outside], {
        onBatch: () => {
          // A filter with the names of the list begins after a test that the resolver passed.
          if (isFilterDay && ++batches === 1) inside.filter(filtered);
        },
      });
      const { user, system } = process.cpuUsage(cpu);
      cost.ms += performance.now() - began;
      cost.cpu += (user + system) / 1000;
      cost.names += asked.names;
      if (isFilterDay) {
        assert.match(refusal ?? "", /filters|no longer finds/);
        inside.unfilter(filtered);
        assert.equal((await ask([inside, outside])).refusal, undefined);
      } else assert.equal(refusal, undefined, `day ${day}`);
      const observations = await Observations.read(join(folder, "observations.txt"), nodeHost());
      const judged = new Verdicts(observations, Math.floor((START + day * DAY_MS) / DAY_MS));
      for (const one of world.names) {
        verdicts++;
        const isMissing = observations.of(one.name).some(({ mark }) => mark === "x");
        if (existsOn(one, day) && isMissing) denied++;
        const { state } = judged.ofRule(one.listed, true);
        if (state !== "dead") continue;
        if (!found.has(one.name)) found.set(one.name, day);
        if (existsOn(one, day) && !(one.kind === "returns" && day < 27 + 7))
          wrong.push(`${one.name} on day ${day}`);
      }
      for (const name of SPLIT)
        if (judged.ofRule(name, false).state === "dead") wrong.push(`${name} on day ${day}`);
      // Only two resolvers together can say that a name below a domain that lives does not exist.
      for (const name of SPLIT)
        assert.ok(!observations.of(name).some(({ mark }) => mark === "x"), name);
    }
    assert.deepEqual(wrong, []);
    assert.ok(denied > 0, "the servers denied names that exist");
    const last = DAYS.at(-1)!;
    const dead = world.names.filter(
      (one) => (deathOf(one) ?? Infinity) + 22 <= last && one.kind !== "returns",
    );
    const inTime = dead.filter((one) => found.get(one.name)! <= deathOf(one)! + 22);
    assert.ok(inTime.length >= 0.95 * dead.length, `${inTime.length} of ${dead.length}`);
    const observations = await Observations.read(join(folder, "observations.txt"), nodeHost());
    const judged = new Verdicts(observations, Math.floor((START + last * DAY_MS) / DAY_MS));
    for (const name of GONE_BELOW) assert.equal(judged.ofRule(name, false).state, "dead", name);
    for (const one of world.names)
      if (one.kind === "returns") assert.notEqual(judged.ofRule(one.name, true).state, "dead");
    const bytes = statSync(join(folder, "observations.txt")).size;
    context.diagnostic(
      `${world.names.length} names, ${DAYS.length} days, ${verdicts} verdicts, 0 wrong; ${inTime.length} of ${dead.length} dead names in time; ${Math.round(cost.names / (cost.ms / 1000))} names a second, ${Math.round(cost.names / (cost.cpu / 1000))} in a second of this process; ${(bytes / observations.size).toFixed(1)} bytes a name`,
    );
  },
);

test("a resolver that filters, that loads this list, or that is a forwarder without proofs is refused before it is asked", async (context) => {
  const { folder, authority, broken, world, ask } = await realSetting(context, new World(300));
  const upstream = { authority: authority.port, broken };
  for (const [type, names] of [
    ["always_nxdomain", FILTERED.slice(0, 1)],
    ["always_null", FILTERED.slice(3, 4)],
    ["always_refuse", FILTERED.slice(5, 6)],
    ["always_nodata", FILTERED.slice(2, 3)],
  ] as const) {
    const resolver = await Unbound.start(context, join(folder, type), upstream, zones(names, type));
    const { refusal, asked } = await ask([resolver]);
    assert.match(refusal ?? "nothing", /^filters /, type);
    assert.equal(asked.names, 0);
    await resolver.stop();
  }
  // The list has a canary, which no other list has.
  const canary = "b-0123456789ab.canary.rules-compiler.example";
  writeFileSync(join(folder, "list.txt"), `||ads.example.com^\n||${canary}^\n`);
  const loaded = await Unbound.start(
    context,
    join(folder, "loaded"),
    upstream,
    zones([canary, "ads.example.com"], "always_nxdomain"),
  );
  assert.match((await ask([loaded])).refusal ?? "nothing", /this very list/);
  await loaded.stop();
  // It answers every name.
  const rewriting = await Unbound.start(
    context,
    join(folder, "rewriting"),
    upstream,
    `  local-zone: "." redirect\n  local-data: ". 60 A 192.0.2.99"`,
  ).catch(() => undefined);
  assert.match((await ask([rewriting!])).refusal ?? "nothing", /rewrites NXDOMAIN/);
  await rewriting!.stop();
  assert.equal(
    existsSync(join(folder, "observations.txt")) &&
      world.names.some(({ name }) =>
        readFileSync(join(folder, "observations.txt"), "utf8").includes(` ${name}`),
      ),
    false,
  );
});

test("a run that is killed loses at most one batch, and the next one goes on", async (context) => {
  const { folder, authority, broken, ask, world } = await realSetting(context, new World(3000));
  // The other process has the real clock.
  world.day = Math.floor(Date.now() / DAY_MS) - Math.floor(START / DAY_MS);
  await authority.reload();
  const upstream = { authority: authority.port, broken };
  const resolver = await Unbound.start(context, join(folder, "unbound"), upstream);
  const file = join(folder, "observations.txt");
  const linesIn = (): number =>
    existsSync(file) ? (readFileSync(file, "latin1").match(/^[^#\n].*\n/gm) ?? []).length : 0;
  const words = ["alive", "-c", join(folder, "c.json"), "-o", join(folder, "list.txt")];
  let lost = 0;
  for (const least of [500, 1500]) {
    const before = { questions: resolver.questions, lines: linesIn() };
    const child = spawn(
      process.execPath,
      [
        join(import.meta.dirname, "../../src/cli/bin.ts"),
        ...words,
        "--resolver",
        `127.0.0.1:${resolver.port}`,
        "--rate",
        "3000",
      ],
      { stdio: "ignore" },
    );
    const ended = once(child, "close");
    while (linesIn() < least && child.exitCode === null)
      await new Promise((next) => setTimeout(next, 3));
    assert.equal(child.exitCode, null, "the run ended before it could be killed");
    child.kill("SIGKILL");
    await ended;
    const lines = linesIn() - before.lines;
    const questions = resolver.questions - before.questions;
    assert.ok(lines > 0);
    // Some names take several questions, and some questions are tests.
    assert.ok(questions - lines < 2600, `${lines} of ${questions} questions`);
    lost += Math.max(0, questions - lines);
  }
  const kept = linesIn();
  const { due, names, refusal } = await ask([resolver]);
  assert.equal(refusal, undefined);
  assert.ok(due <= 3000 + SPLIT.length - kept * 0.75, `${due} were due, ${kept} were known`);
  assert.ok(names >= 3000);
  context.diagnostic(`killed twice: ${kept} of ${kept + lost} answered questions were kept`);
});

function zones(names: readonly string[], type: string): string {
  return names.map((name) => `  local-zone: "${name}" ${type}`).join("\n");
}
