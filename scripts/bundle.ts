/**
 * Bundles src into dist: a program of 600 modules needs 0.3 s of CPU time to find and link them, a few files do not. Dependencies stay
 * outside, so that their fixes reach users. `tsc` writes the types. See docs/decisions/0034-bundled-program.md.
 */
import { readFileSync, readdirSync, rmSync, rmdirSync } from "node:fs";
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
  ["begin", ["host/node-code-folder.ts", "host/node-code-folder.ts"]],
  ["start", ["cli/main.ts", "host/node.ts", "cli/flags/found-config.ts"]],
  [
    "compile",
    [
      "cli/commands/compile.ts",
      "builder/build.ts",
      "builder/plan/project.ts",
      "builder/build-lists.ts",
      "builder/plan/project.ts",
    ],
  ],
];

interface Modules {
  getModuleInfo(id: string): { readonly importedIds: readonly string[] } | null;
}

/** The stage of every module that belongs to one. */
function stagesOf(modules: Modules): ReadonlyMap<string, string> {
  const stages = new Map<string, string>();
  for (const [stage, roots] of STAGES) {
    const open = roots.map((path) => join(src, path));
    for (let id = open.pop(); id !== undefined; id = open.pop()) {
      if (stages.has(id) || !id.startsWith(src)) continue;
      stages.set(id, stage);
      const info = modules.getModuleInfo(id);
      if (info === null) throw new Error(`no module ${id}`);
      open.push(...info.importedIds);
    }
  }
  return stages;
}

let stages: ReadonlyMap<string, string> | undefined;
const options: RolldownOptions = {
  input: {
    "cli/bin": join(src, "cli/bin.ts"),
    index: join(src, "index.ts"),
    "dns-api/index": join(src, "dns-api/index.ts"),
    // A thread that is started by its path, from a file in the same folder.
    "chunks/signal-thread": join(src, "host/signal-thread.ts"),
  },
  platform: "node",
  tsconfig: false,
  // No stage contains an entry, so none gets more exports.
  preserveEntrySignatures: "allow-extension",
  external: (id) => !/^[./]|^[a-z]:/i.test(id),
  // Copies of long strings would be parsed at every start.
  optimization: { inlineConst: false },
  checks: { ineffectiveDynamicImport: false },
};
const bundle = await rolldown(options);
await bundle.write({
  dir: dist,
  format: "esm",
  entryFileNames: "[name].js",
  chunkFileNames: "chunks/[name]-[hash].js",
  comments: false,
  sourcemap: true,
  sourcemapExcludeSources: true,
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
await bundle.close();
removeInnerTypes(["index.d.ts", "dns-api/index.d.ts"]);

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
