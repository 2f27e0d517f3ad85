import assert from "node:assert/strict";
import { test } from "node:test";
import { run } from "../../src/cli/main.ts";
import { type Config, type MemoryHost, memoryHost } from "../support/internals.ts";

const OTHER = "https://lists.example/other.txt";
const STRANGER = "https://lists.example/stranger.txt";

function lines(count: number, lineOf: (index: number) => string): string {
  return Array.from({ length: count }, (_, index) => `${lineOf(index)}\n`).join("");
}

const OTHERS = lines(1000, (index) => `||n${index}.example^`);
const OWN = lines(50, (index) => `||own${index}.example^`);

/** A list of two sources from the web, published once. */
class Project {
  readonly host: MemoryHost;
  readonly web: Record<string, string>;

  constructor(web: Record<string, string> = {}, config: Partial<Config> = {}) {
    this.web = { [OTHER]: OTHERS, [STRANGER]: OWN, ...web };
    const whole: Config = {
      name: "N",
      sources: [
        { source: OTHER, name: "Other" },
        { source: STRANGER, name: "Stranger" },
      ],
      ...config,
    };
    this.host = memoryHost({ files: { "c.json": JSON.stringify(whole) }, web: this.web });
  }

  now = "2026-11-10T00:00:00Z";

  async run(...more: string[]): Promise<{ exit: number; said: string }> {
    this.host.output.stderr = "";
    const args = [...more, "-c", "c.json", "-o", "out.txt"];
    const host = { ...this.host, now: () => new Date(this.now) };
    const exit = await run(args, host, new AbortController().signal);
    return { exit, said: this.host.output.stderr };
  }

  get exceptions(): string[] {
    const text = new TextDecoder().decode(this.host.files.get("/project/out.txt"));
    return text.split("\n").filter((line) => line.startsWith("@@"));
  }

  /** The stranger's list, the second time. */
  async later(text: string, ...more: string[]): Promise<{ exit: number; said: string }> {
    assert.equal((await this.run()).exit, 0);
    this.web[STRANGER] = text;
    return await this.run(...more);
  }
}

function freeing(count: number): string {
  return lines(count, (index) => `@@||n${index}.example^`);
}

for (const transformations of [[], ["Compress", "Validate", "Deduplicate"]])
  test(`up to twenty new exceptions are accepted, otherwise none [${transformations.join()}]`, async () => {
    for (const [count, isTaken] of [
      [20, true],
      [21, false],
    ] as const) {
      const project = new Project({}, { transformations });
      const { exit, said } = await project.later(OWN + freeing(count));
      assert.equal(exit, 0, said);
      assert.equal(project.exceptions.length, isTaken ? count : 0);
      assert.equal(said.includes("warning[new-exceptions]"), !isTaken, said);
      if (isTaken) continue;
      assert.match(
        said,
        /Stranger has 21 new exceptions, which would unblock 21 names that only other sources block; all of them were dropped: n0\.example, .* and 16 more\n {2}--> .*stranger\.txt:51\n/,
      );
      assert.match(said, /over-budget 21/);
      assert.equal(said.split("warning[new-exceptions]").length, 2, "one warning");
    }
  });

for (const [what, text, dropped] of [
  ["one exception for a parent of all names", "@@||example^\n@@||n3.example^\n", 2],
  ["an exception with a pattern", "@@||n1*.example^\n", 1],
  ["a regular expression", "@@/^n[0-9]5[0-9]\\.example$/\n", 1],
  ["exceptions for exactly one name each", lines(21, (index) => `@@|n${index}.example^`), 21],
  ["exceptions for some types of query", lines(21, (i) => `@@||n${i}.example^$dnstype=A`), 21],
  ["names below a blocked one", lines(21, (index) => `@@||a${index}.n1.example^`), 21],
  ["names that nobody blocks", lines(90, (index) => `@@||free${index}.example^`), 0],
  ["names that it blocks itself", lines(50, (index) => `@@||own${index}.example^`), 0],
  [
    "names that both block",
    lines(50, (i) => `||n${i}.example^`) + lines(50, (i) => `@@||n${i}.example^`),
    0,
  ],
] as const)
  test(`new exceptions: ${what}`, async () => {
    const project = new Project();
    const { exit, said } = await project.later(OWN + text);
    assert.equal(exit, 0, said);
    const expected = text.split("\n").filter((line) => line.startsWith("@@")).length;
    assert.equal(project.exceptions.length, expected - dropped, said);
    assert.equal(said.includes("new-exceptions"), dropped > 0, said);
  });

