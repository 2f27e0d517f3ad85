import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import {
  CompilerError,
  type Config,
  build,
  compile,
  loadConfig,
  openBuild,
  plan,
} from "../../src/index.ts";

const PLUGIN = {
  transformations: {
    NoNumbers: { summary: "s", rule: (text: string) => (/\d/.test(text) ? undefined : text) },
  },
  formats: { router: { lines: { exact: ["add %"] } } },
};
const SOURCE = { name: "A", type: "adblock", source: "a.txt" } as const;
const FILES = { "a.txt": "|ads.example^\n|ad1.example^\n" };

function rulesOf(bytes: Uint8Array): string[] {
  const lines = new TextDecoder().decode(bytes).split("\n");
  return lines.filter((line) => line !== "" && !line.startsWith("!"));
}

async function codesOf(work: Promise<unknown>): Promise<string[]> {
  const error = await work.then(
    () => assert.fail("the promise was fulfilled"),
    (one: unknown) => one,
  );
  assert.ok(error instanceof CompilerError, String(error));
  return error.diagnostics.map(({ code }) => code);
}

function folderOf(context: TestContext, files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(tmpdir(), "library-"));
  context.after(() => rmSync(folder, { recursive: true }));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  return folder;
}

test("compile accepts plugins", async () => {
  const plugins = [PLUGIN];
  const config: Config = { name: "x", sources: [SOURCE], transformations: ["NoNumbers"] };
  const { bytes } = await compile(config, { files: FILES, plugins });
  assert.deepEqual(rulesOf(bytes), ["|ads.example^"]);
  assert.deepEqual(await codesOf(compile(config, { files: FILES })), ["unknown-transformation"]);
  const named: Config = { ...config, plugins: ["mine.mjs"] };
  const result = await compile(named, { files: FILES, plugins });
  assert.deepEqual(rulesOf(result.bytes), ["|ads.example^"]);
  assert.deepEqual(await codesOf(compile(named, { files: FILES })), ["plugins-off"]);
});

test("build runs the plugins of a configuration only if plugins are enabled", async (context) => {
  const folder = folderOf(context, {
    ...FILES,
    "own.yaml":
      "name: Own\nplugins: [mine.mjs]\nsources: [{source: a.txt}]\ntransformations: [NoNumbers]\n",
    "mine.mjs":
      "export default { transformations: { NoNumbers: { rule: (text) => (/\\d/.test(text) ? null : text) } } };\n",
  });
  const config = join(folder, "own.yaml");
  const request = { config, rulesDir: join(folder, "rules"), cacheDir: false } as const;
  assert.deepEqual(await codesOf(build(request)), ["plugins-off"]);
  assert.deepEqual(await codesOf(loadConfig(config)), ["plugins-off"]);
  assert.equal((await build({ ...request, permit: ["plugins"] })).status, "published");
  assert.deepEqual(rulesOf(readFileSync(join(folder, "rules/own.txt"))), ["|ads.example^"]);
  assert.equal((await loadConfig(config, { permit: ["plugins"] })).folder, folder);
});

test("build publishes as the command does: guards, outputs, record, cache", async (context) => {
  const lines = Array.from({ length: 400 }, (_, index) => `||n${index}.example^`);
  const folder = folderOf(context, {
    "a.txt": `${lines.join("\n")}\n`,
    "list.json": JSON.stringify({
      name: "L",
      sources: [SOURCE],
      outputs: [{ format: "hosts" }],
      guards: { min_rules: 2 },
    }),
  });
  const events: string[] = [];
  const request = {
    config: join(folder, "list.json"),
    rulesDir: join(folder, "rules"),
    cacheDir: join(folder, "cache"),
    onEvent: ({ kind }: { kind: string }) => void events.push(kind),
  };
  const first = await build(request);
  assert.equal(first.status, "published");
  assert.deepEqual(
    first.lists[0]!.outputs.map(({ file }) => file),
    ["l.txt", "l.hosts"].map((file) => join(folder, "rules", file)),
  );
  assert.deepEqual(
    ["started", "reading", "read", "publishing", "published", "list-done"].filter(
      (kind) => !events.includes(kind),
    ),
    [],
  );
  const built = await openBuild(join(folder, "rules/l.txt"), { cacheDir: false });
  const [answer] = await built.why("n3.example");
  assert.deepEqual([answer!.verdict, answer!.rule?.line], ["blocked", 4]);
  assert.equal(built.stats().rules, 400);
  writeFileSync(join(folder, "a.txt"), "||n1.example^\n");
  const [planned] = await plan(request);
  assert.equal(planned!.change.removed.length, 399);
  assert.deepEqual(
    planned!.violations.map(({ code }) => code),
    ["too-few-rules"],
  );
  const refused = await build(request);
  assert.deepEqual(
    [refused.status, refused.lists[0]!.diagnostics.map(({ code }) => code)],
    ["refused", ["too-few-rules"]],
  );
  assert.equal(rulesOf(readFileSync(join(folder, "rules/l.txt"))).length, 400);
  const accepted = await build({ ...request, accept: ["too-few-rules"] });
  assert.equal(accepted.status, "published");
  assert.equal(rulesOf(readFileSync(join(folder, "rules/l.txt"))).length, 1);
});

