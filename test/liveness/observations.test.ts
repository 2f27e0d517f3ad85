import { importInto } from "../../src/resolvers/alive.ts";
import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import {
  type NameHistory,
  MARKS,
  type Mark,
  Observations,
  merged,
} from "../../src/liveness/observations.ts";
import { DEAD, livenessOf } from "../../src/liveness/verdict.ts";
import { propertyRuns } from "../support/property.ts";
import { MemoryProject } from "../support/memory-project.ts";

const FIRST = 20_000;
const TODAY = FIRST + 60;

function history(text: string): NameHistory {
  return text.split(" ").map((token) => ({
    mark: token[0] as Mark,
    day: TODAY - Number(token.slice(1)),
  }));
}

const state = (text: string): string => livenessOf(merged([], history(text)), TODAY).state;

test("a name is dead after five days with NXDOMAIN within at least two weeks, and no answer since", () => {
  assert.equal(state("x14 x10 x5 x1 x0"), "dead");
  assert.equal(state("x14 x10 x5 x0"), "missing");
  assert.equal(state("x13 x10 x5 x1 x0"), "missing");
  assert.equal(state("x40 x30 x20 x10 +5 x1 x0"), "missing");
  assert.equal(state("x14 x10 x5 x1 x0 +0"), "answers", "an answer of the same day wins");
  assert.equal(state("x14 x10 x5 x1 ?0"), "missing", "no conclusion counts as nothing");
  assert.equal(state("x14 x10 x5 x2 x1 ?0"), "missing", "the last day is part of the span");
  assert.equal(state("x15 x10 x5 x2 x1 ?0"), "dead");
  assert.equal(state(`x60 x59 x58 x57 x${DEAD.freshDays + 1}`), "unknown");
  assert.equal(state("+9 p3"), "parked");
  assert.equal(state("?3"), "unknown");
});

test("what others say shortens the wait, and never decides", () => {
  assert.equal(state("914 910 95 93 92 91 90"), "missing");
  assert.equal(state("920 514 510 x3 x2 x0"), "missing", "1.9 and 3 are less than 5");
  assert.equal(state("x20 914 910 x3 x2 x0"), "dead");
  assert.equal(state("920 914 910 95 x2 x0"), "missing", "three of them must be ours");
  assert.equal(state("x20 x14 x10 x3 x2 90"), "missing", "the last must be ours");
});

const observation = fc.record({
  mark: fc.constantFrom(...MARKS),
  day: fc.integer({ min: FIRST, max: TODAY + 3 }),
});
const histories = fc.array(observation, { maxLength: 25 });

test("observations can be merged in any order, and merging makes no name deader than all of them do", () => {
  fc.assert(
    fc.property(histories, histories, histories, (a, b, c) => {
      const [x, y, z] = [merged([], a), merged([], b), merged([], c)];
      assert.deepEqual(merged(x, y), merged(y, x));
      assert.deepEqual(merged(x, x), x);
      for (const one of [merged(merged(x, y), z), merged(x, merged(y, z))]) {
        if (livenessOf(one, TODAY).state !== "dead") continue;
        // Everything that was ever seen, without forgetting.
        const all = [...a, ...b, ...c].filter(({ day }) => day <= TODAY);
        const since = livenessOf(one, TODAY).since!;
        const answered = all.filter(({ mark }) => mark === "+" || mark === "p");
        assert.ok(answered.every(({ day }) => day < since));
        const days = new Set(
          all.filter((seen) => seen.mark === "x" && seen.day >= since).map(({ day }) => day),
        );
        assert.ok(days.size >= DEAD.own && Math.max(...days) - since >= DEAD.days);
      }
    }),
    propertyRuns(2000),
  );
});

test("the file survives a kill in a line, damage, and names of other lines; a newer one is refused", async () => {
  const project = new MemoryProject({});
  const path = "/project/observations.txt";
  const one = new Observations();
  one.add("a.example.com", [{ mark: "+", day: FIRST }]);
  one.add("b.example.com", [{ mark: "x", day: FIRST }]);
  await one.write(path, project.host);
  const whole = project.text("observations.txt");
  assert.match(
    whole,
    /^# Observations of names, version 1.*\n#.*\na\.example\.com \+241004\nb\.example\.com x241004\n$/,
  );
  for (let cut = 0; cut < whole.length; cut++) {
    project.write("observations.txt", whole.slice(0, cut));
    const read = await Observations.read(path, project.host);
    assert.ok(read.size <= 2);
    for (const name of read.names()) assert.deepEqual(read.of(name), one.of(name));
    // What a later run adds does not join the line that was cut.
    read.add("c.example.com", [{ mark: "p", day: FIRST }]);
    await read.append(["c.example.com"], path, project.host);
    const again = await Observations.read(path, project.host);
    assert.deepEqual(again.of("c.example.com"), [{ mark: "p", day: FIRST }], `cut at ${cut}`);
    // A line of which only the end is missing counts once it has one.
    for (const name of one.names())
      for (const seen of again.of(name)) assert.deepEqual([seen], one.of(name));
  }
  project.write("observations.txt", `${whole}\u0000\u0000\nnot a line\na.example.com x241005\n-\n`);
  const damaged = await Observations.read(path, project.host);
  assert.equal(damaged.size, 2);
  assert.equal(damaged.of("a.example.com").length, 2);
  project.write("observations.txt", whole.replace("version 1", "version 2"));
  await assert.rejects(Observations.read(path, project.host), /written by a newer/);
});

test("what massdns, zdns, dig, DeadDomainsLinter and lists of dead names say is taken", () => {
  const observations = new Observations();
  const text = `# dead
{"name":"json.example.com.","type":"A","class":"IN","status":"NXDOMAIN"}
{"name":"alive.example.com","status":"NOERROR","data":{"answers":[]}}
{"name":"failed.example.com","status":"SERVFAIL"}
dig.example.com NXDOMAIN
upper.EXAMPLE.com,nxdomain
fails.example.com SERVFAIL
simple.example.com. A 192.0.2.1
cname.example.com. CNAME other.example.net.
plain.example.com
||rule.example.com^
0.0.0.0 hosts.example.com
{"name":
- - -
`;
  const counts = importInto(observations, new TextEncoder().encode(text), {
    path: "dead.txt",
    day: FIRST,
    mark: "5",
  });
  assert.deepEqual(counts, { missing: 6, answered: 3, ignored: 4 });
  const marks = [...observations.names()].map(
    (name) => `${name} ${observations.of(name)[0]!.mark}`,
  );
  assert.deepEqual(marks, [
    "json.example.com 5",
    "alive.example.com +",
    "dig.example.com 5",
    "upper.example.com 5",
    "simple.example.com +",
    "cname.example.com +",
    "plain.example.com 5",
    "rule.example.com 5",
    "hosts.example.com 5",
  ]);
});
