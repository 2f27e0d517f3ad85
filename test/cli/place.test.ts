import assert from "node:assert/strict";
import { test } from "node:test";
import { run } from "../../src/cli/main.ts";
import { type MemoryHost, memoryHost } from "../support/internals.ts";
import { packingHost } from "../support/packing-host.ts";

const CONFIG = "name: My list\nsources: [{ name: a, source: a.txt, type: adblock }]\n";
const FILES = {
  "/srv/home/my-list.yaml": CONFIG,
  "/srv/home/a.txt": "||a.example^\n",
  "/etc/fstab": "",
};

/** Runs that share their files, each in a folder of its own. */
class Machine {
  readonly host: MemoryHost = memoryHost({ files: FILES });

  async run(
    cwd: string,
    words: string,
    env: Readonly<Record<string, string>> = {},
  ): Promise<{ exit: number; stderr: string }> {
    const { host } = this;
    host.output.stdout = host.output.stderr = "";
    const there = { ...packingHost(host), cwd, env, cacheDir: () => "/cache" };
    const exit = await run(words.split(" "), there, new AbortController().signal);
    return { exit, stderr: host.output.stderr };
  }

  has(path: string): boolean {
    return this.host.files.has(path);
  }

  warnings(stderr: string): string[] {
    return stderr.match(/warning\[other-place\].*/g) ?? [];
  }
}

const BOTH =
  /My list was last published as \/srv\/home\/rules\/my-list\.txt; this run writes \/rules\/my-list\.txt/;

test("a run that writes elsewhere than the last one says so once, also with -q, and uses the working directory", async () => {
  for (const quiet of ["", "-q "]) {
    const machine = new Machine();
    const home = await machine.run("/srv/home", `${quiet}-c my-list.yaml`);
    assert.equal(home.exit, 0, home.stderr);
    assert.deepEqual(machine.warnings(home.stderr), []);
    const root = await machine.run("/", `${quiet}-c srv/home/my-list.yaml`);
    assert.equal(root.exit, 0, root.stderr);
    assert.equal(machine.warnings(root.stderr).length, 1, root.stderr);
    assert.match(root.stderr, BOTH);
    assert.match(root.stderr, /hint: .*RULES_DIR=\/srv\/home\/rules/);
    assert.ok(machine.has("/rules/my-list.txt"), "the last place is shown, and never used");
    const again = await machine.run("/", `${quiet}-c srv/home/my-list.yaml`);
    assert.deepEqual(machine.warnings(again.stderr), [], "once");
  }
});

test("a place that the user chose is not questioned, and is the last one", async () => {
  const words = "-q -c /srv/home/my-list.yaml";
  const machine = new Machine();
  await machine.run("/srv/home", words);
  for (const [more, env] of [
    ["", { RULES_DIR: "/var/lists" }],
    [" -o /var/out.txt", {}],
    [" -o /var/out/", {}],
    [" -o -", {}],
  ] as const) {
    const chosen = await machine.run("/", `${words}${more}`, env);
    assert.equal(chosen.exit, 0, chosen.stderr);
    assert.deepEqual(machine.warnings(chosen.stderr), []);
  }
  const plain = await machine.run("/", words);
  assert.match(plain.stderr, /last published as \/var\/out\/my-list\.txt/);
});

test("a folder that was moved, and a lost cache, are no other place", async () => {
  const machine = new Machine();
  const { files } = machine.host;
  await machine.run("/srv/home", "-q -c my-list.yaml");
  for (const [path, bytes] of new Map(files))
    if (path.startsWith("/srv/home/")) {
      files.set(path.replace("/srv/home", "/mnt/new"), bytes);
      files.delete(path);
    }
  const moved = await machine.run("/mnt/new", "-q -c my-list.yaml");
  assert.equal(moved.exit, 0, moved.stderr);
  assert.equal(moved.stderr, "");
  for (const path of new Map(files).keys()) if (path.startsWith("/cache/")) files.delete(path);
  const other = await machine.run("/", "-q -c /mnt/new/my-list.yaml");
  assert.deepEqual(machine.warnings(other.stderr), []);
});

test("the absolute path is printed if the configuration is in another folder", async () => {
  const machine = new Machine();
  const beside = await machine.run("/srv/home", "-c my-list.yaml");
  assert.match(beside.stderr, /written rules\/my-list\.txt:/);
  const elsewhere = await machine.run("/srv", "-c home/my-list.yaml");
  assert.match(elsewhere.stderr, /written \/srv\/rules\/my-list\.txt:/);
  const chosen = await machine.run("/srv", "-c home/my-list.yaml", { RULES_DIR: "lists" });
  assert.match(chosen.stderr, /written lists\/my-list\.txt:/);
});

test("Git ignores the folder of records, except what a fresh clone compares with", async () => {
  const machine = new Machine();
  const { files } = machine.host;
  await machine.run("/srv/home", "-q -c my-list.yaml");
  const path = "/srv/home/rules/.rules-compiler/.gitignore";
  assert.equal(new TextDecoder().decode(files.get(path)), "*\n!*.txt.json\n");
  files.set(path, new TextEncoder().encode("# mine\n"));
  files.set("/srv/home/a.txt", new TextEncoder().encode("||b.example^\n"));
  await machine.run("/srv/home", "-q -c my-list.yaml --accept names-lost");
  assert.equal(new TextDecoder().decode(files.get(path)), "# mine\n", "a file of the user stays");
});

const REMOTE = `name: My list
sources:
  - { name: a, source: a.txt, type: adblock }
  - { name: b, source: "https://lists.example/b.txt", type: adblock }
outputs: [{ format: rpz }, { format: pihole }]
`;

test("an unchanged run changes no file but in the cache; without a cache, it only keeps its record", async () => {
  const names = Array.from({ length: 300 }, (_, index) => `||n${index}.example^`).join("\n");
  const host = memoryHost({
    files: { "c.yaml": REMOTE, "a.txt": "||a.example^\n" },
    web: { "https://lists.example/b.txt": names },
  });
  const { files } = host;
  let day = 1;
  const once = async (...words: string[]): Promise<string> => {
    host.output.stderr = "";
    day++;
    const now = (): Date => new Date(Date.UTC(2026, 10, day));
    const later = { ...packingHost(host), now, cacheDir: () => "/cache" };
    assert.equal(await run(["-c", "c.yaml", ...words], later, new AbortController().signal), 0);
    return host.output.stderr;
  };
  /** A file that is written again has other bytes in memory, even if they are equal. */
  const changed = (before: ReadonlyMap<string, Uint8Array>): string[] =>
    [...new Set([...before.keys(), ...files.keys()])].filter(
      (path) => !path.startsWith("/cache/") && before.get(path) !== files.get(path),
    );
  await once();
  await once();
  const before = new Map(files);
  assert.match(await once(), /unchanged rules\/my-list\.txt/);
  assert.deepEqual(changed(before), []);
  assert.match(await once("--no-cache"), /unchanged rules\/my-list\.txt/);
  for (const path of changed(before)) assert.match(path, /\.(?:record|draft)\.(?:zst|gz)$/);
});
