import assert from "node:assert/strict";
import { test } from "node:test";
import { Observations } from "../../src/liveness/observations.ts";
import { DEAD, Verdicts } from "../../src/liveness/verdict.ts";
import { askAlive } from "../../src/resolvers/alive.ts";
import { RETURNS_ON, World, type WorldKind, deathOf, existsOn } from "../support/liveness/world.ts";
import { MemoryProject } from "../support/memory-project.ts";
import { isNightly } from "../support/nightly.ts";

const NAMES = isNightly ? 200_000 : 2400;
const DAYS = 42;
const START = Date.parse("2026-10-01T00:00:00Z");
const DAY_MS = 86_400_000;
/** As the guide says: a week until it is asked about, two weeks until it counts, and a day. */
const FOUND_WITHIN = 22;

test("over six weeks, no living name is called dead, nearly all dead ones are found, and all that return come back", async (context) => {
  const world = new World(NAMES);
  const project = new MemoryProject({
    "c.json": JSON.stringify({
      name: "L",
      sources: [{ source: "l.txt", dead: "drop" }, { source: "own.txt" }],
    }),
    "l.txt": world.names.map(({ listed }) => `||${listed}^\n`).join(""),
    "own.txt": "||own.example.edu^\n",
    "parked.txt": "parking.example\n",
  });
  const words = ["-c", "c.json", "--cache-dir", "/cache"];
  const host = () => world.on(project.host);
  await project.run(...words);
  let verdicts = 0;
  const wrong = new Map<WorldKind, number>();
  const naive = new Map<WorldKind, number>();
  const found = new Map<string, number>();
  const back = new Set<string>();
  let refusals = 0;
  let late = 0;
  for (let day = 0; day < DAYS; day++) {
    world.day = day;
    world.questions = 0;
    // A filter begins in the middle of a run, after the resolver has passed its test.
    world.filtersFrom = day === 4 || day === 20 ? 150 : Infinity;
    project.now = new Date(START + day * DAY_MS).toISOString();
    const request = { resolvers: ["192.0.2.53"], rate: 100_000, parked: "/project/parked.txt" };
    const options = {
      configPath: "/project/c.json",
      inputs: [],
      inputType: undefined,
      filter: [],
      permit: [],
      output: undefined,
      copyToRules: false,
      rulesDir: "/project/rules",
    };
    const limits = { datagramMs: [1], streamMs: 1 };
    const { refusal, lists } = await askAlive({ ...request, limits }, options, host());
    if (refusal !== undefined) {
      refusals++;
      assert.match(refusal, /filters|no longer finds/, `day ${day}`);
      assert.ok(world.filtersFrom < Infinity, `day ${day}: ${refusal}`);
    }
    assert.equal(lists.length, 1);
    const observations = await Observations.read("/project/observations.txt", project.host);
    const today = Math.floor((START + day * DAY_MS) / DAY_MS);
    const judged = new Verdicts(observations, today);
    for (const one of world.names) {
      verdicts++;
      const { state } = judged.ofRule(one.listed, true);
      const history = observations.of(one.name);
      if (existsOn(one, day) && history.some(({ mark }) => mark === "x") && one.kind !== "returns")
        naive.set(one.kind, (naive.get(one.kind) ?? 0) + 1);
      if (state !== "dead") {
        if (one.kind === "returns" && day >= RETURNS_ON) back.add(one.name);
        continue;
      }
      if (!found.has(one.name)) found.set(one.name, day);
      if (!existsOn(one, day)) continue;
      // Dead names are asked about once a week: nobody can know before.
      if (one.kind === "returns" && day < RETURNS_ON + 7) late++;
      else wrong.set(one.kind, (wrong.get(one.kind) ?? 0) + 1);
    }
    // The list of the next build has what the observations say, and nothing else was dropped.
    if (day % 6 === 5 || day === RETURNS_ON + 7) {
      await project.run(...words, "--accept", "source-shrunk");
      const lines = new Set(project.text("rules/l.txt").split("\n"));
      for (const one of world.names) {
        const isDead = judged.ofRule(one.listed, true).state === "dead";
        assert.equal(lines.has(`||${one.listed}^`), !isDead, `${one.name} on day ${day}`);
      }
    }
  }
  assert.ok(verdicts >= 100_000, `${verdicts} verdicts`);
  assert.deepEqual([...wrong], [], "living names that were called dead");
  // Each of these faults says NXDOMAIN for names that live: one answer of that kind is no proof.
  for (const kind of ["registry-hold", "outage", "long-outage"] as const)
    assert.ok((naive.get(kind) ?? 0) > 0, kind);
  assert.equal(refusals, 2);
  const truly = world.names.filter((one) => {
    const death = deathOf(one);
    return death !== undefined && death + FOUND_WITHIN < DAYS;
  });
  const inTime = truly.filter(
    (one) => (found.get(one.name) ?? Infinity) <= deathOf(one)! + FOUND_WITHIN,
  );
  assert.ok(inTime.length >= 0.95 * truly.length, `${inTime.length} of ${truly.length}`);
  const returned = world.names.filter(({ kind, name }) => kind === "returns" && found.has(name));
  assert.ok(returned.length > 0.9 * world.names.filter(({ kind }) => kind === "returns").length);
  for (const { name } of returned) assert.ok(back.has(name), name);
  context.diagnostic(
    `${verdicts} verdicts, 0 wrong; ${inTime.length} of ${truly.length} dead names within ${FOUND_WITHIN} days; ${returned.length} returned, ${(late / returned.length).toFixed(1)} days each until they were asked about; defaults ${JSON.stringify(DEAD)}`,
  );
});
