import assert from "node:assert/strict";
import { test } from "node:test";
import { jsonSchema } from "../../scripts/json-schema.ts";
import { CompilerError, loadConfig, memoryHost } from "../support/internals.ts";

interface Property {
  readonly type?: unknown;
  readonly $ref?: string;
}

interface Definition {
  readonly properties?: Readonly<Record<string, Property>>;
}

const schema = JSON.parse(jsonSchema()) as Definition & {
  readonly $defs: Readonly<Record<string, Definition>>;
};
const definitions = Object.entries({ configuration: schema, ...schema.$defs });
const pairs = definitions.flatMap(([name, { properties = {} }]) =>
  Object.entries(properties).map(([key, property]) => ({ name, key, property })),
);

test("the configuration has at most 125 keys", () => {
  assert.ok(pairs.length > 90, "the schema was read");
  assert.ok(pairs.length <= 125, `${pairs.length} pairs of definition and key`);
});

/** What it means for everything that has it: what it is called, its file, its largest size … */
const SHARED: ReadonlySet<string> = new Set([
  "name",
  "file",
  "format",
  "fit",
  "max_rules",
  "max_bytes",
  "timeout",
  "transformations",
  "exclusions",
  "exclusions_sources",
  "inclusions",
  "inclusions_sources",
]);

test("a key has one meaning: only a few words occur in several definitions, with one type", () => {
  // The lists of a configuration, and the names of some of them.
  const [lists, ...others] = pairs.filter(({ key }) => key === "lists").map(({ name }) => name);
  assert.deepEqual([lists, ...others], ["configuration", "combined"]);
  const byKey = Map.groupBy(
    pairs.filter(({ key }) => key !== "lists"),
    ({ key }) => key,
  );
  for (const [key, uses] of byKey) {
    const where = uses.map(({ name }) => name).join(", ");
    assert.equal(uses.length > 1, SHARED.has(key), `${key} is in ${where}`);
    const types = uses.map(({ property: { type, $ref } }) => JSON.stringify([type, $ref]));
    assert.equal(new Set(types).size, 1, `${key} in ${where}: ${types.join(" ")}`);
  }
  for (const key of SHARED) assert.ok(byKey.has(key), key);
});

function textOf(error: unknown): string {
  assert.ok(error instanceof CompilerError, String(error));
  return error.diagnostics.map(({ message }) => message).join("\n");
}

/** The messages of a configuration with these settings. */
async function problemsOf(settings: object): Promise<string> {
  const config = {
    name: "N",
    sources: [{ name: "A", source: "a.txt", type: "hosts" }],
    ...settings,
  };
  const host = memoryHost({ files: { "list.json": JSON.stringify(config) } });
  return await loadConfig("list.json", host).then(
    () => "",
    (error: unknown) => textOf(error),
  );
}

const FILES = ["ranks", "expand", "allow_sources", "exclusions_sources", "inclusions_sources"];

/** Configurations with a file of names, once for each field. */
function settingsWith(file: unknown): object[] {
  return [
    ...FILES.map((key) => ({ [key]: ["names.txt", file] })),
    { guards: { protect: ["names.txt", file] } },
    { lists: [{ name: "L", exclusions_sources: ["names.txt", file] }] },
    { sources: [{ name: "A", source: "a.txt", type: "hosts", inclusions_sources: [file] }] },
  ];
}

test("every file of names is a text or a source, with the settings that say where it is and how it is read", async () => {
  const good = {
    source: "https://a.example/names.csv",
    type: "csv",
    column: 2,
    mirrors: ["https://b.example/names.csv"],
    max_stale: "3d",
    timeout: "9s",
    max_bytes: "1M",
    headers_file: "key",
    allow_private: true,
    secret: true,
  };
  for (const one of settingsWith(good))
    assert.equal(await problemsOf(one), "", JSON.stringify(one));
  const bad = [
    [{ source: "a.txt", trust: "full" }, /\]\.trust is only for sources/],
    [{ source: "a.txt", type: "rpz" }, /\]\.type is rpz, which is not a list of names/],
    [{ source: "a.txt", column: 1 }, /\]\.column is not for type/],
    [{ name: "a" }, /source of .*\] is required/],
    [7, /\] must be a string, not 7/],
  ] as const;
  for (const [file, message] of bad)
    for (const one of settingsWith(file))
      assert.match(await problemsOf(one), message, JSON.stringify(one));
});

test("a source without settings is a text, and so is a reference to it", async () => {
  const sources = ["https://a.example/list.txt", { name: "B", source: "b.txt", type: "hosts" }];
  assert.equal(
    await problemsOf({ sources, lists: [{ name: "L", sources: [sources[0], "B"] }] }),
    "",
  );
  const lists = [{ name: "L", sources: [{ source: "b.txt" }] }];
  assert.match(await problemsOf({ sources, lists }), /lists\[0\]\.sources\[0\] must be a string/);
});
