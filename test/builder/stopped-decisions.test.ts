import assert from "node:assert/strict";
import { test } from "node:test";
import type { DecideDocument } from "../../src/documents/documents.ts";
import type { Host } from "../../src/host/host.ts";
import { MemoryProject, type Said } from "../support/memory-project.ts";
import { isNightly } from "../support/nightly.ts";
import { webOf } from "../support/web-of.ts";

const URL_A = "https://a.example.org/list.txt";
const URL_B = "https://b.example.org/list.txt";
const LISTS = [
  ["one", URL_A],
  ["two", URL_B],
] as const;
const CONFIG = {
  name: "All",
  sources: LISTS.map(([name, source]) => ({ source, name })),
  lists: LISTS.map(([name]) => ({ name, sources: [name] })),
  after: [{ run: ["/tell"], on: ["published", "failed", "refused"] }],
};
const WHERE = ["-c", "c.json", "--cache-dir", "cache"] as const;
const BLOCK = ["block", "new.example.net", ...WHERE, "--permit", "hooks"] as const;

/** Two lists of one remote source each, whose commands can be stopped. */
class StoppedProject {
  readonly project: MemoryProject;
  /** What hooks were told: the list and the event. */
  readonly told: string[] = [];
  /** Aborts a command at this step of its host, if it has so many. */
  stopAt = Infinity;
  private readonly stop = new AbortController();

  constructor() {
    const web = webOf({ [URL_A]: "||a.example.com^\n", [URL_B]: "||b.example.com^\n" });
    const changes: Partial<Host> = {
      ...web,
      runProgram: async ({ input }) => {
        const { list, event } = JSON.parse(input) as Record<string, string>;
        this.told.push(`${list} ${event}`);
        return { exit: 0, isLate: false, output: "", bytes: 0 };
      },
    };
    this.project = new MemoryProject({ "c.json": JSON.stringify(CONFIG) }, changes);
    for (const name of ["rename", "readFile", "stampOf", "exists"] as const) {
      const real = this.project.memory[name] as (path: string, other: string) => Promise<unknown>;
      const stepped = async (path: string, other: string): Promise<unknown> => {
        if (this.stopAt-- === 0) this.stop.abort("SIGINT");
        return await real(path, other);
      };
      Object.assign(changes, { [name]: stepped });
    }
  }

  static async published(): Promise<StoppedProject> {
    const made = new StoppedProject();
    const { exit, stderr } = await made.project.run(...WHERE, "--permit", "hooks");
    assert.equal(exit, 0, stderr);
    made.told.length = 0;
    made.project.signal = made.stop.signal;
    return made;
  }
}

function hasDecision(project: MemoryProject, list: string): boolean {
  return project.text(`rules/${list}.txt`).includes("||new.example.net^");
}

/** What holds after every decision, however it ended. */
function checkDocument(project: MemoryProject, { stdout }: Said, where: string): DecideDocument {
  const document = JSON.parse(stdout) as DecideDocument;
  const { isApplied, notApplied, lists } = document;
  assert.equal(isApplied, notApplied === undefined, where);
  assert.equal(isApplied, lists.length === LISTS.length, where);
  for (const { list } of lists) assert.ok(hasDecision(project, list), `${where}: ${list}`);
  assert.match(project.text("decisions.txt"), /^block new\.example\.net since/m, where);
  return document;
}

test("a decision that is interrupted at any step says so, and the next compile applies it", async () => {
  const seen = new Set<string | undefined>();
  for (let at = 0, isStopped = true; isStopped; at += isNightly ? 1 : 21) {
    const fixture = await StoppedProject.published();
    const { project } = fixture;
    fixture.stopAt = at;
    const said = await project.run(...BLOCK, "--json");
    isStopped = project.signal.aborted;
    const where = `stopped at ${at}: ${said.stderr}`;
    assert.equal(said.exit, isStopped ? 130 : 0, where);
    assert.doesNotMatch(said.stderr, /not stored/, where);
    fixture.stopAt = Infinity;
    project.signal = new AbortController().signal;
    if (said.stdout !== "") seen.add(checkDocument(project, said, where).notApplied);
    if (!project.text("decisions.txt").includes("new.example.net")) continue;
    await project.run(...WHERE, "--permit", "hooks");
    for (const [list] of LISTS) assert.ok(hasDecision(project, list), where);
    assert.deepEqual(
      fixture.told.filter((one) => !one.endsWith("published")),
      [],
      where,
    );
  }
  assert.ok(seen.has("interrupted") && seen.has(undefined), [...seen].join(" "));
});

test("where the text of one of two lists is lost, the other is published, and its hooks run", async () => {
  for (const [index, [lost]] of LISTS.entries()) {
    const { project, told } = await StoppedProject.published();
    const other = LISTS[1 - index]![0];
    const mark = lost === "one" ? "a.example.com" : "b.example.com";
    for (const [path, bytes] of project.memory.files)
      if (path.includes("/cache/objects/") && new TextDecoder().decode(bytes).includes(mark))
        project.memory.files.delete(path);
    const said = await project.run(...BLOCK, "--json");
    assert.equal(said.exit, 0, said.stderr);
    const { notApplied, lists } = checkDocument(project, said, lost);
    assert.equal(notApplied, "text-lost");
    assert.deepEqual(
      lists.map(({ list }) => list),
      [other],
    );
    assert.deepEqual(told, [`${other} published`]);
    assert.ok(!hasDecision(project, lost));
    const shown = await project.run("allow", "more.example.net", ...WHERE);
    assert.match(shown.stderr, /not stored: the next compile applies it/);
    await project.run(...WHERE);
    assert.ok(hasDecision(project, lost));
  }
});
