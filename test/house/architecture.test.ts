import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { dirname, join, relative, sep } from "node:path";
import { test } from "node:test";
import { compileList } from "../../src/engine/compile.ts";
import type { ListFeature, Place } from "../../src/engine/feature.ts";
import type { NamedStage } from "../../src/engine/pipeline.ts";
import { planOf } from "../../src/engine/plan.ts";
import { listFeatures } from "../../src/features/registry.ts";
import { textOf as textOfRow } from "../../src/rules/chunk.ts";
import { Fate } from "../../src/rules/fate.ts";
import { eachChunk } from "../../src/transformations/stage.ts";
import { memoryHost } from "../support/internals.ts";

/** Lowest first. A folder may import from the lines above its own, and from itself. */
const LAYERS = [
  ["bytes", "types"],
  ["diagnostics"],
  ["host"],
  ["rules", "pages"],
  ["documents"],
  ["kernel"],
  ["syntax"],
  ["meaning", "feeds"],
  ["config", "sources"],
  ["transformations", "formats", "record", "import", "traffic", "liveness"],
  ["engine"],
  ["features"],
  ["publish", "explain"],
  ["builder"],
  ["resolvers"],
  ["dns-api", "lint", "server", "after"],
  ["report"],
  ["library"],
  ["cli"],
];
const depthOf = new Map(
  LAYERS.flatMap((folders, depth) => folders.map((folder) => [folder, depth] as const)),
);
const IMPORT = /(?:^(?:import|export)\b[^;]*?\bfrom |\bimport\()"(?<to>[^"]+)"/gm;

const root = join(import.meta.dirname, "../..");
const files = readdirSync(join(root, "src"), { recursive: true, encoding: "utf8" })
  .map((file) => file.replaceAll("\\", "/"))
  .filter((file) => file.endsWith(".ts"));

function textOf(file: string): string {
  return readFileSync(join(root, "src", file), "utf8");
}

function importsOf(file: string): string[] {
  return [...textOf(file).matchAll(IMPORT)].map((match) => match.groups?.["to"] ?? "");
}

/** The library is above everything but the two that use it. */
function isOfLibrary(folder: string, target: string): boolean {
  return /^(?:index\.ts|library)$/.test(target) && (folder === "cli" || folder === "server");
}

test("imports point to a lower layer or stay in their folder", () => {
  let checked = 0;
  for (const file of files.filter((path) => path.includes("/"))) {
    const folder = file.split("/")[0]!;
    for (const specifier of importsOf(file).filter((to) => to.startsWith("."))) {
      const target = relative(".", join(dirname(file), specifier)).split("/")[0]!;
      if (target === folder || isOfLibrary(folder, target)) continue;
      checked++;
      assert.ok(
        (depthOf.get(target) ?? Infinity) < (depthOf.get(folder) ?? -1),
        `${file} may not import ${specifier}`,
      );
    }
  }
  assert.ok(checked > 100);
});

/** What the terminal and the server may import: the library, what leaves the program, problems, the outside world, and themselves. */
const LIBRARY = ["index.ts", "library/programs.ts"];
const CONTRACT: Readonly<Record<string, readonly string[]>> = {
  cli: [...LIBRARY, "documents", "diagnostics", "host", "cli", "server"],
  // Its pages and those of `report` are made of the same parts: safe HTML, charts and styles, which know nothing of the product.
  server: [...LIBRARY, "documents", "diagnostics", "host", "pages", "server"],
};

for (const [room, allowed] of Object.entries(CONTRACT))
  test(`${room} imports of the product only the library and what leaves it`, () => {
    const own = files.filter((path) => path.startsWith(`${room}/`));
    const found = own.flatMap((file) =>
      importsOf(file)
        .filter((to) => to.startsWith("."))
        .map((to) => ({ file, target: join(dirname(file), to).replaceAll(sep, "/") })),
    );
    assert.ok(found.length > 50);
    assert.deepEqual(
      found.filter(
        ({ target }) => ![target, target.split("/")[0]!].some((at) => allowed.includes(at)),
      ),
      [],
    );
  });