test("the names of other sources are counted in any syntax", async () => {
  for (const lineOf of [
    (index: number) => `0.0.0.0 n${index}.example`,
    (index: number) => `0.0.0.0 n${index}.example m${index}.example`,
    (index: number) => `n${index}.example`,
    (index: number) => `|n${index}.example^`,
    (index: number) => `||N${index}.example^`,
    (index: number) => `||n${index}.example^$dnstype=A`,
  ]) {
    const project = new Project({ [OTHER]: lines(1000, lineOf) });
    await project.later(OWN + freeing(21));
    assert.deepEqual(project.exceptions, [], lineOf(0));
  }
});

test("new exceptions may unblock a thousandth of a large list", async () => {
  const others = lines(30_000, (index) => `||n${index}.example^`);
  for (const [count, left] of [
    [30, 30],
    [31, 0],
  ] as const) {
    const project = new Project({ [OTHER]: others });
    await project.later(OWN + freeing(count));
    assert.equal(project.exceptions.length, left);
  }
});

test("exceptions that were published or accepted once stay", async () => {
  const project = new Project({ [STRANGER]: OWN + freeing(100) });
  const { said } = await project.later(OWN + freeing(121));
  assert.equal(project.exceptions.length, 100, said);
  assert.match(said, /21 new exceptions/);
  const again = await project.run("--verbose");
  assert.match(again.said, /21 new exceptions/, "it is not forgotten");
  assert.equal((await project.run("--accept", "new-exceptions")).exit, 0);
  assert.equal(project.exceptions.length, 121);
  const last = await project.run();
  assert.ok(!last.said.includes("new-exceptions"), last.said);
  assert.equal(project.exceptions.length, 121);
});

test("the exception budget for a fully trusted source, a new source and a plan", async () => {
  const trusted = new Project(
    {},
    {
      sources: [
        { source: OTHER, name: "Other" },
        { source: STRANGER, name: "Stranger", trust: "full" },
      ],
    },
  );
  await trusted.later(OWN + freeing(90));
  assert.equal(trusted.exceptions.length, 90);
  const added = new Project(
    { [STRANGER]: OWN + freeing(500) },
    { sources: [{ source: OTHER, name: "Other" }] },
  );
  await added.run();
  const sources = [{ source: OTHER }, { source: STRANGER }];
  added.host.files.set(
    "/project/c.json",
    new TextEncoder().encode(JSON.stringify({ name: "N", sources })),
  );
  await added.run();
  assert.equal(added.exceptions.length, 500);
  const planned = new Project();
  assert.equal((await planned.later(OWN + freeing(21), "plan")).exit, 0);
  assert.match(planned.host.output.stdout, /warning\[new-exceptions\]/);
});

test("with --strict, a source over its exception budget gives exit code 3", async () => {
  const project = new Project();
  assert.equal((await project.later(OWN + freeing(21), "--strict")).exit, 3);
});

test("many small steps count as one, for 30 days", async () => {
  const project = new Project();
  const step = async (now: string, count: number): Promise<string> => {
    project.now = now;
    // Exceptions that a source no longer has count, too.
    project.web[STRANGER] = OWN + lines(20, (index) => `@@||n${count - 1 - index}.example^`);
    const { exit, said } = await project.run();
    assert.equal(exit, 0, said);
    return said;
  };
  assert.equal((await project.run()).exit, 0);
  assert.doesNotMatch(await step("2026-11-11T00:00:00Z", 20), /new-exceptions/);
  assert.equal(project.exceptions.length, 20);
  // Several steps, some of them on one day.
  for (const now of ["2026-11-11T01:00:00Z", "2026-11-12T00:00:00Z", "2026-12-10T00:00:00Z"]) {
    const said = await step(now, 21);
    assert.match(said, /over-budget 1\n/);
    // It is said once.
    if (now === "2026-11-11T01:00:00Z")
      assert.match(
        said,
        /Stranger has 1 new exception, which would unblock 1 name that only other sources block, after 20 others within 30 days/,
      );
    assert.equal(project.exceptions.length, 19);
  }
  assert.doesNotMatch(await step("2026-12-12T00:00:00Z", 22), /new-exceptions/);
  assert.equal(project.exceptions.length, 20);
});
