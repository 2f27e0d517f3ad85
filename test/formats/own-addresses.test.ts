import assert from "node:assert/strict";
import { test } from "node:test";
import { ListMatcher } from "../support/reference/list-matcher.ts";
import { MemoryProject } from "../support/memory-project.ts";
import { Random } from "../support/random.ts";

const LINES = [
  "192.168.1.10 nas.home",
  "192.168.1.11\tNAS2.home printer.home  # in the cellar",
  "fd00::12 six.home",
  "192.168.1.13 box",
  "0.0.0.0 ads.example",
  "127.0.0.1 localhost",
];
const REWRITES = [
  "|nas.home^$dnsrewrite=192.168.1.10",
  "|nas2.home^$dnsrewrite=192.168.1.11",
  "|printer.home^$dnsrewrite=192.168.1.11",
  "|six.home^$dnsrewrite=fd00::12",
  "|box^$dnsrewrite=192.168.1.13",
];
const CHAIN = [
  "RemoveComments",
  "Compress",
  "RemoveModifiers",
  "ConvertToAscii",
  "TrimLines",
  "RemoveEmptyLines",
  "Deduplicate",
  "InsertFinalNewLine",
];

async function compiled(config: object, ...words: string[]): Promise<MemoryProject> {
  const project = new MemoryProject({
    "c.json": JSON.stringify({ name: "N", ...config }),
    "own.txt": `${LINES.join("\n")}\n`,
  });
  const { exit, stderr } = await project.run("-c", "c.json", "--accept", "too-few-rules", ...words);
  assert.equal(exit, 0, stderr);
  return project;
}

function rulesOf(project: MemoryProject): string[] {
  return project
    .text("rules/n.txt")
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("!"));
}

test("an address in an own file stays the answer, through every chain of transformations", async () => {
  const random = new Random(5);
  for (let round = 0; round < 24; round++) {
    const [ofSource, ofList] = [0, 1].map(() => CHAIN.filter(() => random.chance(0.5)));
    const type = random.pick(["hosts", "adblock"]);
    const sources = [{ source: "own.txt", name: "Own", type, transformations: ofSource }];
    const project = await compiled({
      sources,
      transformations: ofList,
      ...(random.chance(0.3) && { min_sources: 1 }),
    });
    const rules = rulesOf(project);
    const what = `${ofSource!.join()} / ${ofList!.join()}\n${rules.join("\n")}`;
    for (const rule of REWRITES) assert.ok(rules.includes(rule), `${rule}\n${what}`);
    const list = new ListMatcher(rules);
    assert.equal(list.meaning("nas.home"), "rewritten", what);
    assert.equal(list.meaning("x.nas.home"), "neither", what);
    assert.equal(list.meaning("ads.example"), "blocked", what);
    const { stdout } = await project.run("why", "-c", "c.json", "printer.home", "box");
    assert.match(stdout, /printer\.home {2}REWRITTEN[^]*Own:2[^]*box {2}REWRITTEN[^]*Own:4/);
  }
});

test("Validate keeps the address of a name", async () => {
  const project = await compiled({
    sources: [{ source: "own.txt", type: "hosts" }],
    transformations: ["Compress", "Validate"],
  });
  assert.ok(rulesOf(project).includes(REWRITES[0]!));
});

test("other sources may not map names, an inverted source has no rewrites, and --compat blocks", async () => {
  const standard = { source: "own.txt", type: "hosts", trust: "standard" };
  assert.deepEqual(
    rulesOf(await compiled({ sources: [standard], transformations: ["Compress"] })),
    ["||ads.example^"],
  );
  const full = { source: "own.txt", type: "hosts" };
  const inverted = await compiled({
    sources: [full],
    transformations: ["Compress", "InvertAllow"],
  });
  assert.ok(rulesOf(inverted).includes("@@||nas.home^"));
  const compat = await compiled({ sources: [full], transformations: ["Compress"] }, "--compat");
  assert.ok(rulesOf(compat).includes("||nas.home^"));
});
