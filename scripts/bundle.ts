/**
 * Bundles src into dist: a program of 600 modules needs 0.3 s of CPU time to find and link them, a few files do not. Dependencies stay
 * outside, so that their fixes reach users. `tsc` writes the types. See docs/decisions/0034-bundled-program.md.
 */
import { mkdirSync, readFileSync, readdirSync, rmSync, rmdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { type RolldownOptions, rolldown } from "rolldown";

const root = join(import.meta.dirname, "..");
const src = join(root, "src/");
const dist = join(root, "dist");

/**
 * One file for each stage of a start, with every module that its roots import and no earlier stage has. What else is loaded on demand
 * gets files of its own. A stage is closed under imports, so files never import each other in circles.
 */
const STAGES: readonly (readonly [string, readonly string[]])[] = [
  ["start", ["cli/program.ts", "cli/flags/found-config.ts"]],
  [
    "compile",
    [
      "cli/commands/compile.ts",
      "builder/build.ts",
      "cli/flags/output-target.ts",
      "builder/build-lists.ts",
    ],
  ],
];

/** Not of `node:module`, which the other way needs. */
const NODE_IMPORT =
  /^import (?:\* as )?(?:(\w+)|(?:(\w+), )?(\{[^}]*\})) from ("node:(?!module")[\w/]+");$/gm;

interface Modules {
  getModuleInfo(id: string): { readonly importedIds: readonly string[] } | null;
}

/** The entry of the package, with the text of `src/index.ts`. */
const PACKAGE = join(src, "package.ts");
/** Tables of what other modules export. */
const TABLES = ["index.ts", "library/programs.ts"].map((path) => join(src, path));
const NAMED = /^(?:import|export) (?!type\b)\{(?<names>[^}]*)\} from "(?<path>\.[^"]+)";$/gm;

/** The names that a file imports or exports from others, without types, and their files. */
function namesIn(file: string): [name: string, from: string][] {
  const found: [string, string][] = [];
  for (const { groups } of readFileSync(file, "utf8").matchAll(NAMED)) {
    const { names = "", path = "" } = groups ?? {};
    for (const name of names.split(",").map((one) => one.trim()))
      if (name !== "" && !name.startsWith("type ")) found.push([name, join(dirname(file), path)]);
  }
  return found;
}

/** The file of each name that the tables export. */
const exported = new Map(
  TABLES.flatMap(namesIn).map(([name, from]) => [name.replace(/^.* as /, ""), from]),
);

/** The modules that a module needs: of a table, only those whose names it imports. */
function neededBy(id: string, modules: Modules): string[] {
  const info = modules.getModuleInfo(id);
  if (info === null) throw new Error(`no module ${id}`);
  const direct = info.importedIds.filter((one) => !TABLES.includes(one));
  if (direct.length === info.importedIds.length) return direct;
  const named = namesIn(id).filter(([, from]) => TABLES.includes(from));
  return [...direct, ...named.map(([name]) => exported.get(name.replace(/ as .*$/, ""))!)];
}

/** The stage of every module that belongs to one. */
function stagesOf(modules: Modules): ReadonlyMap<string, string> {
  const stages = new Map<string, string>();
  for (const [stage, roots] of STAGES) {
    const open = roots.map((path) => join(src, path));
    for (let id = open.pop(); id !== undefined; id = open.pop()) {
      if (stages.has(id) || !id.startsWith(src)) continue;
      stages.set(id, stage);
      open.push(...neededBy(id, modules));
    }
  }
  return stages;
}

let stages: ReadonlyMap<string, string> | undefined;
const shared: RolldownOptions = {
  platform: "node",
  tsconfig: false,
  external: (id) => !/^[./]|^[a-z]:/i.test(id),
  // Copies of long strings would be parsed at every start.
  optimization: { inlineConst: false },
  checks: { ineffectiveDynamicImport: false },
};
const output = {
  dir: dist,
  comments: false,
  sourcemap: true,
  sourcemapExcludeSources: true,
} as const;

