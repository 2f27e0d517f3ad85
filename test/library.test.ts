import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import {
  CompilerError,
  type Config,
  compile,
  loadConfig,
  memoryHost,
  nodeHost,
  pluginsOf,
} from "../src/index.ts";

const PLUGIN = {
  default: {
    transformations: {
      NoNumbers: { summary: "s", rule: (text: string) => (/\d/.test(text) ? undefined : text) },
    },
    formats: { router: { lines: { exact: ["add %"] } } },
  },
};
const SOURCE = { name: "A", type: "adblock", source: "a.txt" } as const;
const FILES = { "a.txt": "|ads.example^\n|ad1.example^\n" };

function rulesOf(bytes: Uint8Array): string[] {
  const lines = new TextDecoder().decode(bytes).split("\n");
  return lines.filter((line) => line !== "" && !line.startsWith("!"));
}

async function codesOf(work: Promise<unknown>): Promise<string[]> {
  const error = await work.then(
    () => assert.fail("it went well"),
    (one: unknown) => one,
  );
  assert.ok(error instanceof CompilerError, String(error));
  return error.diagnostics.map(({ code }) => code);
}

test("compile accepts plugins", async () => {
  const plugins = pluginsOf([{ file: "mine", module: PLUGIN }]);
  const config: Config = { name: "x", sources: [SOURCE], transformations: ["NoNumbers"] };
  const host = memoryHost({ files: FILES });
  const { bytes } = await compile(config, { host, plugins });
  assert.deepEqual(rulesOf(bytes), ["|ads.example^"]);
  assert.deepEqual(await codesOf(compile(config, { host })), ["unknown-transformation"]);
  const named: Config = { ...config, plugins: ["mine.mjs"] };
  assert.deepEqual(rulesOf((await compile(named, { host, plugins })).bytes), ["|ads.example^"]);
  assert.deepEqual(await codesOf(compile(named, { host })), ["plugins-off"]);
});

test("loadConfig loads a configuration with plugins", async (context) => {
  const folder = mkdtempSync(join(tmpdir(), "library-"));
  context.after(() => rmSync(folder, { recursive: true }));
  const path = join(folder, "own.yaml");
  const text =
    "name: Own\nplugins: [mine.mjs]\nsources: [{source: a.txt}]\ntransformations: [NoNumbers]\n";
  writeFileSync(path, text);
  writeFileSync(join(folder, "a.txt"), FILES["a.txt"]);
  writeFileSync(
    join(folder, "mine.mjs"),
    "export default { transformations: { NoNumbers: { rule: (text) => (/\\d/.test(text) ? null : text) } } };\n",
  );
  const host = nodeHost();
  const { config, plugins } = await loadConfig(path, host, { plugins: true });
  const { bytes } = await compile(config, { host, plugins, configFolder: folder });
  assert.deepEqual(rulesOf(bytes), ["|ads.example^"]);
  const own = pluginsOf([{ file: "mine", module: PLUGIN }]);
  assert.equal((await loadConfig(path, host, { plugins: own })).plugins, own);
  assert.deepEqual(await codesOf(loadConfig(path, host)), ["plugins-off"]);
});

test("compile requires the name of a list if there are several", async () => {
  const config: Config = {
    name: "All",
    sources: [SOURCE, { ...SOURCE, name: "B", source: "b.txt" }],
    lists: [
      { name: "One", sources: ["A"] },
      { name: "Two", sources: ["B"] },
    ],
  };
  const host = memoryHost({ files: { "a.txt": "||a.example^", "b.txt": "||b.example^" } });
  assert.deepEqual(await codesOf(compile(config, { host })), ["several-lists"]);
  assert.deepEqual(await codesOf(compile(config, { host, list: "Three" })), ["unknown-list"]);
  const { bytes, report } = await compile(config, { host, list: "Two" });
  assert.deepEqual([report.name, rulesOf(bytes)], ["Two", ["||b.example^"]]);
  const single: Config = { name: "N", sources: [SOURCE] };
  assert.deepEqual(await codesOf(compile(single, { host, list: "M" })), ["unknown-list"]);
  assert.equal((await compile(single, { host, list: "N" })).report.name, "N");
});

const MANY = Array.from({ length: 200_000 }, (_, index) => `||n${index}.e${index % 97}.zq^`);

test("compile stops on an abort signal while a list is read from memory", async () => {
  const host = memoryHost({ files: { "a.txt": MANY.join("\n") } });
  const config: Config = { name: "x", sources: [SOURCE], transformations: ["Compress"] };
  const stop = new AbortController();
  const reason = new Error("enough");
  setTimeout(() => stop.abort(reason), 1);
  await assert.rejects(compile(config, { host, signal: stop.signal }), reason);
});

test("compile stops on an abort signal after everything is read", async () => {
  const host = memoryHost({ files: { "a.txt": MANY.slice(0, 1000).join("\n") } });
  const config: Config = { name: "x", sources: [SOURCE], transformations: ["Compress"] };
  for (const when of ["compiling", "source-read"]) {
    const stop = new AbortController();
    const reason = new Error("enough");
    const onProgress = ({ kind }: { kind: string }): void => {
      if (kind === when) setTimeout(() => stop.abort(reason), 0);
    };
    await assert.rejects(compile(config, { host, signal: stop.signal, onProgress }), reason);
  }
  const stop = new AbortController();
  const { report } = await compile(config, { host, signal: stop.signal });
  assert.equal(report.rules, 1000);
});

test("the declarations need no DOM types", { timeout: 120_000 }, (context) => {
  const root = join(import.meta.dirname, "..");
  const folder = mkdtempSync(join(tmpdir(), "library-"));
  context.after(() => rmSync(folder, { recursive: true }));
  const tsc = join(root, "node_modules/typescript/bin/tsc");
  const node = (...words: string[]): string => {
    try {
      return execFileSync(process.execPath, words, { cwd: folder, encoding: "utf8" });
    } catch (error) {
      return assert.fail((error as { stdout: string }).stdout);
    }
  };
  const made = join(folder, "node_modules/rules-compiler");
  mkdirSync(join(folder, "node_modules/@types"), { recursive: true });
  mkdirSync(made);
  for (const name of ["@types/node", "undici-types"])
    symlinkSync(join(root, "node_modules", name), join(folder, "node_modules", name));
  node(
    tsc,
    "-p",
    join(root, "tsconfig.build.json"),
    "--emitDeclarationOnly",
    "--outDir",
    join(made, "dist"),
  );
  writeFileSync(
    join(made, "package.json"),
    '{"name":"rules-compiler","type":"module","exports":{"types":"./dist/index.d.ts","default":"./dist/index.js"}}',
  );
  writeFileSync(
    join(folder, "use.mts"),
    'import { compile, memoryHost } from "rules-compiler";\nexport const made = await compile({ name: "x", sources: [{ source: "a" }] }, { host: memoryHost() });\n',
  );
  const strict = ["--strict", "--noEmit", "--skipLibCheck", "false", "--module", "nodenext"];
  node(tsc, ...strict, "--target", "es2024", "--lib", "es2024", "--types", "node", "use.mts");
});
