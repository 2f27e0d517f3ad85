import assert from "node:assert/strict";
import { test } from "node:test";
import { MemoryProject } from "../support/memory-project.ts";

const WORDS = ["-c", "c.json", "--no-cache"];

interface Setting {
  readonly outputs: readonly object[];
  readonly sources: readonly (readonly string[])[];
  readonly more?: object;
  readonly sourceMore?: object;
}

function projectOf({ outputs, sources, more, sourceMore }: Setting): MemoryProject {
  return new MemoryProject({
    "c.json": JSON.stringify({
      name: "L",
      sources: sources.map((_, index) => ({
        name: `S${index}`,
        source: `${index}.txt`,
        type: "adblock",
        ...sourceMore,
      })),
      transformations: ["Compress", "Validate", "Deduplicate"],
      outputs,
      ...more,
    }),
    ...Object.fromEntries(sources.map((lines, index) => [`${index}.txt`, `${lines.join("\n")}\n`])),
  });
}

function namesIn(project: MemoryProject, file: string): string[] {
  return project
    .text(file)
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("#"))
    .map((line) => line.replace(/^0\.0\.0\.0 /, ""))
    .toSorted();
}

const BOTH = [{ format: "hosts" }, { format: "domains" }];

async function compiled(setting: Setting): Promise<MemoryProject> {
  const project = projectOf(setting);
  const { exit, stderr } = await project.run("compile", "-q", ...WORDS);
  assert.equal(exit, 0, stderr);
  return project;
}

test("formats with single names have every name of the sources, each once", async () => {
  const sources = [
    ["0.0.0.0 example.com", "0.0.0.0 www.example.com ads.example.com", "||UPPER.example.com^"],
    ["ads.example.com", "||deep.ads.example.com^", "other.net", "||www.example.com^"],
    ["under_score.example.com", "||example.com^", "|exact.example.com^"],
  ];
  const expected = [
    "ads.example.com",
    "deep.ads.example.com",
    "exact.example.com",
    "example.com",
    "other.net",
    "under_score.example.com",
    "upper.example.com",
    "www.example.com",
  ];
  for (const more of [
    {},
    { transformations: [] },
    { transformations: ["Deduplicate"] },
    { transformations: ["Compress"] },
  ])
    for (const sourceMore of [{}, { transformations: ["Compress"] }]) {
      const project = await compiled({ outputs: BOTH, sources, more, sourceMore });
      for (const file of ["rules/l.hosts", "rules/l.domains"])
        assert.deepEqual(namesIn(project, file), expected, JSON.stringify([more, sourceMore]));
    }
});

test("names that the list does not block are not written, whichever source has them", async () => {
  const sources = [
    [
      "||example.com^",
      "||a.example.com^",
      "||b.example.com^",
      "||c.example.com^",
      "||x.c.example.com^",
    ],
    ["||d.example.com^", "||keep.example.com^", "||p-1.example.com^", "||y.d.example.com^"],
    [
      "@@||a.example.com^",
      "@@|b.example.com^",
      "@@|p-*.example.com^",
      "@@||d.example.com^",
      "||y.d.example.com^$important",
    ],
  ];
  const project = await compiled({ outputs: BOTH, sources, more: { allow: ["||c.example.com^"] } });
  for (const file of ["rules/l.hosts", "rules/l.domains"])
    assert.deepEqual(namesIn(project, file), [
      "example.com",
      "keep.example.com",
      "y.d.example.com",
    ]);
});

test("a name that its own rule excludes is written if another rule blocks it", async () => {
  const sources = [["||a.b.com^$denyallow=b.com", "||b.com^"]];
  const project = await compiled({ outputs: BOTH, sources });
  assert.deepEqual(namesIn(project, "rules/l.hosts"), ["a.b.com", "b.com"]);
});

test("names that only a pattern blocks are written if a source has them", async () => {
  const sources = [
    ["0.0.0.0 ads.free.com", "0.0.0.0 www.free.com", "0.0.0.0 x1.free.com"],
    ["@@||free.com^", "||ads.$important", "/^x[0-9]\\./$important"],
  ];
  const project = await compiled({ outputs: BOTH, sources });
  assert.deepEqual(namesIn(project, "rules/l.hosts"), ["ads.free.com", "x1.free.com"]);
  // Unless an exception of the same strength is a pattern, too.
  const freed = [...sources, ["@@/\\.free\\.com$/$important", "||other.com^"]];
  const other = await compiled({ outputs: BOTH, sources: freed });
  assert.deepEqual(namesIn(other, "rules/l.hosts"), ["other.com"]);
});

test("apply writes the same files as compile", async () => {
  const sources = [
    ["||example.com^", "||a.example.com^", "@@||b.a.example.com^"],
    ["0.0.0.0 c.example.com", "0.0.0.0 d.example.net", "||z.example.net^"],
  ];
  const outputs = [
    { format: "hosts" },
    { format: "rpz" },
    { format: "domains", fit: { max_rules: 3 } },
  ];
  const project = projectOf({ outputs, sources });
  const direct = await compiled({ outputs, sources });
  await project.run("plan", ...WORDS, "--save", "p.plan");
  const { exit, stderr } = await project.run("apply", "p.plan");
  assert.equal(exit, 0, stderr);
  for (const file of ["rules/l.hosts", "rules/l.domains"]) {
    assert.deepEqual(namesIn(project, file), namesIn(direct, file));
    assert.ok(namesIn(direct, file).length > 2);
  }
  assert.deepEqual(namesIn(direct, "rules/l.domains"), [
    "a.example.com",
    "c.example.com",
    "example.com",
  ]);
});

test("an output that would block nothing is not published", async () => {
  const setting = {
    outputs: [{ format: "wildcard" }],
    sources: [["0.0.0.0 a.com", "0.0.0.0 b.com"]],
    more: { transformations: [] },
  };
  const project = projectOf(setting);
  const { exit, stderr } = await project.run("compile", ...WORDS);
  assert.equal(exit, 5);
  assert.match(stderr, /error\[empty-output\]: rules\/l\.wildcard would block nothing/);
  assert.match(stderr, /left out: exact 2/);
  assert.match(stderr, /Compress.*widen/);
  assert.equal(project.memory.files.has("/project/rules/l.txt"), false);
  const accepted = await project.run("compile", "-q", ...WORDS, "--accept", "empty-output");
  assert.equal(accepted.exit, 0, accepted.stderr);
  // A list of exceptions blocks nothing by itself.
  await compiled({ ...setting, sources: [["@@||a.com^"]] });
});
