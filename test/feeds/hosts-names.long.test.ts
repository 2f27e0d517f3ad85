import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { MemoryProject } from "../support/memory-project.ts";
import { propertyRuns } from "../support/property.ts";
import { fatesIn, listIn } from "../support/documents.ts";

const WORDS = ["-c", "c.json", "--no-cache"];
const NAMES = Array.from({ length: 9 }, (_, index) => `n${index}.example.com`);

interface Line {
  readonly source: string;
  readonly line: number;
  readonly fate: string;
}

function projectOf(config: object, files: Readonly<Record<string, string>>): MemoryProject {
  const guards = { min_rules: 0, max_shrink: 100, max_growth: 10_000 };
  const whole = { name: "L", guards, ...config };
  return new MemoryProject({ ...files, "c.json": JSON.stringify(whole) });
}

async function answer(project: MemoryProject, ...words: string[]): Promise<string> {
  const { exit, stdout, stderr } = await project.run(...words, ...WORDS);
  // `why` says by its exit whether a name is blocked.
  assert.ok(exit === 0 || words[0] === "why", stderr);
  return stdout;
}

/** The fates of all lines with each name. */
async function fatesOf(project: MemoryProject): Promise<ReadonlyMap<string, readonly Line[]>> {
  const { names } = listIn(await answer(project, "why", ...NAMES, "--json")) as {
    names: { name: string; lines: Line[] }[];
  };
  return new Map(names.map(({ name, lines }) => [name, lines]));
}

/** Both views of the dropped lines must agree. */
async function checkCounts(project: MemoryProject): Promise<void> {
  const counts = fatesIn(await answer(project, "stats", "--fate", "--json"));
  for (const [fate, count] of Object.entries(counts)) {
    const lines = await answer(project, "stats", "--fate", fate, "--json");
    assert.equal(lines.trim().split("\n").length, count, fate);
  }
}

const hostsLine = fc
  .array(fc.constantFrom(...NAMES), { minLength: 1, maxLength: 4 })
  .map((names) => [...new Set(names)])
  .chain((names) => fc.constantFrom("", " # note").map((note) => ({ names, note })));

test("each name of a hosts line has its own reason with min_sources", async () => {
  let mixed = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(hostsLine, { minLength: 1, maxLength: 4 }), { minLength: 3, maxLength: 3 }),
      fc.constantFrom([], ["Compress"], ["RemoveComments", "Validate", "Deduplicate"]),
      async (sources, transformations) => {
        const files = Object.fromEntries(
          sources.map((lines, index) => [
            `s${index}`,
            lines.map(({ names, note }) => `0.0.0.0 ${names.join(" ")}${note}`).join("\n"),
          ]),
        );
        const from = Object.keys(files).map((source) => ({ source, name: source, type: "hosts" }));
        const project = projectOf({ sources: from, min_sources: 2, transformations }, files);
        await answer(project, "compile");
        const found = await fatesOf(project);
        for (const name of NAMES) {
          const having = sources.filter((lines) => lines.some(({ names }) => names.includes(name)));
          for (const [source, lines] of sources.entries())
            for (const [index, { names }] of lines.entries()) {
              if (!names.includes(name)) continue;
              const own = found
                .get(name)!
                .find((line) => line.source === `s${source}` && line.line === index + 1);
              assert.equal(own?.fate === "few-sources", having.length < 2, `${name} s${source}`);
            }
          const text = project.text("rules/l.txt");
          assert.equal(text.includes(name), having.length > 1, name);
        }
        mixed += Number([...found.values()].flat().some(({ fate }) => fate === "few-sources"));
        await checkCounts(project);
      },
    ),
    propertyRuns(15),
  );
  assert.ok(mixed > 5, `${mixed} lists with dropped names`);
});

test("each name of a hosts line has its own reason with newly_blocks", async () => {
  for (const transformations of [[], ["Compress"]]) {
    const config = {
      sources: [{ source: "s0", name: "s0", type: "hosts", trust: "standard" }],
      ranks: ["top"],
      transformations,
      guards: { newly_blocks: 100, max_growth: 10_000 },
    };
    const project = projectOf(config, { s0: `0.0.0.0 ${NAMES[0]}`, top: `${NAMES[2]}\n` });
    await answer(project, "compile");
    project.write("s0", `0.0.0.0 ${NAMES[0]} ${NAMES[1]} ${NAMES[2]} ${NAMES[3]} # note\n`);
    await answer(project, "compile");
    const found = await fatesOf(project);
    const fates = NAMES.slice(0, 4).map((name) => found.get(name)?.map(({ fate }) => fate));
    assert.deepEqual(fates, [["kept"], ["kept"], ["newly-blocks"], ["kept"]]);
    await checkCounts(project);
  }
});

test("names in other letters count as their ASCII forms", async () => {
  const forms = [
    "||müller.example^",
    "müller.example",
    "MÜLLER.example",
    "0.0.0.0 müller.example",
    "0.0.0.0 other.example müller.example",
    "||xn--mller-kva.example^",
    "0.0.0.0 xn--mller-kva.example",
    "xn--mller-kva.example",
  ];
  for (const one of forms)
    for (const two of [forms[1]!, forms[5]!]) {
      const sources = ["a", "b"].map((source) => ({ source, type: "adblock" }));
      const project = projectOf({ sources, min_sources: 2 }, { a: one, b: two });
      await answer(project, "compile");
      const rules = project
        .text("rules/l.txt")
        .split("\n")
        .filter((line) => line !== "" && !line.startsWith("!"));
      assert.equal(rules.filter((rule) => /müller|xn--/i.test(rule)).length, 2, `${one}, ${two}`);
    }
});
