import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import process from "node:process";
import { type TestContext, test } from "node:test";
import { FORMAT_NAMES } from "../../src/config/outputs.ts";
import { type Config, build, compile, context, openBuild } from "../../src/index.ts";
import { Random } from "../support/random.ts";

function folderOf(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), "in-memory-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

const SOURCES: Config["sources"] = [{ name: "A", type: "adblock", source: "a.txt" }];
const LIST = [
  "||one.example^",
  "@@||good.one.example^",
  "|two.example^",
  "||*.three.example^",
  "/^four[0-9]+\\.example$/",
  "||five.example^$important",
  "@@||five.example^",
  "||six.example^$dnstype=A",
  "0.0.0.0 seven.example",
  "||xn--bcher-kva.example^",
].join("\n");

test("compile returns the files of outputs as build publishes them", async (t) => {
  const folder = folderOf(t);
  process.env["SOURCE_DATE_EPOCH"] = "1700000000";
  t.after(() => delete process.env["SOURCE_DATE_EPOCH"]);
  const outputs = [
    ...FORMAT_NAMES.map((format) => ({ format })),
    { format: "domains" as const, file: "parts.txt", split: { max_names: 2 } },
  ];
  const files = { "a.txt": `${LIST}\n` };
  const config: Config = { name: "L", sources: SOURCES, outputs, transformations: ["Compress"] };
  const rulesDir = join(folder, "rules");
  const { lists } = await build({ config, files, rulesDir, cacheDir: false });
  const expected = lists[0]!.outputs
    .filter(({ format }) => format !== undefined)
    .flatMap(({ file, files: all = [file] }) => all);
  const compiled = await compile(config, { files });
  t.after(() => compiled.close());
  assert.ok(expected.length > FORMAT_NAMES.length, "some have several files");
  assert.deepEqual(
    compiled.outputs.map(({ file }) => file),
    expected.map((file) => basename(file)),
  );
  for (const [index, { bytes }] of compiled.outputs.entries())
    assert.ok(readFileSync(expected[index]!).equals(bytes), expected[index]);
});

test("a list in memory answers as the published one", async (t) => {
  const folder = folderOf(t);
  const random = new Random(7);
  const more = Array.from(
    { length: 3000 },
    () => `||n${random.below(2000)}.e${random.below(9)}.net^`,
  );
  const files = { "a.txt": `${LIST}\n${more.join("\n")}\n` };
  const config: Config = { name: "L", sources: SOURCES, transformations: ["Compress"] };
  await build({ config, files, rulesDir: folder, cacheDir: false });
  const published = await openBuild(join(folder, "l.txt"), { cacheDir: false });
  const compiled = await compile(config, { files });
  t.after(() => compiled.close());
  const names = [
    ..."one good.one a.good.one two a.two three a.three four12 fourx five six seven a.seven xn--bcher-kva"
      .split(" ")
      .map((name) => `${name}.example`),
    ...Array.from({ length: 300 }, () => `w.n${random.below(4000)}.e${random.below(9)}.net`),
  ];
  const seen = new Set<string>();
  for (const { name, verdict, rule } of await published.why(...names)) {
    assert.equal(compiled.isBlocked(name), verdict === "blocked", `${name} ${verdict}`);
    const [own] = await compiled.why(name);
    assert.deepEqual([own!.verdict, own!.rule], [verdict, rule], name);
    seen.add(verdict);
  }
  assert.deepEqual([...seen].toSorted(), ["allowed", "blocked", "neither"]);
  for (const name of ["ONE.example", "one.example.", " one.example", "bücher.example"])
    assert.ok(compiled.isBlocked(name), name);
  const [why] = await compiled.why("seven.example");
  assert.deepEqual([why!.lines[0]?.text, why!.unseen], ["0.0.0.0 seven.example", []]);
});

test("build takes files from memory and from functions, and sees that a content of the same length is another one", async (t) => {
  const folder = folderOf(t);
  writeFileSync(join(folder, "c.json"), JSON.stringify({ name: "L", sources: SOURCES }));
  let text = "||a.example^\n";
  const request = {
    config: join(folder, "c.json"),
    files: { [join(folder, "a.txt")]: async () => text },
    rulesDir: join(folder, "rules"),
    cacheDir: join(folder, "cache"),
  };
  const list = (): string => readFileSync(join(folder, "rules/l.txt"), "utf8");
  assert.equal((await build(request)).status, "published");
  assert.match(list(), /a\.example/);
  const again = await build(request);
  assert.deepEqual([again.status, again.lists[0]!.isCached], ["unchanged", true]);
  text = "||b.example^\n";
  assert.equal((await build(request)).status, "published");
  assert.match(list(), /b\.example/);
});

test("a call that is aborted while it waits for a source rejects with an AbortError", async (t) => {
  const server = createServer();
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  const source = `http://127.0.0.1:${(server.address() as AddressInfo).port}/a.txt`;
  const config: Config = { name: "L", sources: [{ source, allow_private: true }] };
  const stop = new AbortController();
  server.on("request", () => stop.abort());
  const { signal } = stop;
  await assert.rejects(compile(config, { signal }), { name: "AbortError" });
  await assert.rejects(compile(config, { signal }), { name: "AbortError" });
  await assert.rejects(context({ config, signal }), { name: "AbortError" });
});

test("a context rebuilds what changed, watches, and ends", async (t) => {
  const folder = folderOf(t);
  const path = join(folder, "a.txt");
  writeFileSync(path, "||a.example^\n");
  let text = "||c.example^\n";
  const sources: Config["sources"] = [{ source: path }, { source: "/memory/c.txt" }];
  const own = await context({
    config: { name: "L", sources },
    files: { "/memory/c.txt": () => text },
    rulesDir: folder,
    cacheDir: false,
  });
  const rules = (): string[] => readFileSync(join(folder, "l.txt"), "utf8").match(/^\|\|.*$/gm)!;
  assert.equal((await own.rebuild()).status, "published");
  assert.deepEqual(rules(), ["||a.example^", "||c.example^"]);
  assert.equal((await own.rebuild()).status, "unchanged");
  text = "||d.example^\n";
  assert.equal((await own.rebuild()).status, "published");
  assert.deepEqual(rules(), ["||a.example^", "||d.example^"]);
  const built = Promise.withResolvers<readonly string[]>();
  const watching = own.watch(({ status }, changed) => {
    if (status === "published") built.resolve(changed);
    else writeFileSync(path, "||bb.example^\n");
  });
  assert.deepEqual(await built.promise, [path]);
  assert.deepEqual(rules(), ["||bb.example^", "||d.example^"]);
  await own.dispose();
  await watching;
  await assert.rejects(own.rebuild(), { name: "AbortError" });
});