// Scripts, because only of these a run can store what it compiled: src/host/node-code-cache.ts.
const scripts = await rolldown({
  ...shared,
  input: {
    program: join(src, "cli/program.ts"),
    library: PACKAGE,
    "dns-api": join(src, "dns-api/index.ts"),
  },
  // The table as a module of its own, which no command imports: its file then has no other exports, and no modules of commands.
  plugins: [
    {
      name: "package",
      resolveId: (id) => (id === PACKAGE ? PACKAGE : null),
      load: (id) => (id === PACKAGE ? readFileSync(TABLES[0]!, "utf8") : null),
    },
  ],
  // No stage contains an entry, so none gets more exports.
  preserveEntrySignatures: "allow-extension",
});
const written = await scripts.write({
  ...output,
  format: "cjs",
  entryFileNames: "chunks/[name]-[hash].cjs",
  chunkFileNames: "chunks/[name]-[hash].cjs",
  codeSplitting: {
    // Stages have their dependencies already.
    includeDependenciesRecursively: false,
    groups: [
      {
        debugName: "stages",
        name: (id, modules) => (stages ??= stagesOf(modules)).get(id) ?? null,
      },
    ],
  },
});
await scripts.close();
const roots = new Map<string, { readonly file: string; readonly exports: readonly string[] }>();
for (const chunk of written.output) {
  if (chunk.type !== "chunk") continue;
  makeLight(join(dist, chunk.fileName));
  if (chunk.isEntry) roots.set(chunk.name, { file: chunk.fileName, exports: chunk.exports });
}
for (const [path, name, up] of [
  ["index.js", "library", "./"],
  ["dns-api/index.js", "dns-api", "../"],
] as const) {
  const { file, exports } = roots.get(name)!;
  mkdirSync(dirname(join(dist, path)), { recursive: true });
  writeFileSync(
    join(dist, path),
    `import library from "${up}${file}";\nexport const { ${exports.join(", ")} } = library;\n`,
  );
}

const program = join(src, "cli/program.ts");
const startScripts = `import { startCached } from "${join(src, "host/node-code-cache.ts")}";
export const start = (argv) => startCached(new URL("../${roots.get("program")!.file}", import.meta.url), argv);`;
for (const [path, source] of [
  ["cli/bin", "cli/bin.ts"],
  // A thread that is started by its path, from a file in the same folder.
  ["chunks/signal-thread", "host/signal-thread.ts"],
] as const) {
  const module = await rolldown({
    ...shared,
    input: { [path]: join(src, source) },
    plugins: [{ name: "start", load: (id) => (id === program ? startScripts : null) }],
  });
  await module.write({
    ...output,
    format: "esm",
    entryFileNames: "[name].js",
    codeSplitting: false,
  });
  await module.close();
  takeBuiltins(join(dist, `${path}.js`));
}
removeInnerTypes(["index.d.ts", "dns-api/index.d.ts"]);

/**
 * Makes a script faster to load and to run (2026-11, Node 24). The bundler reads each module of Node through getters, and passes exports on
 * through getters, because either may change; ours do not. A text with other characters than ASCII takes two bytes for each. The
 * loader passes `$import` to scripts, in which `import()` does not work. Source maps count lines, so these stay the same.
 */
function makeLight(file: string): void {
  const code = readFileSync(file, "utf8")
    .replace(
      /^Object\.defineProperty\(exports, "(\w+)", \{\s+enumerable: true,\s+get: function\(\) \{\s+return (\w+);\s+\}\s+\}\);/gm,
      (getter, name: string, local: string) =>
        `exports.${name} = ${local};${"\n".repeat(getter.split("\n").length - 1)}`,
    )
    .replace(/^(node_\w+) = .*__toESM\(\1, 1\);/gm, "$1 = { __proto__: $1, default: $1 };")
    .replace(/\bimport\(/g, "$load(")
    .replace(/[^\0-\x7f]/g, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`);
  const load = `var $load = typeof $import === "undefined" ? (id) => import(id) : $import; `;
  writeFileSync(file, load + code);
}

/** An import of a module of Node reads all its exports and so loads what they need, and `getBuiltinModule` does not. */
function takeBuiltins(file: string): void {
  let definition = `import { createRequire as $require } from "node:module"; const $builtin = globalThis.process?.getBuiltinModule ?? $require(import.meta.url); `;
  const code = readFileSync(file, "utf8").replace(
    NODE_IMPORT,
    (_, ...[whole, also, names, id]: (string | undefined)[]) => {
      const parts = [whole ?? also, names?.replaceAll(" as ", ": ")].filter(Boolean);
      const line = definition + parts.map((part) => `const ${part!} = $builtin(${id!});`).join(" ");
      definition = "";
      return line;
    },
  );
  writeFileSync(file, code);
}

/** Removes the types that no public type refers to. */
function removeInnerTypes(entries: readonly string[]): void {
  const needed = new Set<string>();
  const open = entries.map((entry) => join(dist, entry));
  for (let file = open.pop(); file !== undefined; file = open.pop()) {
    if (needed.has(file)) continue;
    needed.add(file);
    for (const [, path] of readFileSync(file, "utf8").matchAll(/["'](\.{1,2}\/[^"']+)\.[jt]s["']/g))
      open.push(join(dirname(file), `${path!}.d.ts`));
  }
  const all = readdirSync(dist, { recursive: true, withFileTypes: true });
  for (const entry of all) {
    const file = join(entry.parentPath, entry.name);
    if (file.endsWith(".d.ts") && !needed.has(file)) rmSync(file);
  }
  for (const entry of all.toReversed().filter((one) => one.isDirectory())) {
    const folder = join(entry.parentPath, entry.name);
    if (readdirSync(folder).length === 0) rmdirSync(folder);
  }
}
