import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { nextPatch, patchBytes, rcsDiff } from "../../src/publish/patches.ts";
import { MemoryProject } from "../support/memory-project.ts";
import { Random } from "../support/random.ts";
import { applyNamedPatch } from "../support/named-patch-client.ts";
import { applyPatch } from "../support/patch-client.ts";

test("random texts: applying the patch yields the new text", () => {
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
      undefined,
    );
    assert.equal(applyPatch(texts[0]!, new TextDecoder().decode(patch)), texts[1]);
  }
});

test("a patch is about as large as the change", () => {
  const old = Array.from({ length: 100_000 }, (_, index) => `||n${index}.example^`);
  const fresh = old
    .filter((_, index) => index % 100 !== 0)
    .concat(Array.from({ length: 500 }, (_, index) => `||m${index}.example^`));
  const diff = rcsDiff(`${old.join("\n")}\n`, `${fresh.join("\n")}\n`);
  assert.ok(diff.length < 40_000, String(diff.length));
});

test("patches lead from any earlier version to the current one", async () => {
  const made = new MemoryProject({
    "c.json": JSON.stringify({
      name: "My list",
      sources: [{ name: "A", source: "a.txt", type: "adblock" }],
      patches: "2d",
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
  assert.match(
    newest,
    /^! Diff-Path: patches\/my_list_v2026\.11\.11\.0300-s-\d+-21600\.patch#my_list$/m,
  );
  assert.match(newest, /^! Diff-Expires: 6 hours$/m);
  for (const [index, edition] of editions.entries()) {
    let text = edition;
    for (let steps = 0; steps < 40; steps++) {
      const name = nextPatch(new TextEncoder().encode(text))!.file;
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

test("without a change there is no patch", async () => {
  const made = new MemoryProject({
    "c.json": JSON.stringify({ name: "L", sources: [{ source: "a.txt" }], patches: "7d" }),
    "a.txt": "||a.example^\n",
  });
  const words = ["compile", "-q", "-c", "c.json", "--no-cache"];
  for (const time of ["T00:00:00Z", "T00:05:00Z", "T23:59:59Z"]) {
    made.now = `2026-11-12${time}`;
    await made.run(...words);
  }
  assert.deepEqual(patchFiles(made), []);
  assert.match(made.text("rules/l.txt"), /^! Last modified: 2026-11-12T00:00:00/m);
});

function patchFiles({ memory }: MemoryProject): string[] {
  return [...memory.files.keys()].filter((path) => path.includes("/patches/"));
}

/** Publishes editions and follows them with both kinds of clients, from each edition on. */
async function follow(
  made: MemoryProject,
  times: readonly string[],
  file = "rules/my-list.txt",
): Promise<void> {
  const random = new Random(9);
  const editions: string[] = [];
  for (const time of times) {
    made.now = time;
    const names = Array.from({ length: 15 }, () => `||n${random.below(40)}.example^`);
    made.write("a.txt", `${[...new Set(names)].join("\n")}\n`);
    const words = ["-q", "-c", "c.json", "--no-cache", "--no-record"];
    const { exit, stderr } = await made.run(...words);
    assert.equal(exit, 0, stderr);
    editions.push(made.text(file));
  }
  const paths = editions.map((text) => /^! Diff-Path: (?<path>.+)$/m.exec(text)!.groups!["path"]);
  assert.equal(new Set(paths).size, editions.length, "every edition has a path of its own");
  const patchAt = (path: string): string | undefined => {
    const bytes = made.memory.files.get(`/project/rules/${path}`);
    return bytes && new TextDecoder().decode(bytes);
  };
  for (const edition of editions) {
    let [named, plain] = [edition, edition];
    for (let steps = 1; steps < editions.length - editions.indexOf(edition); steps++) {
      named = applyNamedPatch(named, patchAt);
      const { file: patch } = nextPatch(new TextEncoder().encode(plain))!;
      plain = applyPatch(plain, patchAt(`patches/${patch}`)!);
    }
    assert.equal(named, editions.at(-1));
    assert.equal(plain, editions.at(-1));
  }
}

for (const [end, transformations] of [
  ["with a final line feed", ["InsertFinalNewLine"]],
  ["without a final line feed", []],
] as const)
  test(`25 versions ${end}: clients that check name and digest can follow from any of them`, async () => {
    const made = new MemoryProject({
      "c.json": JSON.stringify({
        name: "My list",
        description: "x".repeat(1500),
        sources: [{ name: "A", source: "a.txt", type: "adblock" }],
        transformations,
        patches: "7d",
      }),
    });
    const hours = Array.from({ length: 25 }, (_, hour) =>
      new Date(Date.UTC(2026, 10, 10, hour)).toISOString(),
    );
    await follow(made, hours);
    assert.equal(made.text("rules/my-list.txt").endsWith("\n"), transformations.length > 0);
  });

test("versions within one second, and after a clock went back, have distinct paths", async () => {
  const made = new MemoryProject({
    "c.json": JSON.stringify({
      name: "My list",
      sources: [{ name: "A", source: "a.txt", type: "adblock" }],
      patches: "7d",
    }),
  });
  const seconds = ["10", "10", "11", "11", "05", "20"];
  await follow(
    made,
    seconds.map((second) => `2026-11-10T00:00:${second}Z`),
  );
});

test("list names that clients cannot read are replaced by names that they can", async () => {
  for (const name of ["Ünïcödé – список", "другой", "A".repeat(200), "a-b_c 1.2.3.4"]) {
    const made = new MemoryProject({
      "c.json": JSON.stringify({ name, sources: [{ source: "a.txt" }], patches: "7d" }),
      "a.txt": "||a.example^\n",
    });
    await made.run("-q", "-c", "c.json", "--no-cache", "-o", "l.txt", "-r");
    const { path } = /^! Diff-Path: (?<path>.+)$/m.exec(made.text("l.txt"))!.groups!;
    assert.match(
      path!,
      /^patches\/[a-z0-9_]{1,50}_v2026\.11\.10\.0000-s-\d+-21600\.patch#[a-z0-9_]+$/,
    );
    assert.ok(/(\d+)\.(\d+)\.(\d+)\.(\d+)/.exec(path!)![0] === "2026.11.10.0000", path);
  }
});

test("a patch that would have to change the final line end is not offered", async () => {
  const made = new MemoryProject({ "a.txt": "||a.example^\n" });
  const words = ["-q", "-c", "c.json", "--no-cache"];
  for (const [hour, transformations] of [
    ["00", []],
    ["01", ["InsertFinalNewLine"]],
  ] as const) {
    made.now = `2026-11-10T${hour}:00:00Z`;
    made.write(
      "c.json",
      JSON.stringify({ name: "L", sources: [{ source: "a.txt" }], transformations, patches: "7d" }),
    );
    await made.run(...words);
  }
  assert.deepEqual(patchFiles(made), []);
});

test("patches lead from lists of version 0.1.0 to current ones", async () => {
  const made = new MemoryProject({
    "c.json": JSON.stringify({ name: "My list", sources: [{ source: "a.txt" }], patches: "7d" }),
    "a.txt": "||b.example^\n",
    "rules/my-list.txt":
      "!\n! Title: My list\n! Diff-Path: patches/my-list-s-1793750400-21600.patch\n!\n||a.example^",
    "rules/patches/my-list-s-1593750400-21600.patch": "old",
    "rules/patches/.my_list_v2026.11.09.0000-s-1794182400-21600.patch.k3x9.tmp": "of a killed run",
    "rules/patches/.my-list-s-1794182400-21600.patch.abc.tmp": "of a killed run",
    "rules/patches/.other_v2026.11.09.0000-s-1794182400-21600.patch.k3x9.tmp": "not ours",
  });
  const before = made.text("rules/my-list.txt");
  await made.run("-q", "-c", "c.json", "--no-cache");
  const patch = made.text("rules/patches/my-list-s-1793750400-21600.patch");
  assert.match(patch, /^diff checksum:/);
  assert.equal(applyPatch(before, patch), made.text("rules/my-list.txt"));
  assert.deepEqual(
    patchFiles(made).map((path) => path.slice(path.lastIndexOf("/") + 1)),
    [
      ".other_v2026.11.09.0000-s-1794182400-21600.patch.k3x9.tmp",
      "my-list-s-1793750400-21600.patch",
    ],
  );
});

test("leftovers of a killed run in the patch folder are removed by the next run", async () => {
  const made = new MemoryProject({
    "c.json": JSON.stringify({
      name: "My list",
      sources: [{ name: "A", source: "a.txt", type: "adblock" }],
      patches: "2d",
    }),
    "a.txt": "||a.example^\n",
    "rules/patches/.my-list-s-1700000000-3600.patch.k3x9.tmp": "half",
    "rules/patches/.other-s-1700000000-3600.patch.k3x9.tmp": "of another list",
  });
  const { exit, stderr } = await made.run("compile", "-q", "-c", "c.json", "--no-cache");
  assert.equal(exit, 0, stderr);
  const left = [...made.memory.files.keys()].filter((path) => path.endsWith(".tmp"));
  assert.deepEqual(left, ["/project/rules/patches/.other-s-1700000000-3600.patch.k3x9.tmp"]);
});