test("the library is two tables, and the terminal and the server take all of the second", () => {
  for (const file of LIBRARY) {
    const code = textOf(file).replaceAll(/\/\*\*[^]*?\*\/|\/\/.*/g, "");
    assert.match(code, /^(?:\s*export (?:type )?\{[^}]*\} from "[^"]+";)+\s*$/, file);
  }
  const exported = textOf("library/programs.ts").match(/^export [^;]*;$/gm) ?? [];
  const names = exported.flatMap((text) =>
    namesIn(text).map((name) => name.replace(/^.* as /, "")),
  );
  assert.ok(names.length > 50);
  const users = files.filter((path) => /^(?:cli|server)\//.test(path)).map(textOf);
  const taken = new Set(
    users.flatMap((text) =>
      [...text.matchAll(/^import [^;]*? from "[./]*\/library\/programs\.ts";/gm)].flatMap(([one]) =>
        namesIn(one).map((name) => name.replace(/ as .*$/, "")),
      ),
    ),
  );
  assert.deepEqual(
    names.filter((name) => !taken.has(name)),
    [],
  );
});

/** The names in the braces of an import or export. */
function namesIn(text: string): string[] {
  const listed = /\{(?<names>[^}]*)\}/.exec(text)?.groups?.["names"] ?? "";
  return listed
    .split(",")
    .map((name) => name.trim().replace(/^type /, ""))
    .filter((name) => name !== "");
}

test("a type of a document has one address: only the public modules export it again", () => {
  const again = files.filter(
    (file) =>
      !/(?:^|\/)index\.ts$/.test(file) &&
      /^export [^;]*? from "[./]*\/documents\/\w+\.ts"/m.test(textOf(file)),
  );
  assert.deepEqual(again, []);
});

test("what follows a publish begins in one place", () => {
  for (const file of files.filter((path) => !path.startsWith("after/")))
    assert.deepEqual(
      importsOf(file).filter((to) => /\/after\/(?!registry\.ts$)/.test(to)),
      [],
      `${file} must call after/registry.ts`,
    );
});

test("only the host knows the clock, so that tests can set it", () => {
  for (const file of files.filter((path) => !path.startsWith("host/")))
    assert.doesNotMatch(textOf(file), /\bDate\.now\(|\bnew Date\(\)/, file);
});

/** Imports of values; those of types cost nothing and cannot form a circle at run time. */
const VALUE_IMPORT = /^(?:import|export) (?!type\b)[^;]*?\bfrom "(?<to>[^"]+)"/gm;

test("no files import each other in a circle", () => {
  const graph = new Map(
    files
      .filter((path) => !path.endsWith(".test.ts"))
      .map((file) => [
        file,
        [...textOf(file).matchAll(VALUE_IMPORT)]
          .map((match) => match.groups!["to"]!)
          .filter((to) => to.startsWith("."))
          .map((to) => join(dirname(file), to).replaceAll(sep, "/")),
      ]),
  );
  const done = new Set<string>();
  const visit = (file: string, path: readonly string[]): void => {
    assert.ok(!path.includes(file), `circle: ${[...path, file].join(" > ")}`);
    if (done.has(file)) return;
    for (const next of graph.get(file) ?? []) visit(next, [...path, file]);
    done.add(file);
  };
  for (const file of graph.keys()) visit(file, []);
});

test("the engine knows no feature: each is one file and one line of the registry", () => {
  for (const file of files.filter((path) => path.startsWith("engine/")))
    assert.deepEqual(
      importsOf(file).filter((to) => to.includes("features/")),
      [],
      file,
    );
  const names = files.flatMap((file) => /^features\/(?!registry)(.+)\.ts$/.exec(file)?.[1] ?? []);
  assert.equal(names.length, listFeatures.length);
  const code = textOf("engine/compile.ts").replaceAll(/\/\*[^]*?\*\/|\/\/.*/g, "");
  for (const name of names) {
    const known = new RegExp(`\\b${name.replaceAll("-", "[-_]?")}\\b`, "i");
    assert.doesNotMatch(code, known, "engine/compile.ts");
    const lines = textOf("features/registry.ts").split("\n");
    const entry = name.replaceAll(/-(.)/g, (_, letter: string) => letter.toUpperCase());
    assert.equal(lines.filter((line) => line === `  ${entry},`).length, 1, name);
  }
});

