import type { Manifest } from "../../src/documents/facts.ts";
import assert from "node:assert/strict";
import { test } from "node:test";
import { MemoryProject } from "../support/memory-project.ts";
import { minisignKeys } from "../support/minisign-keys.ts";

const KEYS = minisignKeys();
const LISTS = [
  { name: "Light", sources: ["A"] },
  { name: "Pro", covers: ["Light"], outputs: [{ format: "hosts", pack: ["gzip"] }] },
  { name: "Pro plus", title: "Pro++", covers: ["Pro"], outputs: [{ format: "rpz" }] },
];

function project(more: object = {}): MemoryProject {
  const config = {
    name: "Tiers",
    sources: [
      { name: "A", source: "a.txt", type: "adblock" },
      { name: "B", source: "b.txt", type: "adblock" },
    ],
    manifest: { key_file: "minisign.key" },
    lists: LISTS,
    combined: [{ format: "cdb", file: "all.cdb" }],
    ...more,
  };
  const files = {
    "c.json": JSON.stringify(config),
    "a.txt": "||a.example^\n",
    "b.txt": "||b.example^\n",
  };
  return new MemoryProject({
    ...files,
    "minisign.key": KEYS.secret,
    "minisign.pub": KEYS.publicKey,
  });
}

function manifestOf(one: MemoryProject): Manifest {
  return JSON.parse(one.text("rules/manifest.json")) as Manifest;
}

/** The files of the release, apart from the manifest, as subscribers get them. */
const FILES = [
  "all.cdb",
  "all.cdb.lua",
  "light.txt",
  "pro-plus.rpz",
  "pro-plus.txt",
  "pro.hosts",
  "pro.hosts.gz",
  "pro.txt",
];

async function verified(one: MemoryProject): Promise<void> {
  const said = await one.run("verify", "rules/manifest.json", "--key", "minisign.pub");
  assert.equal(said.exit, 0, said.stderr);
}

test("several lists are one release: one manifest with one version and signature", async () => {
  const one = project();
  const first = await one.run("-c", "c.json");
  assert.equal(first.exit, 0, first.stderr);
  assert.match(first.stderr, /written rules\/manifest\.json: of all lists/);
  const { name, version, files } = manifestOf(one);
  assert.equal(name, "Tiers");
  assert.deepEqual(
    files.map(({ file }) => file).toSorted(),
    FILES.filter((file) => one.memory.files.has(`/project/rules/${file}`)),
  );
  assert.ok(files.length >= 6);
  await verified(one);
  assert.match(one.text("rules/pro-plus.txt"), /^! Title: Pro\+\+$/m);

  one.now = "2026-11-10T01:00:00Z";
  await one.run("-c", "c.json");
  assert.equal(manifestOf(one).version, version, "nothing changed");
  one.write("b.txt", "||b.example^\n||c.example^\n");
  assert.equal((await one.run("-c", "c.json")).exit, 0);
  assert.ok(manifestOf(one).version > version);
  await verified(one);
  one.now = "2026-11-20T01:00:00Z";
  const later = manifestOf(one).version;
  await one.run("-c", "c.json");
  assert.ok(manifestOf(one).version > later, "half of its time has passed");
});

test("a list that is refused stays in the release as it is published", async () => {
  const one = project();
  await one.run("-c", "c.json");
  one.write("a.txt", "||a.example^\n||d.example^\n");
  one.write("b.txt", "||com^\n");
  const said = await one.run("-c", "c.json");
  assert.equal(said.exit, 5, said.stderr);
  assert.match(one.text("rules/light.txt"), /d\.example/);
  assert.doesNotMatch(one.text("rules/pro.txt"), /d\.example/);
  await verified(one);
});

test("one plan, one apply and a rollback keep the release whole", async () => {
  const one = project();
  await one.run("-c", "c.json");
  const { version } = manifestOf(one);
  one.write("a.txt", "||a.example^\n||e.example^\n");
  one.now = "2026-11-10T02:00:00Z";
  const plan = await one.run("plan", "-c", "c.json", "--save", "tiers.plan");
  assert.equal(plan.exit, 0, plan.stderr);
  assert.match(plan.stdout, /rules\/manifest\.json/, "the plan shows the manifest");
  assert.equal(manifestOf(one).version, version, "a plan publishes nothing");
  one.write("a.txt", "||later.example^\n");
  const applied = await one.run("apply", "tiers.plan");
  assert.equal(applied.exit, 0, applied.stderr);
  for (const file of ["light", "pro", "pro-plus"])
    assert.match(one.text(`rules/${file}.txt`), /e\.example/);
  const next = manifestOf(one).version;
  assert.ok(next > version);
  await verified(one);
  one.now = "2026-11-10T03:00:00Z";
  const back = await one.run("rollback", "-c", "c.json", "--filter", "Light");
  assert.equal(back.exit, 0, back.stderr);
  assert.ok(manifestOf(one).version > next);
  await verified(one);
});

test("with a name in its file, each list has a manifest of its own", async () => {
  const one = project({ manifest: { file: "{slug}.manifest.json" } });
  assert.equal((await one.run("-c", "c.json")).exit, 0);
  assert.match(one.text("rules/pro.manifest.json"), /"name": "Pro"/);
  assert.ok(!one.memory.files.has("/project/rules/manifest.json"));
});
