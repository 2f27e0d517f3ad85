import assert from "node:assert/strict";
import { test } from "node:test";
import { run } from "../../src/cli/main.ts";
import { Exit } from "../../src/diagnostics/codes.ts";
import { type MemoryHost, type MemoryHostOptions, memoryHost } from "../support/internals.ts";
import { packingHost } from "../support/packing-host.ts";

const HOSTS = "0.0.0.0 ads.example.com\n";

async function cli(
  words: string,
  options: MemoryHostOptions,
): Promise<{ exit: Exit; host: MemoryHost; stdout: string; stderr: string }> {
  const host = memoryHost({ now: new Date("2026-01-02T03:04:05Z"), ...options });
  const argv = words === "" ? [] : words.split(" ");
  const exit = await run(argv, packingHost(host), new AbortController().signal);
  return { exit, host, ...host.output };
}

function configNamed(name: string): string {
  // JSON is YAML too.
  return JSON.stringify({ name, sources: [{ name: "a", source: "hosts.txt", type: "hosts" }] });
}

const NAMES = [
  "compiler-config.json",
  "compiler-config.jsonc",
  "compiler-config.yaml",
  "compiler-config.yml",
  "rules-compiler.yaml",
  "rules-compiler.yml",
  "rules-compiler.json",
  "rules-compiler.jsonc",
];

test("without -c the first of the default names is read, and a note names the choice", async () => {
  for (const [index, name] of NAMES.entries()) {
    const there = NAMES.slice(index);
    const configs = Object.fromEntries(there.map((one) => [one, configNamed(one)]));
    const { exit, stderr } = await cli("validate", { files: { ...configs, "hosts.txt": HOSTS } });
    assert.equal(exit, Exit.Done, stderr);
    assert.match(stderr, new RegExp(`valid: "${name}" with 1 source`));
    const notes = stderr.match(/note\[several-configurations\]: .*/g) ?? [];
    assert.equal(notes.length, there.length > 1 ? 1 : 0);
    if (there.length > 1)
      assert.match(notes[0]!, new RegExp(`${there.length} configuration files; using ${name}$`));
  }
});

test("-c and CONFIG_PATH name the configuration, and nothing else is looked for", async () => {
  const files = {
    "compiler-config.json": configNamed("default"),
    "rules-compiler.yaml": configNamed("other default"),
    "mine.json": configNamed("mine"),
    "hosts.txt": HOSTS,
  };
  for (const [words, env] of [
    ["validate -c mine.json", {}],
    ["validate", { CONFIG_PATH: "mine.json" }],
  ] as const) {
    const { stderr } = await cli(words, { files, env });
    assert.match(stderr, /valid: "mine"/);
    assert.doesNotMatch(stderr, /note/);
  }
  const missing = await cli("validate", { files, env: { CONFIG_PATH: "gone.json" } });
  assert.equal(missing.exit, Exit.Usage);
  assert.match(missing.stderr, /Configuration file not found: gone\.json/);
});

test("-c and CONFIG_PATH may name a folder, and the first of the default names in it is read", async () => {
  const files = { "lists/compiler-config.yaml": configNamed("there"), "lists/hosts.txt": HOSTS };
  for (const [words, env] of [
    ["compile -c lists", {}],
    ["compile -c /project/lists/", {}],
    ["compile", { CONFIG_PATH: "lists" }],
  ] as const) {
    const { exit, host, stderr } = await cli(words, { files, env });
    assert.equal(exit, Exit.Done, stderr);
    assert.ok(host.files.has("/project/rules/there.txt"));
    assert.doesNotMatch(stderr, /note/);
  }
  const more = { ...files, "lists/rules-compiler.yaml": configNamed("second") };
  const several = await cli("validate -c lists", { files: more });
  assert.match(several.stderr, /2 configuration files; using lists\/compiler-config\.yaml\n/);
  const none = await cli("-c lists", { files: { "lists/hosts.txt": HOSTS } });
  assert.equal(none.exit, Exit.Usage);
  assert.match(none.stderr, /Configuration file not found: lists\/compiler-config\.json\n/);
});

