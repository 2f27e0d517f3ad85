import assert from "node:assert/strict";
import { test } from "node:test";
import { MemoryProject } from "../support/memory-project.ts";

/** Compiles Light and Pro, which covers it. */
async function compileTiers(light: string, pro: string): ReturnType<MemoryProject["run"]> {
  return await tiers(light, pro).run("compile", "-c", "c.json", "--no-cache");
}

function tiers(light: string, pro: string): MemoryProject {
  return new MemoryProject({
    "c.json": JSON.stringify({
      name: "Lists",
      sources: [
        { name: "L", source: "l.txt", type: "adblock" },
        { name: "P", source: "p.txt", type: "adblock" },
      ],
      transformations: ["Deduplicate"],
      guards: { min_rules: 0 },
      lists: [
        { name: "Light", sources: ["L"] },
        { name: "Pro", sources: ["P"], covers: ["Light"] },
      ],
    }),
    "l.txt": `${light}\n`,
    "p.txt": `${pro}\n`,
  });
}

test("names that are freed below a name that is newly blocked are not covered", async () => {
  const { exit, stderr } = await compileTiers("||x.com^\n@@|x.com^", "|x.com^");
  assert.equal(exit, 5, stderr);
  assert.match(stderr, /Pro does not block 1 name that Light blocks: below x\.com$/m);
});

test("a name that stays blocked is not named as one that is not", async () => {
  const { exit, stderr } = await compileTiers("||x.com^", "|x.com^");
  assert.equal(exit, 5, stderr);
  assert.match(stderr, /Pro does not block 1 name that Light blocks: below x\.com$/m);
});

test("an exception by pattern in the larger list is reported", async () => {
  for (const exception of ["@@/^cdn[0-9]+\\.x\\.com$/", "@@||tongji.*x.com^", "@@||ads.*^"]) {
    const { exit, stderr } = await compileTiers("||x.com^", `||x.com^\n${exception}`);
    assert.equal(exit, 0, stderr);
    assert.match(stderr, /cover-unknown\]: (?:Pro: )?Pro may not cover Light: @@/, exception);
  }
  const both = "||x.com^\n@@||ads.*^";
  assert.doesNotMatch((await compileTiers(both, both)).stderr, /cover-unknown/);
});

test("an exception that may free names below it, which only a pattern of both lists blocks, is reported", async () => {
  for (const pattern of ["||ads*.x.com^", "/^ads[0-9]+\\./", "||ads.*^", "-ads-"]) {
    const { exit, stderr } = await compileTiers(pattern, `${pattern}\n@@||x.com^`);
    assert.equal(exit, 0, stderr);
    assert.match(stderr, /cover-unknown\]: (?:Pro: )?Pro may not cover Light: @@\|\|x/, pattern);
  }
  for (const [light, pro] of [
    ["||ads*.y.com^", "||ads*.y.com^\n@@||x.com^"],
    ["||ads*.x.com^", "||ads*.x.com^\n@@|x.com^"],
    ["||ads*.x.com^\n@@||com^", "||ads*.x.com^\n@@||com^\n@@||x.com^"],
  ] as const)
    assert.doesNotMatch((await compileTiers(light, pro)).stderr, /cover-unknown/, pro);
});

test("an exception for some clients or query types is reported if it frees a name that is blocked", async () => {
  for (const exception of [
    "@@||x.com^$client=192.168.1.2",
    "@@||a.x.com^$dnstype=AAAA",
    "@@||com^$client=phone",
    "@@||x.c*^$client=phone",
  ]) {
    const { exit, stderr } = await compileTiers("||x.com^", `||x.com^\n${exception}`);
    assert.equal(exit, 0, stderr);
    assert.match(
      stderr,
      /cover-unknown\]: (?:Pro: )?Pro does not cover Light for some clients or query types: @@/,
      exception,
    );
  }
  const other = "||x.com^\n@@||y.com^$client=phone";
  assert.doesNotMatch((await compileTiers("||x.com^", other)).stderr, /cover-unknown/);
});

test("the warnings of a list are in its JSON document", async () => {
  const project = tiers("/[a-c]+\\.test\\.org$/\n||q.com^", "||q.com^");
  const { stdout, stderr } = await project.run("compile", "-c", "c.json", "--json");
  const { lists } = JSON.parse(stdout) as {
    lists: { list: string; diagnostics: { code: string }[] }[];
  };
  const pro = lists.find(({ list }) => list === "Pro")!;
  assert.match(stderr, /cover-unknown/);
  assert.deepEqual(
    pro.diagnostics.map(({ code }) => code),
    ["cover-unknown"],
  );
});