test("compile requires the name of a list if there are several; build builds them all", async (context) => {
  const files = { "a.txt": "||a.example^", "b.txt": "||b.example^" };
  const config: Config = {
    name: "All",
    sources: [SOURCE, { ...SOURCE, name: "B", source: "b.txt" }],
    lists: [
      { name: "One", sources: ["A"] },
      { name: "Two", sources: ["B"] },
    ],
  };
  assert.deepEqual(await codesOf(compile(config, { files })), ["several-lists"]);
  assert.deepEqual(await codesOf(compile(config, { files, list: "Three" })), ["unknown-list"]);
  const { bytes, report } = await compile(config, { files, list: "Two" });
  assert.deepEqual([report.name, rulesOf(bytes)], ["Two", ["||b.example^"]]);
  const single: Config = { name: "N", sources: [SOURCE] };
  assert.deepEqual(await codesOf(compile(single, { files, list: "M" })), ["unknown-list"]);
  assert.equal((await compile(single, { files, list: "N" })).report.name, "N");
  const folder = folderOf(context, { ...files, "all.json": JSON.stringify(config) });
  const request = { config: join(folder, "all.json"), rulesDir: join(folder, "rules") };
  const outcome = await build({ ...request, cacheDir: false });
  assert.deepEqual(
    outcome.lists.map(({ list, status }) => [list, status]),
    [
      ["One", "published"],
      ["Two", "published"],
    ],
  );
  const again = await build({ ...request, cacheDir: false, lists: ["T*"] });
  assert.deepEqual([again.status, again.lists.map(({ list }) => list)], ["unchanged", ["Two"]]);
});

test("a list that plugins changed is built again", async (context) => {
  const folder = folderOf(context, {
    ...FILES,
    "list.json": JSON.stringify({ name: "L", sources: [SOURCE], transformations: ["Mine"] }),
  });
  // A source that was changed less than two seconds ago is never cached.
  await new Promise((later) => setTimeout(later, 2100));
  const request = {
    config: join(folder, "list.json"),
    rulesDir: join(folder, "rules"),
    cacheDir: join(folder, "cache"),
  };
  for (const dropped of ["ads", "ad1"]) {
    const rule = (text: string): string | undefined => (text.includes(dropped) ? undefined : text);
    await build({ ...request, plugins: [{ transformations: { Mine: { rule } } }] });
    const [rules] = rulesOf(readFileSync(join(folder, "rules/l.txt")));
    assert.equal(rules!.includes(dropped), false, dropped);
  }
});

test("an aborted build is interrupted, and says which lists are published", async (context) => {
  const folder = folderOf(context, { "a.txt": "||a.example^\n" });
  const stop = new AbortController();
  const sources = [{ ...SOURCE, source: join(folder, "a.txt") }];
  const lists = Array.from({ length: 12 }, (_, index) => ({ name: `List ${index}` }));
  const outcome = await build({
    config: { name: "All", sources, lists },
    rulesDir: join(folder, "rules"),
    cacheDir: false,
    signal: stop.signal,
    onEvent: (event) => {
      if (event.kind === "published") stop.abort();
    },
  });
  assert.equal(outcome.status, "interrupted");
  assert.ok(outcome.lists.length > 0 && outcome.lists.length < lists.length);
  const published = outcome.lists.map(({ list }) => `${list.toLowerCase().replace(" ", "-")}.txt`);
  const files = readdirSync(join(folder, "rules")).filter((file) => file.endsWith(".txt"));
  assert.deepEqual(files.toSorted(), published.toSorted());
});

const MANY = Array.from({ length: 200_000 }, (_, index) => `||n${index}.e${index % 97}.zq^`);

test("compile stops on an abort signal while a list is read from memory", async () => {
  const files = { "a.txt": MANY.join("\n") };
  const config: Config = { name: "x", sources: [SOURCE], transformations: ["Compress"] };
  const stop = new AbortController();
  const reason = new Error("enough");
  setTimeout(() => stop.abort(reason), 1);
  await assert.rejects(compile(config, { files, signal: stop.signal }), reason);
});

test("compile stops on an abort signal after everything is read", async () => {
  const files = { "a.txt": MANY.slice(0, 1000).join("\n") };
  const config: Config = { name: "x", sources: [SOURCE], transformations: ["Compress"] };
  for (const when of ["compiling", "source-read"]) {
    const stop = new AbortController();
    const reason = new Error("enough");
    const onProgress = ({ kind }: { kind: string }): void => {
      if (kind === when) setTimeout(() => stop.abort(reason), 0);
    };
    await assert.rejects(compile(config, { files, signal: stop.signal, onProgress }), reason);
  }
  const stop = new AbortController();
  const { report } = await compile(config, { files, signal: stop.signal });
  assert.equal(report.rules, 1000);
});