/** A stage that drops the rules for one name. */
function named(at: string): NamedStage {
  const stage = eachChunk((chunk) => {
    for (let row = 0; row < chunk.length; row++)
      if (textOfRow(chunk, row).includes(`${at}.example`)) chunk.drop(row, Fate.Own);
  });
  return { name: at, stage };
}

test("a new feature needs nothing but its own object", async () => {
  const moments: string[] = [];
  const places: Place[] = ["arrived", "filtered", "transformed", "trusted", "last"];
  const note = (moment: string) => (): undefined => void moments.push(moment);
  const tiny: ListFeature = {
    name: "tiny",
    open: () => ({
      fetch: async () => note("fetch")(),
      start: note("start"),
      source: () => ({ read: [named("read")], trusted: [named("own")], see: note("see") }),
      stages: () => Object.fromEntries(places.map((place) => [place, [named(place)]])),
      take: note("take"),
      result: () => ({
        report: { blocked: ["by.tiny.example"] },
        learned: { blocked: ["learned.example"] },
        diagnostics: [{ code: "list-note", severity: "note", message: "tiny was here" }],
      }),
    }),
  };
  const unused: ListFeature = { name: "unused", open: () => undefined };
  const marks = ["read", "own", ...places, "kept"];
  const host = memoryHost({
    files: { "/a.txt": marks.map((at) => `||${at}.example^\n`).join("") },
  });
  const config = { name: "L", sources: [{ source: "/a.txt" }], transformations: ["Compress"] };
  const listOf = async (features: readonly ListFeature[]): Promise<string[]> => {
    const bytes: number[] = [];
    const plan = planOf(config, { features });
    const compiled = await compileList(plan, host, (piece) => {
      bytes.push(...piece);
    });
    const { report, learned, diagnostics } = compiled;
    compiled.close();
    if (features.includes(tiny)) {
      assert.deepEqual(report.blocked, ["by.tiny.example"]);
      assert.deepEqual(learned.blocked, ["learned.example"]);
      assert.ok(diagnostics.some(({ message }) => message === "tiny was here"));
    }
    const text = new TextDecoder().decode(Uint8Array.from(bytes));
    return text.split("\n").filter((line) => line.startsWith("||"));
  };
  assert.deepEqual(
    await listOf([...listFeatures, unused]),
    marks.map((at) => `||${at}.example^`),
  );
  assert.deepEqual(await listOf([...listFeatures, tiny]), ["||kept.example^"]);
  assert.deepEqual(await listOf([tiny]), ["||kept.example^"]);
  assert.deepEqual([...new Set(moments)], ["fetch", "start", "see", "take"]);
});

test("the path from bin.ts to the renamed file is as ARCHITECTURE.md draws it", () => {
  const page = readFileSync(join(root, "ARCHITECTURE.md"), "utf8");
  const drawn = /```text title="path"\n(?<path>[^]*?)```/.exec(page)?.groups?.["path"] ?? "";
  const stops = [...drawn.matchAll(/^(?<indent> *)(?<file>[a-z/-]+\.ts) +(?<name>\w+)/gm)].map(
    ({ groups }) => ({
      depth: groups!["indent"]!.length,
      file: groups!["file"]!,
      name: groups!["name"]!,
    }),
  );
  assert.ok(stops.length > 8 && stops.length <= 20, `${stops.length} stops`);
  for (const [index, { depth, file, name }] of stops.entries()) {
    const word = new RegExp(`\\b${name}\\b`);
    assert.match(textOf(file), word, `${file} has ${name}`);
    const caller = stops.slice(0, index).findLast((stop) => stop.depth < depth);
    assert.ok(
      caller === undefined ? index === 0 : word.test(textOf(caller.file)),
      `${caller?.file} uses ${name}`,
    );
  }
});

