import { sizeBytes } from "../../src/diagnostics/text.ts";
import assert from "node:assert/strict";
import process from "node:process";
import { test } from "node:test";
import { FORMAT_NAMES, SIZE_PRESETS } from "../../src/config/outputs.ts";
import { FileSet } from "../../src/publish/file-set.ts";
import type { SplitLimits } from "../../src/publish/split-file.ts";
import { StableFiles } from "../../src/publish/stable-files.ts";
import { type MemoryHost, memoryHost } from "../support/internals.ts";
import { MemoryProject } from "../support/memory-project.ts";
import { isNightly } from "../support/nightly.ts";
import { Random, seedFrom } from "../support/random.ts";

const LIST = "/project/rules/list.txt";

/** Publishes names, and returns the lines of each part without the header. */
async function publish(
  host: MemoryHost,
  names: readonly string[],
  limits: Partial<SplitLimits>,
): Promise<string[]> {
  const all = { names: Infinity, bytes: Infinity, ...limits };
  const layout = { limits: all, footer: new Uint8Array(0), isCommaFirst: false };
  const files = new StableFiles(LIST, layout, host);
  const encoder = new TextEncoder();
  try {
    await files.open();
    files.start((count) => ({ bytes: encoder.encode(`# ${count} names\n#\n`) }), 999_999);
    files.write(encoder.encode(names.map((name) => `${name}\n`).join("")), names.length);
    files.finish(Infinity);
    const set = new FileSet(LIST, "/project", host);
    await files.stage(set);
    await set.commit();
    await files.settle();
  } finally {
    await files.close();
  }
  return files.paths.map((path) => new TextDecoder().decode(host.files.get(path)));
}

function namesIn(part: string): string[] {
  return part.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
}

/** The parts that must change: those that lost a name, and as many as the new names need beyond the room in these. */
function mustChange(old: readonly string[], names: ReadonlySet<string>, cap: number): number {
  const parts = old.map(namesIn);
  const published = new Set(parts.flat());
  const added = [...names].filter((name) => !published.has(name)).length;
  const losing = parts.filter((part) => part.some((name) => !names.has(name)));
  const kept = losing.flat().filter((name) => names.has(name)).length;
  const room = losing.length * cap - kept;
  return losing.length + Math.ceil(Math.max(0, added - room) / cap);
}

const CHANGES = ["spread", "burst", "removed", "added"] as const;

/** Changes one name of a hundred. */
function changed(
  names: readonly string[],
  how: (typeof CHANGES)[number],
  random: Random,
): string[] {
  const count = Math.ceil(names.length / 100);
  const fresh = how === "removed" ? [] : random.times(count, () => nameFrom(random));
  if (how === "added") return [...new Set([...names, ...fresh])];
  const from = random.below(names.length - count);
  const out = new Set(
    how === "spread"
      ? random.times(count, () => random.pick(names))
      : names.slice(from, from + count),
  );
  return [...new Set([...names.filter((name) => !out.has(name)), ...fresh])];
}

function nameFrom(random: Random): string {
  return `n${random.below(1_000_000_000)}.example`;
}

test("with one name of a hundred changed, hardly any file changes that need not change", async () => {
  const random = new Random(seedFrom(process.env["FUZZ_SEED"]));
  const worst = new Map<string, number>();
  for (let round = 0; round < (isNightly ? 200 : 4); round++)
    for (const how of CHANGES) {
      const cap = random.pick([20, 100, 500]);
      const host = memoryHost({ files: {} });
      let names = [...new Set(random.times(1000 + random.below(1000), () => nameFrom(random)))];
      let old = await publish(host, names, { names: cap });
      for (let day = 0; day < 4; day++) {
        names = changed(names, how, random);
        // The order of the list must not matter.
        if (random.chance(0.5)) names.reverse();
        const must = mustChange(old, new Set(names), cap);
        const fresh = await publish(host, names, { names: cap });
        const parts = fresh.map(namesIn);
        assert.deepEqual(parts.flat().toSorted(), names.toSorted());
        assert.ok(parts.every((part) => part.length <= cap));
        const count = Math.max(old.length, fresh.length);
        const isOther = (_: unknown, index: number): boolean => old[index] !== fresh[index];
        const differing = Array.from({ length: count }).filter(isOther).length;
        const extra = Math.max(0, differing - must) / count;
        worst.set(how, Math.max(worst.get(how) ?? 0, extra));
        assert.ok(extra <= 0.05, `${how}, ${cap}: ${differing} of ${count} changed, ${must} must`);
        old = fresh;
      }
    }
  assert.equal(worst.size, CHANGES.length);
});

