import assert from "node:assert/strict";
import process from "node:process";
import { mock, test } from "node:test";
import { missingEngine } from "../support/reference/adguard-engine.ts";
import { type Judge, judges } from "../support/reference/judges.ts";
import { isNightly } from "../support/nightly.ts";
import { Random } from "../support/random.ts";
import { Sentences, questionsOf, refuted } from "../support/policy/sentences.ts";
import { World } from "../support/policy/world.ts";

const HISTORIES = Number(process.env["HISTORIES"] ?? (isNightly ? 100 : 3));
const FIRST = Number(process.env["FIRST_HISTORY"] ?? 1);

/** A month, judged run by run. Returns what is wrong, each kind once. */
async function faultsOf(
  seed: number,
  all: readonly Judge[],
): Promise<{ readonly faults: string[]; readonly runs: number }> {
  // Estimates of what changed depend on salts, so a source near a limit could be held or not.
  const salts = new Random(seed + 2);
  mock.method(Math, "random", () => salts.next());
  const world = new World(seed);
  const sentences = new Sentences(world, new Random(seed + 1));
  for await (const run of world.runs()) sentences.look(run);
  const { exhibits } = sentences;
  // Half of the runs publish the rules of the run before.
  const groups = [...Map.groupBy(exhibits, ({ run }) => run.list.replaceAll(/^!.*\n/gm, ""))];
  const asked = groups.map(([list, group]) => ({ list, questions: group.flatMap(questionsOf) }));
  const faults = [...sentences.faults];
  for (const judge of all)
    for (const [index, answers] of judge.answers(asked).entries()) {
      let at = 0;
      for (const exhibit of groups[index]![1]) {
        const own = answers.slice(at, (at += exhibit.expected.length));
        faults.push(...refuted(exhibit, own).map((fault) => `${fault}, says ${judge.engine}`));
      }
    }
  const plots = world.upstreams.map(
    ({ name, plot, from, to, before }) => `${name} ${plot} ${from}-${to} (${before.length})`,
  );
  const mishaps = [...world.mishaps].map(([day, mishap]) => `${mishap} on day ${day}`);
  const story = [...plots.filter((plot) => !plot.includes("calm")), ...mishaps].join("; ");
  return {
    faults: faults.map((fault) => `seed ${seed}: ${fault}\n    ${story}`),
    runs: exhibits.length,
  };
}

test(
  `${HISTORIES} months with hostile, dying and changing sources: every sentence of the policy holds`,
  { timeout: 5_400_000, skip: missingEngine },
  async (context) => {
    const all = await judges();
    const faults: string[] = [];
    let runs = 0;
    for (let seed = FIRST; seed < FIRST + HISTORIES; seed++) {
      const found = await faultsOf(seed, all);
      faults.push(...found.faults);
      runs += found.runs;
    }
    const kinds = new Map<string, string[]>();
    for (const fault of faults) {
      const kind = /seed \d+: (\d+ [a-z ,]+)/.exec(fault)?.[1] ?? "";
      kinds.set(kind, [...(kinds.get(kind) ?? []), fault]);
    }
    context.diagnostic(
      `${HISTORIES} months, ${runs} runs, ${all.map(({ engine }) => engine).join(" and ")}: ${faults.length} faults`,
    );
    const shown = [...kinds].map(
      ([kind, some]) => `${kind}: ${some.length}\n  ${some.slice(0, 4).join("\n  ")}`,
    );
    assert.equal(faults.length, 0, `\n${shown.join("\n")}`);
  },
);