test("only the host decides how paths are written", () => {
  for (const file of files.filter((path) => !path.startsWith("host/")))
    assert.deepEqual(
      importsOf(file).filter((to) => /^(?:node:)?path\b/.test(to)),
      [],
      `${file} must use host.path`,
    );
});

test("only the host does I/O", () => {
  const outside =
    /^node:(?:fs|http|https|net|tls|dgram|dns|child_process|worker_threads|process|os)/;
  const entries = new Set(["cli/bin.ts", "cli/program.ts"]);
  for (const file of files.filter(
    (path) => !path.startsWith("host/") && !entries.has(path) && !path.endsWith(".test.ts"),
  )) {
    assert.deepEqual(
      importsOf(file).filter((to) => outside.test(to)),
      [],
      file,
    );
    assert.doesNotMatch(textOf(file), /\b(?:console|process)\.\w/, file);
  }
});

/** Expressions that begin at the start of a rule, beside the reader of lines, and what they read instead of a line. */
const OTHER_READERS = new Map([
  ["features/source-findings.ts", "a line that is not a rule, to say what to write instead"],
  ["explain/traffic.ts", "what a person types"],
  ["syntax/adblock-rule.ts", "the pattern of an address"],
  ["syntax/directives.ts", "the operators of `!#if`"],
  ["syntax/hosts-line.ts", "the pattern of an address"],
  ["syntax/written-names.ts", "an entry of `allow`; a rule, to write it in ASCII"],
  ["transformations/allow.ts", "the pattern of an exception that was added"],
  ["transformations/compress.ts", "a rule that a reader of another format wrote"],
]);

test("only meaning/line reads lines with expressions", () => {
  const expression = /\/\^?(?:\\s\*)?(?:\(\??(?::|<\w+>)?)*(?:@@\)?\??|\\\|\)?\??\\\|)/;
  const readers = files.filter(
    (file) =>
      file !== "meaning/line.ts" &&
      textOf(file)
        .split("\n")
        .some((line) => !/^\s*(?:\/\/|\/?\*)/.test(line) && expression.test(line)),
  );
  assert.deepEqual(readers.toSorted(), [...OTHER_READERS.keys()].toSorted());
});

