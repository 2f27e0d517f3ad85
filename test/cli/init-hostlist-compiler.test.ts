import assert from "node:assert/strict";
import { test } from "node:test";
import { RECOMMENDED } from "../../src/config/fields.ts";
import { MemoryProject } from "../support/memory-project.ts";
import { webOf } from "../support/web-of.ts";

const FILES = {
  "ads.txt":
    "! Title: Ads\n||ads.example^\n||tracker.example^\n||sub.good.example^\n||good.example^\n",
  "hosts.txt": "0.0.0.0 host.example\n0.0.0.0 other.example\n0.0.0.0 ads1.example\n",
  "more.txt": "||more.example^$third-party\n||less.example^\n||kept.example^\n",
  "excluded.txt": "/^\\|\\|ads/\n*tracker*\n||good.example^\n",
  "included.txt": "*kept*\n",
};

const CONFIG = {
  name: 'From: "HLC"',
  description: "All # of it",
  homepage: "https://hlc.example/",
  license: "GPL",
  version: "1.2.3",
  sources: [
    { name: "Ads", source: "ads.txt", type: "adblock", exclusions: ["Title"] },
    {
      name: "Hosts",
      source: "hosts.txt",
      type: "hosts",
      transformations: ["RemoveModifiers"],
      exclusions: ["other.example"],
    },
    {
      name: "More",
      source: "more.txt",
      inclusions: ["more"],
      inclusions_sources: ["included.txt"],
      exclusions_sources: ["excluded.txt"],
      transformations: ["RemoveModifiers", "Validate"],
    },
  ],
  transformations: ["Compress", "Deduplicate"],
  exclusions: ["ads1"],
  exclusions_sources: ["excluded.txt"],
};

/** Compiles the configuration itself and the one that is made from it. */
async function bothOf(
  config: object,
  to = "new.yaml",
): Promise<{ project: MemoryProject; original: string; imported: string }> {
  const project = new MemoryProject({ ...FILES, "hlc.json": JSON.stringify(config) });
  const list = async (file: string, into: string): Promise<string> => {
    const { exit, stderr } = await project.run("-c", file, "-o", into);
    assert.equal(exit, 0, stderr);
    return project.text(into);
  };
  const original = await list("hlc.json", "original.txt");
  const made = await project.run("init", "--from", "hlc.json", to);
  assert.equal(made.exit, 0, made.stderr);
  assert.doesNotMatch(made.stderr, /ignored|Not imported|commented/);
  return { project, original, imported: await list(to, "imported.txt") };
}

test("a configuration of HostlistCompiler compiles to the same list after an import", async () => {
  const { original, imported } = await bothOf(CONFIG);
  assert.equal(imported, original);
  assert.match(original, /\|\|sub\.good\.example\^/);
  assert.match(original, /more\.example[^]*kept\.example/);
  assert.doesNotMatch(original, /ads\.example|tracker|other|ads1|less|third-party/);
});

test("its files are found from a configuration in another folder", async () => {
  const { project, original, imported } = await bothOf(CONFIG, "conf/new.yaml");
  assert.equal(imported.replaceAll("Source: ../", "Source: "), original);
  assert.match(project.text("conf/new.yaml"), /exclusions_sources:\n +- "\.\.\/excluded\.txt"/);
});

test("a configuration without transformations gets none", async () => {
  const { transformations: _none, ...rest } = CONFIG;
  const { original, imported } = await bothOf(rest);
  assert.equal(imported, original);
  const [source] = CONFIG.sources;
  const { project } = await bothOf({ name: "Bare", sources: [source] });
  assert.doesNotMatch(project.text("new.yaml"), /transformations/);
});

test("sources that are strings are imported", async () => {
  const { original, imported } = await bothOf({
    ...CONFIG,
    sources: ["ads.txt", CONFIG.sources[1], "more.txt"],
  });
  const [before, after] = [original, imported].map((list) => list.replaceAll(/^!.*\n/gm, ""));
  assert.equal(after, before);
  assert.match(imported, /sub\.good[^]*host[^]*kept/);
});

test("recommended is a word for its transformations, and stays one after an import", async () => {
  const [source] = CONFIG.sources;
  const config = { name: "Bare", sources: [source], transformations: "recommended" };
  const { project, original, imported } = await bothOf(config);
  assert.equal(imported, original);
  assert.match(project.text("new.yaml"), /^transformations: recommended # TrimLines, /m);
  const { original: spelled } = await bothOf({ ...config, transformations: RECOMMENDED });
  assert.equal(original, spelled);
  assert.match(
    (await project.run("validate", "-c", "hlc.json")).stderr,
    /transformations: TrimLines, RemoveComments, Compress, Validate, Deduplicate, RemoveEmptyLines, InsertFinalNewLine\n/,
  );
});

test("the name of the list is imported, unless another is given", async () => {
  const project = new MemoryProject({ ...FILES, "hlc.json": JSON.stringify(CONFIG) });
  const words = ["init", "--from", "hlc.json"];
  assert.equal((await project.run(...words, "--name", "Mine", "mine.yaml")).exit, 0);
  assert.match(project.text("mine.yaml"), /^name: "Mine"$/m);
  assert.equal((await project.run(...words, "other.yaml")).exit, 0);
  assert.match(project.text("other.yaml"), /^name: "From: \\"HLC\\""$/m);
});

test("files of exclusions are requested like lists", async () => {
  const lan = "http://192.168.1.5/excluded.txt";
  const gone = "https://lists.example/gone.txt";
  const config = {
    ...CONFIG,
    sources: [{ ...CONFIG.sources[0], exclusions_sources: [gone] }],
    exclusions_sources: [lan, gone],
  };
  const web = webOf({ [lan]: FILES["excluded.txt"] });
  const project = new MemoryProject({ ...FILES, "hlc.json": JSON.stringify(config) }, web);
  const audited = await project.run("audit", "hlc.json");
  assert.equal(audited.exit, 0, audited.stderr);
  const made = await project.run("init", "--from", "hlc.json", "new.yaml");
  assert.equal(made.exit, 0, made.stderr);
  assert.equal(made.stderr.match(/commented out: lists\.example gone\.txt: /g)?.length, 2);
  const compiled = await project.run("-c", "new.yaml", "-o", "new.txt");
  assert.equal(compiled.exit, 0, `${project.text("new.yaml")}\n${compiled.stderr}`);
  assert.doesNotMatch(project.text("new.txt"), /tracker/);
});

test("what only a plugin knows is not imported, and init says so", async () => {
  const config = {
    ...CONFIG,
    transformations: ["Compress", "MyOwn"],
    plugins: ["./my.js"],
    guards: { min_rules: 0 },
  };
  const project = new MemoryProject({ ...FILES, "own.json": JSON.stringify(config) });
  assert.equal((await project.run("audit", "own.json")).exit, 0);
  const made = await project.run("init", "--from", "own.json", "new.yaml");
  assert.equal(made.exit, 0, made.stderr);
  assert.match(made.stderr, /Not imported: plugins, guards, MyOwn\. To use them, compile/);
  assert.equal((await project.run("-c", "new.yaml")).exit, 0);
});