test("the same names give the same files, and a smaller list gives up files", async () => {
  const host = memoryHost({ files: {} });
  const names = Array.from({ length: 1000 }, (_, index) => `n${index}.example`);
  const first = await publish(host, names, { names: 100 });
  assert.deepEqual(await publish(host, names.toReversed(), { names: 100 }), first);
  const half = names.filter((_, index) => index % 2 === 0);
  const second = await publish(host, half, { names: 100 });
  assert.equal(second.length, 7, "five are needed, and a quarter may be spare");
  assert.deepEqual(second.flatMap(namesIn).toSorted(), half.toSorted());
  assert.equal(host.files.has("/project/rules/list-8.txt"), false);
});

test("a smaller limit applies to published files, too", async () => {
  const host = memoryHost({ files: {} });
  const names = Array.from({ length: 100 }, (_, index) => `n${index}.example`);
  await publish(host, names, { names: 50 });
  const parts = await publish(host, names, { names: 40 });
  assert.deepEqual(
    parts.map((part) => namesIn(part).length),
    [40, 40, 20],
  );
  assert.deepEqual(parts.flatMap(namesIn).toSorted(), names.toSorted());
});

test("the size of a file includes its header", async () => {
  const host = memoryHost({ files: {} });
  const random = new Random(7);
  let names = random.times(500, () => nameFrom(random));
  for (let day = 0; day < 5; day++) {
    const parts = await publish(host, names, { bytes: 400 });
    assert.ok(parts.every((part) => part.length <= 400));
    assert.deepEqual(parts.flatMap(namesIn).toSorted(), names.toSorted());
    names = changed(names, "spread", random);
  }
});

function projectOf(output: object, length = 7): MemoryProject {
  const names = Array.from({ length }, (_, index) => `||n${index}.example^\n`);
  return new MemoryProject({
    "c.json": JSON.stringify({
      name: "L",
      sources: [{ name: "A", source: "a.txt", type: "adblock" }],
      outputs: [output],
    }),
    "a.txt": names.join(""),
  });
}

test("a list that needs more files than the limit is not published, and `fit` makes it fit", async () => {
  const limits = { for: "cloudflare-gateway", max_rules: 2 };
  const output = { format: "dnsdist", file: "l.dns", split: limits };
  for (const stable of [false, true]) {
    const split = { ...output.split, stable };
    const project = projectOf({ ...output, split }, 201);
    const { exit, stderr } = await project.run("compile", "-q", "-c", "c.json");
    assert.equal(exit, 5);
    assert.match(stderr, /rules\/l\.dns would have 101 files; .* has room for 100/);
    assert.match(stderr, /hint: Use fewer sources, or `fit: \{ max_rules: 200 \}`/);
    assert.equal(project.memory.files.has("/project/rules/l.dns"), false);
    const fitting = projectOf({ ...output, split, fit: { max_rules: 200 } }, 201);
    const done = await fitting.run("compile", "-q", "-c", "c.json");
    assert.equal(done.exit, 0, done.stderr);
    assert.match(fitting.text("rules/l-100.dns"), /^n199\.example$/m);
  }
});

test("from build to build, only the file of a changed name is written", async () => {
  const project = projectOf({
    format: "domains",
    file: "d.txt",
    split: { max_rules: 3, stable: true },
  });
  const files = ["rules/d.txt", "rules/d-2.txt", "rules/d-3.txt"];
  const compile = async (): Promise<string[]> => {
    const { exit, stderr } = await project.run("compile", "-q", "-c", "c.json");
    assert.equal(exit, 0, stderr);
    return files.map((file) => project.text(file));
  };
  const first = await compile();
  assert.match(first[1]!, /^# Number of entries: 3$/m);
  project.now = "2026-11-11T00:00:00Z";
  project.write("a.txt", project.text("a.txt").replace("n4.", "new."));
  const second = await compile();
  assert.deepEqual(
    second.map((text, index) => text === first[index]),
    [true, false, true],
  );
  assert.match(second[1]!, /^n3\.example\nn5\.example\nnew\.example$/m);
});

test("every preset has a known format, and its limits apply", async () => {
  for (const [name, limit] of Object.entries(SIZE_PRESETS)) {
    assert.ok((FORMAT_NAMES as readonly string[]).includes(limit.format), name);
    assert.match(limit.source, /^https:/);
    assert.match(limit.read, /^\d{4}-\d\d-\d\d$/);
    assert.equal(limit.size === undefined || sizeBytes(limit.size) !== undefined, true, name);
    const project = projectOf({ format: limit.format, file: "out.txt", split: { for: name } });
    const { exit, stderr } = await project.run("compile", "-q", "-c", "c.json");
    assert.equal(exit, 0, stderr);
  }
  const wrong = projectOf({ format: "hosts", split: { for: "pan-os" } });
  const { stderr } = await wrong.run("compile", "-q", "-c", "c.json");
  assert.match(stderr, /lists for PAN-OS external dynamic list have the format domains/);
  const ordered = projectOf({ format: "rpz", split: { max_rules: 2, stable: true } });
  assert.match(
    (await ordered.run("compile", "-q", "-c", "c.json")).stderr,
    /depend on their order/,
  );
});