test("the only file with sources is the configuration, under any name", async () => {
  const others = {
    "package.json": '{ "name": "x" }',
    "docker-compose.yaml": "services: {}\n",
    "notes.txt": "sources: []\n",
    ".hidden.yaml": "sources: []\n",
    "hosts.txt": HOSTS,
  };
  for (const [name, text] of [
    ["my-list.yaml", "name: Mine\nsources:\n  - { name: a, source: hosts.txt, type: hosts }\n"],
    ["my-list.json", configNamed("Mine")],
    ["configuration.jsonc", `// a comment\n${configNamed("Mine")}`],
  ] as const) {
    const files = { ...others, [name]: text };
    for (const words of ["", "plan", "validate", "-c ."]) {
      const { exit, stderr } = await cli(words, { files });
      assert.equal(exit, Exit.Done, `${name}, ${words}: ${stderr}`);
    }
    const folder = Object.fromEntries(
      Object.entries(files).map(([file, content]) => [`there/${file}`, content]),
    );
    for (const env of [{ CONFIG_PATH: "there" }, { CONFIG_PATH: "/project/there/" }])
      assert.equal((await cli("", { files: folder, env })).exit, Exit.Done);
  }
  const found = { ...others, "a.yaml": "name: A\nsources: [{ source: hosts.txt }]\n" };
  const named = { ...found, "compiler-config.yml": configNamed("Default") };
  assert.match((await cli("validate", { files: named })).stderr, /valid: "Default"/);
  const two = await cli("", { files: { ...found, "b.json": configNamed("B") } });
  assert.equal(two.exit, Exit.Usage);
  assert.match(two.stderr, /error\[config-not-found\]: Configuration file not found/);
  assert.match(two.stderr, /2 files have sources: a\.yaml, b\.json\. Select one with -c/);
});

test("what init writes is what every command finds", async () => {
  const { exit, host, stderr } = await cli("init -i hosts.txt -t hosts", {
    files: { "hosts.txt": HOSTS },
  });
  assert.equal(exit, Exit.Done, stderr);
  assert.match(stderr, /written compiler-config\.yaml/);
  assert.match(stderr, /compile it: rules-compiler\n/);
  const files = Object.fromEntries(host.files);
  const compiled = await cli("", { files });
  assert.equal(compiled.exit, Exit.Done, compiled.stderr);
  assert.match(compiled.stderr, /written rules\/my-list\.txt/);
  const all = Object.fromEntries(compiled.host.files);
  for (const words of ["validate", "plan", "why ads.example.com", "stats", "log", "stats --html"])
    assert.equal((await cli(words, { files: all })).exit, Exit.Done, words);
});

test("init does not write a second default configuration, which would never be read", async () => {
  const files = { "hosts.txt": HOSTS, "compiler-config.json": configNamed("a") };
  const { exit, stderr } = await cli("init -i hosts.txt", { files });
  assert.equal(exit, Exit.Usage);
  assert.match(stderr, /error\[file-exists\]: compiler-config\.json already exists/);
  const named = await cli("init -i hosts.txt home.yaml", { files });
  assert.equal(named.exit, Exit.Done, named.stderr);
  assert.match(named.stderr, /compile it: rules-compiler -c home\.yaml\n/);
});

test("without a configuration, the program shows how to begin", async () => {
  for (const words of ["", "compile", "-d"]) {
    const { exit, stdout, stderr } = await cli(words, { files: {} });
    assert.equal(exit, Exit.Usage);
    assert.equal(stdout, "");
    assert.match(stderr, /Configuration file not found: compiler-config\.json/);
    assert.match(stderr, /\n +rules-compiler init --from /);
    assert.match(stderr, /\n +rules-compiler URL -o FILE /);
    assert.match(stderr, /\n +rules-compiler -h /);
    assert.ok(stderr.split("\n").length <= 12, stderr);
  }
  const json = await cli("--json", { files: {} });
  assert.equal((JSON.parse(json.stderr) as { code: string }).code, "config-not-found");
  const quiet = await cli("-q", { files: {} });
  assert.doesNotMatch(quiet.stderr, /init --from/);
  assert.match(quiet.stderr, /Configuration file not found/);
});

test("other commands without a configuration say how to get one", async () => {
  for (const words of ["validate", "plan", "why a.example", "stats"]) {
    const { exit, stderr } = await cli(words, { files: {} });
    assert.equal(exit, Exit.Usage, words);
    assert.match(stderr, /Configuration file not found: compiler-config\.json/);
    assert.match(stderr, /init/);
  }
});
