import assert from "node:assert/strict";
import process from "node:process";
import { test } from "node:test";
import { gunzipSync } from "node:zlib";
import { run } from "../../src/cli/main.ts";
import { type MemoryHost, memoryHost } from "../support/internals.ts";
import { packingHost } from "../support/packing-host.ts";
import { isNightly } from "../support/nightly.ts";
import { Random, seedFrom } from "../support/random.ts";
import { randomList } from "../support/random-list.ts";

const SEQUENCES = isNightly ? 500 : 12;
/** A record ends with the length of its header. */
const LENGTH_BYTES = 4;
const NOW = new Date("2026-11-10T00:00:00Z");
const OPTIONS = ["-c", "c.json", "--no-cache"];
const SOURCES = ["a.txt", "b.txt", "c.txt", "d.txt"];
/** Validation belongs to one level. */
const OWN_STEPS = ["RemoveComments", "Compress", "Deduplicate"];
const STEPS = ["RemoveComments", "Compress", "Validate", "Deduplicate", "RemoveEmptyLines"];

function randomConfig(random: Random): string {
  const sources = SOURCES.map((source) => ({
    name: source,
    source,
    type: random.pick(["adblock", "hosts"]),
    required: random.chance(0.5),
    ...(random.chance(0.2) && { trust: random.pick(["full", "standard", "block-only"]) }),
    ...(random.chance(0.2) && { transformations: [random.pick(OWN_STEPS)] }),
  }));
  return JSON.stringify({
    name: "L",
    sources,
    transformations: STEPS.filter(() => random.chance(0.7)),
    ...(random.chance(0.5) && { outputs: [{ format: "hosts" }, { format: "rpz" }] }),
    ...(random.chance(0.3) && {
      lists: [
        { name: "First", sources: SOURCES.slice(0, 3) },
        { name: "Second", sources: SOURCES.slice(1) },
      ],
    }),
  });
}

/** Changes a file as an editor would, or the configuration. */
function edit(files: MemoryHost["files"], random: Random): void {
  if (random.chance(0.1)) {
    files.set("/project/c.json", new TextEncoder().encode(randomConfig(random)));
    return;
  }
  const path = `/project/${random.pick(SOURCES)}`;
  const text = new TextDecoder().decode(files.get(path) ?? new Uint8Array(0));
  const lines = text.split("\n");
  const at = random.below(lines.length);
  const changes = [
    () => `${text}\n${randomList(random)}`,
    () => lines.toSpliced(at, 1).join("\n"),
    () => lines.toSpliced(at, 0, `||new-${random.below(100)}.example^`).join("\n"),
    () => randomList(random),
    () => text,
    () => "",
  ];
  if (random.chance(0.05)) files.delete(path);
  else files.set(path, new TextEncoder().encode(random.pick(changes)()));
}

/** What is in the files that a build publishes, and the fate of every line, by path. */
function published(files: MemoryHost["files"]): Record<string, string> {
  const lists = [...files].filter(([path]) => path.startsWith("/project/rules/"));
  const visible = lists
    .filter(([path]) => !path.includes("/."))
    .map(([path, bytes]) => [path, new TextDecoder().decode(bytes)]);
  return { ...(Object.fromEntries(visible) as Record<string, string>), ...recorded(files) };
}

/** The records of builds, without their headers, which have times. */
function recorded(files: MemoryHost["files"]): Record<string, string> {
  const records = [...files].filter(([path]) => path.endsWith(".record.gz"));
  return Object.fromEntries(
    records.map(([path, packed]) => {
      const bytes = gunzipSync(packed);
      const header = bytes.readUInt32LE(bytes.length - LENGTH_BYTES);
      return [path, bytes.subarray(0, bytes.length - LENGTH_BYTES - header).toString("hex")];
    }),
  );
}

/** What a build of these files publishes that has not seen any before. */
async function fresh(files: MemoryHost["files"]): Promise<Record<string, string>> {
  const memory = memoryHost({ files: {} });
  for (const [path, bytes] of files) memory.files.set(path, bytes.slice());
  const signal = new AbortController().signal;
  await run(["compile", ...OPTIONS], { ...packingHost(memory), now: () => NOW }, signal);
  return published(memory.files);
}

test("after any edits, watch publishes the bytes of a fresh build", async () => {
  const seed = seedFrom(process.env["FUZZ_SEED"]);
  let builds = 0;
  let changes = 0;
  for (let sequence = 0; sequence < SEQUENCES; sequence++) {
    const random = new Random(seed + sequence);
    const texts = SOURCES.map((source) => [source, randomList(random)]);
    const memory = memoryHost({
      files: { "c.json": randomConfig(random), ...Object.fromEntries(texts) },
    });
    const { files } = memory;
    let expected = await fresh(files);
    const stop = new AbortController();
    let left = 2 + random.below(4);
    const wait = async (ms: number): Promise<void> => {
      if (ms < 100) return;
      const now = published(files);
      assert.deepEqual(now, expected, `seed ${seed + sequence}\n${memory.output.stderr}`);
      builds++;
      if (left-- === 0) {
        stop.abort("SIGINT");
        return;
      }
      for (let edits = 1 + random.below(2); edits > 0; edits--) edit(files, random);
      expected = await fresh(files);
      if (JSON.stringify(now) !== JSON.stringify(expected)) changes++;
    };
    const host = { ...packingHost(memory), now: () => NOW, wait };
    const exit = await run(["watch", ...OPTIONS], host, stop.signal);
    assert.equal(exit, 0, memory.output.stderr);
  }
  assert.ok(builds > SEQUENCES * 3, "there were edits");
  assert.ok(changes > builds / 4, `${changes} of ${builds} builds changed a file`);
});
