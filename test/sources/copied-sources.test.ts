import assert from "node:assert/strict";
import { test } from "node:test";
import { MemoryProject } from "../support/memory-project.ts";

const DAY_MS = 86_400_000;

function names(from: number, to: number): string[] {
  return Array.from({ length: to - from }, (_, index) => `n${from + index}.example`);
}

/** A list, another that copies it, and one that has nothing to do with them. */
class Copies {
  private day = 0;
  private readonly texts = new Map<string, string>();
  readonly project: MemoryProject = new MemoryProject(
    {
      "compiler-config.json": JSON.stringify({
        name: "Home",
        sources: ["Origin", "Copy", "Other"].map((name) => ({
          name,
          source: `https://${name.toLowerCase()}.example/l.txt`,
        })),
        transformations: ["Compress"],
      }),
    },
    {
      cacheDir: () => "/cache",
      fetch: (request) => {
        const { hostname } = new URL(request.url);
        request.take(new TextEncoder().encode(this.texts.get(hostname)));
        return Promise.resolve({ status: 200, headers: { "content-type": "text/plain" } });
      },
    },
  );

  /** A run on the next day. Returns the states of the three, and checks that the third one's new name is published. */
  async run(origin: readonly string[], copy: readonly string[]): Promise<[string, string]> {
    const { project } = this;
    const other = [...names(9000, 9500), `new${this.day}.example`];
    this.texts.set("origin.example", origin.map((name) => `||${name}^\n`).join(""));
    this.texts.set("copy.example", copy.map((name) => `0.0.0.0 ${name}\n`).join(""));
    this.texts.set("other.example", other.map((name) => `${name}\n`).join(""));
    project.now = new Date(Date.UTC(2026, 9, 1, 3) + this.day * DAY_MS).toISOString();
    const { exit, stderr } = await project.run("-q");
    assert.equal(exit, 0, stderr);
    assert.ok(project.text("rules/home.txt").includes(`||new${this.day}.example^`));
    this.day++;
    const file = JSON.parse(project.text("rules/home.sources.json")) as {
      sources: { state: string }[];
    };
    const [one, two, three] = file.sources.map(({ state }) => state);
    assert.equal(three, "fetched");
    if (one === "fetched" && two === "fetched" && !stderr.includes("read again"))
      assert.equal(stderr, "");
    return [one!, two!];
  }

  has(name: string): boolean {
    return this.project.text("rules/home.txt").includes(`||${name}^`);
  }
}

const BOTH = ["fetched", "fetched"];

test("a list and its copy change in one night, each within its limits: no source is held or reported", async () => {
  for (const now of [names(900, 2000), names(0, 5500)]) {
    const copies = new Copies();
    assert.deepEqual(await copies.run(names(0, 2000), names(0, 2000)), BOTH);
    assert.deepEqual(await copies.run(now, now), BOTH);
    assert.deepEqual(
      [copies.has("n0.example"), copies.has("n5499.example")],
      [now.includes("n0.example"), now.includes("n5499.example")],
    );
  }
});

test("a copy that follows a day later is held on its own account, for its own three days", async () => {
  const copies = new Copies();
  const [many, few] = [names(0, 2000), names(0, 500)];
  assert.deepEqual(await copies.run(many, many), BOTH);
  assert.deepEqual(await copies.run(few, many), ["held", "fetched"]);
  assert.deepEqual(await copies.run(few, few), ["held", "held"]);
  assert.deepEqual(await copies.run(few, few), ["held", "held"]);
  assert.ok(copies.has("n1999.example"));
  assert.deepEqual(await copies.run(few, few), ["fetched", "held"]);
  assert.ok(copies.has("n1999.example"));
  assert.deepEqual(await copies.run(few, few), BOTH);
  assert.ok(!copies.has("n1999.example"));
});

test("a list that is held does not hold its copy, which stays as it was", async () => {
  const copies = new Copies();
  const [few, many] = [names(0, 500), names(0, 5000)];
  assert.deepEqual(await copies.run(few, few), BOTH);
  for (let day = 0; day < 3; day++)
    assert.deepEqual(await copies.run(many, few), ["held", "fetched"]);
  assert.deepEqual(await copies.run(many, few), BOTH);
});
