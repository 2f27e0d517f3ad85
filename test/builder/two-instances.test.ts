import assert from "node:assert/strict";
import { test } from "node:test";
import { MemoryProject } from "../support/memory-project.ts";

const CONFIG = {
  name: "List",
  sources: [{ name: "Own", source: "own.txt", type: "adblock" }],
  outputs: [{ format: "rpz" }, { format: "hosts" }],
  patches: "7d",
  manifest: {},
  resolvers: ["192.0.2.1"],
  guards: { max_shrink: 100 },
};

function listOf(number: number): string {
  return Array.from({ length: 20 }, (_, index) => `||n${number + index}.example.org^\n`).join("");
}

function project(env: Record<string, string> = {}): MemoryProject {
  return new MemoryProject({ "c.json": JSON.stringify(CONFIG), "own.txt": listOf(0) }, { env });
}

async function publish(one: MemoryProject, number: number, now: string): Promise<void> {
  one.write("own.txt", listOf(number));
  one.now = now;
  const said = await one.run("-c", "c.json", "--no-cache");
  assert.equal(said.exit, 0, said.stderr);
}

/** What subscribers and secondaries get, by its path. */
function published({ memory }: MemoryProject): [string, string][] {
  return [...memory.files]
    .filter(([path]) => path.startsWith("/project/rules/") && !path.includes(".rules-compiler"))
    .map(([path, bytes]): [string, string] => [path, new TextDecoder().decode(bytes)])
    .toSorted(([a], [b]) => (a < b ? -1 : 1));
}

function serialOf(one: MemoryProject): number {
  return Number(/SOA \S+ \S+ (?<serial>\d+)/.exec(one.text("rules/list.rpz"))!.groups!["serial"]);
}

const HOURS = ["00", "01", "02", "03"].map((hour) => `2026-11-10T${hour}:00:00Z`);

test("two instances with the same inputs and date publish the same bytes, serials and paths, also without their state", async () => {
  const env: Record<string, string> = {};
  const [one, other] = [project(env), project(env)];
  for (const [number, now] of HOURS.entries()) {
    // Cron starts both in the same hour; their clocks and speeds differ.
    env["SOURCE_DATE_EPOCH"] = String(Date.parse(now) / 1000);
    await publish(one, number, now.replace("00:00Z", `00:0${number}Z`));
    // The other one has lost what it knew before the third publish.
    if (number === 2)
      for (const path of other.memory.files.keys())
        if (path.includes(".rules-compiler")) other.memory.files.delete(path);
    await publish(other, number, now.replace("00:00Z", "07:31Z"));
    assert.deepEqual(published(other), published(one), `publish ${number}`);
  }
  const paths = published(one).map(([path]) => path);
  assert.ok(
    paths.some((path) => path.endsWith(".patch")),
    paths.join(),
  );
  assert.match(one.text("rules/list.rpz"), /SOA localhost/);
});

test("a backup that is restored goes on as if nothing had happened", async () => {
  const one = project();
  for (const [number, now] of HOURS.slice(0, 3).entries()) await publish(one, number, now);
  const held = await one.run("hold", "-c", "c.json", "@1");
  assert.equal(held.exit, 0, held.stderr);
  const backup = new Map(one.memory.files);

  // Another machine gets the configuration and the rules directory, with its state.
  const restored = project();
  restored.memory.files.clear();
  for (const [path, bytes] of backup) restored.memory.files.set(path, bytes);
  for (const both of [one, restored]) {
    both.now = "2026-11-10T04:00:00Z";
    const kept = await both.run("-c", "c.json", "--no-cache");
    assert.equal(kept.exit, 0, kept.stderr);
    assert.match(kept.stderr, /held/);
    assert.equal((await both.run("hold", "-c", "c.json", "--end")).exit, 0);
  }
  await publish(one, 7, "2026-11-10T05:00:00Z");
  await publish(restored, 7, "2026-11-10T05:00:00Z");
  assert.deepEqual(published(restored), published(one));
  for (const words of [["log"], ["why", "n9.example.org"], ["verify", "rules/manifest.json"]]) {
    const where = words[0] === "verify" ? [] : ["-c", "c.json"];
    const [said, again] = [
      await one.run(...words, ...where),
      await restored.run(...words, ...where),
    ];
    assert.equal(again.exit, 0, again.stderr);
    assert.deepEqual(again, said, words[0]);
  }
  const back = await restored.run("rollback", "-c", "c.json");
  assert.equal(back.exit, 0, back.stderr);

  // A backup that is older than what secondaries have: the serial still rises.
  const late = project();
  late.memory.files.clear();
  for (const [path, bytes] of backup) late.memory.files.set(path, bytes);
  await late.run("hold", "-c", "c.json", "--end");
  await publish(late, 8, "2026-11-10T06:00:00Z");
  assert.ok(serialOf(late) > serialOf(one), `${serialOf(late)} ${serialOf(one)}`);
});
