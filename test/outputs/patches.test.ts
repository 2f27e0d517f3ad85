import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { patchBytes, patchNameIn } from "../../src/compile/patches.ts";
import { rcsDiff } from "../../src/formats/rcs-diff.ts";
import { MemoryProject } from "../support/memory-project.ts";
import { Random } from "../support/random.ts";
import { applyPatch } from "../support/patch-client.ts";

test("random texts: applying the difference gives the new one", () => {
  const random = new Random(5);
  for (let round = 0; round < 3000; round++) {
    const line = (): string => random.pick(["a", "b", "c", "!", "", `n${random.below(40)}`]);
    const old = Array.from({ length: random.below(20) }, line);
    const fresh = old
      .flatMap((one) => (random.chance(0.2) ? [] : random.chance(0.2) ? [one, line()] : [one]))
      .concat(random.chance(0.3) ? [line()] : []);
    const end = random.chance(0.5) ? "\n" : "";
    const texts = [old, fresh].map((lines) => (lines.length === 0 ? "" : lines.join("\n") + end));
    const patch = patchBytes(
      ...(texts.map((text) => new TextEncoder().encode(text)) as [Uint8Array, Uint8Array]),
    );
    assert.equal(applyPatch(texts[0]!, new TextDecoder().decode(patch)), texts[1]);
  }
});

test("a difference is about as large as what changed", () => {
  const old = Array.from({ length: 100_000 }, (_, index) => `||n${index}.example^`);
  const fresh = old
    .filter((_, index) => index % 100 !== 0)
    .concat(Array.from({ length: 500 }, (_, index) => `||m${index}.example^`));
  const diff = rcsDiff(`${old.join("\n")}\n`, `${fresh.join("\n")}\n`);
  assert.ok(diff.length < 40_000, String(diff.length));
});

test("subscribers of any earlier edition get to the present one by differences alone", async () => {
  const made = new MemoryProject({
    "c.json": JSON.stringify({
      name: "My list",
      sources: [{ name: "A", source: "a.txt", type: "adblock" }],
      patches: { expires: "1h", keep: "2d" },
    }),
    "a.txt": "||n0.example^\n",
  });
  const editions: string[] = [];
  for (let hour = 0; hour < 30; hour++) {
    made.now = new Date(Date.UTC(2026, 10, 10, hour)).toISOString();
    const names = Array.from(
      { length: 40 + hour },
      (_, index) => `||n${index * (hour % 3 === 0 ? 1 : 2)}.example^`,
    );
    made.write("a.txt", `${names.join("\n")}\n`);
    const { exit, stderr } = await made.run(
      "compile",
      "-q",
      "-c",
      "c.json",
      "--no-cache",
      "--no-record",
    );
    assert.equal(exit, 0, stderr);
    editions.push(made.text("rules/my-list.txt"));
  }
  const newest = editions.at(-1)!;
  assert.match(newest, /^! Diff-Path: patches\/my-list-s-\d+-3600\.patch$/m);
  assert.match(newest, /^! Diff-Expires: 1 hours$/m);
  for (const [index, edition] of editions.entries()) {
    let text = edition;
    for (let steps = 0; steps < 40; steps++) {
      const name = patchNameIn(new TextEncoder().encode(text))!;
      const patch = made.memory.files.get(`/project/rules/patches/${name}`);
      if (patch === undefined) break;
      text = applyPatch(text, new TextDecoder().decode(patch));
    }
    assert.equal(
      createHash("sha1").update(text).digest("hex"),
      createHash("sha1").update(newest).digest("hex"),
      `edition ${index}`,
    );
  }
  made.now = "2026-11-20T00:00:00Z";
  made.write(
    "a.txt",
    `${Array.from({ length: 60 }, (_, index) => `||n${index}.example^`).join("\n")}\n`,
  );
  await made.run("compile", "-q", "-c", "c.json", "--no-cache", "--no-record");
  const kept = [...made.memory.files.keys()].filter((path) => path.includes("/patches/"));
  assert.equal(kept.length, 0, "those that are older than they are kept are gone");
});

test("nothing new, no difference; and the same moment leads nowhere", async () => {
  const made = new MemoryProject({
    "c.json": JSON.stringify({ name: "L", sources: [{ source: "a.txt" }], patches: {} }),
    "a.txt": "||a.example^\n",
  });
  const words = ["compile", "-q", "-c", "c.json", "--no-cache"];
  await made.run(...words);
  made.now = "2026-11-12T00:00:00Z";
  await made.run(...words);
  made.now = "2026-11-10T00:00:00Z";
  made.write("a.txt", "||b.example^\n");
  await made.run(...words);
  assert.deepEqual(
    [...made.memory.files.keys()].filter((path) => path.includes("/patches/")),
    [],
  );
});

test("what a killed run left in the folder of patches is removed by the next one", async () => {
  const made = new MemoryProject({
    "c.json": JSON.stringify({
      name: "My list",
      sources: [{ name: "A", source: "a.txt", type: "adblock" }],
      patches: { expires: "1h", keep: "2d" },
    }),
    "a.txt": "||a.example^\n",
    "rules/patches/my-list-s-1700000000-3600.patch.k3x9.tmp": "half",
    "rules/patches/other-s-1700000000-3600.patch.k3x9.tmp": "of another list",
  });
  const { exit, stderr } = await made.run("compile", "-q", "-c", "c.json", "--no-cache");
  assert.equal(exit, 0, stderr);
  const left = [...made.memory.files.keys()].filter((path) => path.endsWith(".tmp"));
  assert.deepEqual(left, ["/project/rules/patches/other-s-1700000000-3600.patch.k3x9.tmp"]);
});
