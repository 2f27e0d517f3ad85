import assert from "node:assert/strict";
import { test } from "node:test";
import { jsonSchema } from "../../scripts/json-schema.ts";
import { CompilerError, loadConfig, memoryHost } from "../support/internals.ts";

/** What says which values a property can have. */
interface Property {
  readonly type?: unknown;
  readonly $ref?: string;
  readonly allOf?: unknown;
  readonly oneOf?: unknown;
}

interface Definition {
  readonly properties?: Readonly<Record<string, Property>>;
}

const schema = JSON.parse(jsonSchema()) as Definition & {
  readonly definitions: Readonly<Record<string, Definition>>;
};
const definitions = Object.entries({ configuration: schema, ...schema.definitions });
const pairs = definitions
  .flatMap(([name, { properties = {} }]) =>
    Object.entries(properties).map(([key, property]) => ({ name, key, property })),
  )
  // The top level has the keys of lists by reference.
  .filter(({ property }) => property.$ref === undefined);

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
  "logs",
  "max_bytes",
  "timeout",
  "transformations",
  "exclusions",
  "exclusions_sources",
  "inclusions",
  "inclusions_sources",
]);

test("a key has one meaning: only a few words occur in several definitions, with one type", () => {
  // The lists and sources of a configuration, and the names of some of them.
  const named: Readonly<Record<string, readonly string[]>> = {
    lists: ["configuration", "combined"],
    sources: ["configuration", "list"],
  };
  for (const [key, expected] of Object.entries(named)) {
    const found = pairs.filter((pair) => pair.key === key).map(({ name }) => name);
    assert.deepEqual(found.toSorted(), expected.toSorted());
  }
  const byKey = Map.groupBy(
    pairs.filter(({ key }) => !Object.hasOwn(named, key)),
    ({ key }) => key,
  );
  for (const [key, uses] of byKey) {
    const where = uses.map(({ name }) => name).join(", ");
    assert.equal(uses.length > 1, SHARED.has(key), `${key} is in ${where}`);
    const types = uses.map(({ property: { type, allOf, oneOf } }) =>
      JSON.stringify([type, allOf, oneOf]),
    );
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

const FILES = ["ranks", "allow_sources", "exclusions_sources", "inclusions_sources"];

/** Configurations with a file of names, once for each field. */
function settingsWith(file: unknown): object[] {
  return [
    ...FILES.map((key) => ({ [key]: ["names.txt", file] })),
    { guards: { protect: ["names.txt", file] } },
    { expand: { names: ["names.txt", file] } },
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

test("recommended means transformations, at the top, in a list and in a source, and nothing else does", async () => {
  const source = { name: "A", source: "a.txt", type: "hosts" };
  const good = {
    sources: [{ ...source, transformations: "recommended" }],
    lists: [{ name: "L", transformations: "recommended" }],
  };
  assert.match(
    await problemsOf({ ...good, transformations: "recommended" }),
    /several-validators|uses Validate/,
  );
  assert.equal(await problemsOf({ sources: [source], transformations: "recommended" }), "");
  for (const word of ["Compress", "Recommended", 7])
    assert.match(
      await problemsOf({ sources: [source], transformations: word }),
      /transformations must be a list of strings, or recommended/,
    );
  assert.match(
    await problemsOf({ sources: [source], transformations: ["recommended"] }),
    /Unknown transformation: recommended/,
  );
});

test("devices of outputs are refused where AdGuard Home could not know them", async () => {
  const sources = ["a.txt"];
  const withOutput = async (output: object): Promise<string> =>
    await problemsOf({ sources, outputs: [output] });
  for (const client of ['Kids\' tablet, b|ue $1 "x"', "10.0.0.1", "10.0.0.0/8", "fd00::/8", "~x"])
    assert.equal(await withOutput({ format: "adblock", clients: [client] }), "", client);
  assert.equal(await withOutput({ format: "adblock", tags: ["user_child", "os_ios"] }), "");
  for (const client of [
    "",
    " x",
    "a\\b",
    "50%",
    "Küche",
    "a\nb",
    "10.0.0.300",
    "10.0.0.0/33",
    "::1/x",
  ])
    assert.match(
      await withOutput({ format: "adblock", clients: ["x", client] }),
      /outputs\[0\]\.clients has .*, which a rule cannot name/,
      client,
    );
  const mac = await withOutput({ format: "adblock", clients: ["aa:bb:cc:dd:ee:ff"] });
  assert.match(mac, /outputs\[0\]\.clients has aa/);
  assert.match(
    await withOutput({ format: "adblock", tags: ["user_kid"] }),
    /tags\[0\] must be one/,
  );
  assert.match(await withOutput({ format: "adblock", clients: [] }), /clients is empty/);
  assert.match(await withOutput({ format: "rpz", tags: ["user_child"] }), /is for format adblock/);
  const lists = [{ name: "L", outputs: [{ format: "hosts", clients: ["x"] }] }];
  assert.match(await problemsOf({ sources, lists }), /lists\[0\]\.outputs\[0\]\.clients is for/);
});