/** A job that one mechanism does: what a second one would look like, where the one is, and the exceptions with their reasons. */
const JOBS: readonly {
  readonly job: string;
  readonly looks: RegExp;
  readonly home: string;
  readonly except?: Readonly<Record<string, string>>;
}[] = [
  {
    job: "a hash",
    looks: /Math\.imul|16777619|0x01000193/,
    home: "bytes/hash.ts",
    except: {
      "formats/cdb.ts": "the format of cdb files defines it",
      "kernel/names.ts": "the kernel computes the same one",
      "report/page-search.ts": "it runs in the page, which has no other module",
      "report/page-script.ts": "it is made from page-search.ts",
    },
  },
  {
    job: "a table with open addressing",
    looks: /\w+ = \(\w+ \+ [12]\) & (?:\w+\.)?\w*[mM]ask/,
    home: "bytes/hash.ts",
  },
  {
    job: "an index of what can match a text",
    looks: /new AhoCorasick/,
    home: "meaning/rule-index.ts",
    except: { "transformations/filter.ts": "entries match lines in either case, not names" },
  },
  {
    job: "the precedence of rules",
    looks: /ImportantAllow: \d|\.find\(\([^)]*\) => [^)]*isImportant/,
    home: "meaning/verdict.ts",
  },
  {
    job: "a check of stored JSON",
    looks: /function is[A-Z]\w*\((?:\w+: unknown|\w+: Partial<)[^]*?typeof|const isText\b/,
    home: "host/files.ts",
  },
  {
    job: "a search for the end of a line in bytes",
    looks: /\bindexOf\((?:LF|10|0x0a)\b/,
    home: "bytes/text.ts",
  },
  {
    job: "the answer whether a rule cancels others",
    looks: /\[\$,\]badfilter|=== "badfilter"/,
    home: "meaning/rule.ts",
    except: { "syntax/trust.ts": "it judges the modifiers of a parsed rule one by one" },
  },
  { job: "the length of a day", looks: /86_?400_?000/, home: "diagnostics/text.ts" },
];

for (const { job, looks, home, except = {} } of JOBS)
  test(`only ${home} has ${job}`, () => {
    assert.match(textOf(home), looks);
    const others = files.filter((file) => file !== home && looks.test(textOf(file)));
    assert.deepEqual(others.toSorted(), Object.keys(except).toSorted());
  });

test("no two types have the same name", () => {
  const declaration =
    /^(?:export )?(?:declare )?(?:abstract )?(?:interface|type|class|enum) (?<name>\w+)/gm;
  const places = new Map<string, string[]>();
  for (const file of files)
    for (const { groups } of textOf(file).matchAll(declaration))
      places.set(groups!["name"]!, [...(places.get(groups!["name"]!) ?? []), file]);
  assert.ok(places.size > 500);
  const repeated = [...places].filter(([, where]) => where.length > 1);
  assert.deepEqual(Object.fromEntries(repeated), {});
});

test("no signal depends on AbortSignal.any or AbortSignal.timeout, which garbage collection disconnects in some runtimes", () => {
  for (const file of files)
    assert.doesNotMatch(textOf(file), /AbortSignal\.(?:any|timeout)\(/, file);
});

test("files are chapters with kebab-case names", () => {
  // Where a registry makes an extension point, a file is an entry of it.
  const chapters = files.filter(
    (file) =>
      !/(?:^|\/)(?:after|features|guards|commands|transformations)\//.test(file) &&
      !/^\/\*\*\s+(?:\* )?Generated by/.test(textOf(file)),
  );
  assert.ok(chapters.length <= 205, `${chapters.length} files`);
  for (const file of files) {
    assert.match(
      file,
      /^(?:[a-z0-9]+(?:-[a-z0-9]+)*\/)*[a-z0-9]+(?:-[a-z0-9]+)*(?:\.test|\.d)?\.ts$/,
    );
    assert.doesNotMatch(file, /util|helper|manager|service|common|misc/, file);
    // A table of messages, which nobody reads in one go.
    if (file === "diagnostics/codes.ts") continue;
    const lines = textOf(file).split("\n").length;
    assert.ok(lines <= 900, `${file} has ${lines} lines`);
  }
});

test("comments and pages name files that exist", () => {
  const tracked = readdirSync(root).flatMap((name) =>
    /^(?:src|kernel|test|scripts|bench|site)$/.test(name)
      ? readdirSync(join(root, name), { recursive: true, encoding: "utf8" })
          .filter((file) => !file.includes("node_modules"))
          .map((file) => `${name}/${file}`)
      : [name],
  );
  const read = tracked.filter((file) =>
    /^(?:src|kernel)\/.*\.ts$|^(?:ARCHITECTURE|CONTRIBUTING|RELEASING)\.md$/.test(file),
  );
  const mentioned = read.flatMap((file) =>
    [...readFileSync(join(root, file), "utf8").matchAll(/`(?:\.\/)?([\w/-]+\.ts)`/g)].map(
      ([, name]) => ({ file, name: name! }),
    ),
  );
  const gone = mentioned.filter(
    ({ name }) => !tracked.some((path) => path === name || path.endsWith(`/${name}`)),
  );
  assert.deepEqual(gone, []);
});

test("the tree mentions nothing outside the project", () => {
  const lock = readFileSync(join(root, "package-lock.json"), "utf8");
  assert.doesNotMatch(lock, /"resolved"/);
});
