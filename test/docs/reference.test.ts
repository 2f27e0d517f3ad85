import assert from "node:assert/strict";
import { test } from "node:test";
import { defaultValue, keyOf } from "../../scripts/keys.ts";
import {
  type Field,
  GUARD_FIELDS,
  LISTED_FIELDS,
  LIST_FIELDS,
  SOURCE_FIELDS,
} from "../../src/config/fields.ts";
import { SIZE_PRESETS } from "../../src/config/outputs.ts";
import { FEED_NAMES } from "../../src/config/sources.ts";
import { combinedFormats } from "../../src/formats/combined/registry.ts";
import { nameFormats } from "../../src/formats/formats.ts";
import { MemoryProject } from "../support/memory-project.ts";
import { type Config, exampleIn, sectionsOf } from "../support/reference-page.ts";

/** The reference has a heading for each key and format, with its type, its default and an example that works. */

/** What `validate` says about an example, to which only what is required at the top level is added. */
async function problemsOf(example: Config): Promise<string> {
  const config = { name: "L", sources: ["https://example.org/hosts.txt"], ...example };
  const project = new MemoryProject({ "c.json": JSON.stringify(config) });
  const { stderr } = await project.run("validate", "-c", "c.json");
  const lines = stderr.split("\n").filter((line) => /^(?:error|warning)\[/.test(line));
  // A plugin is code, which is not in the example.
  return lines.filter((line) => !line.startsWith("error[plugins-off]")).join("\n");
}

/** All fields of the configuration, however deep. */
function allFields(): Set<Field> {
  const found = new Set<Field>();
  const enter = (fields: Readonly<Record<string, Field>>): void => {
    for (const field of Object.values(fields)) {
      found.add(field);
      if (field.fields !== undefined) enter(field.fields);
    }
  };
  for (const table of [LIST_FIELDS, SOURCE_FIELDS, GUARD_FIELDS, LISTED_FIELDS]) enter(table);
  return found;
}

const FIELDS = [...allFields()];

/** The objects that have the last key of a path, with that key. */
function holdersOf(config: Config, path: string): { holders: Config[]; key: string } {
  const parts = path.split(".");
  const key = parts.pop()!;
  let holders: Config[] = [config];
  for (const part of parts)
    holders = holders
      .flatMap((one) => one[part.replace("[]", "")] as Config[])
      .filter((one) => typeof one !== "string");
  return { holders: holders.filter((one) => Object.hasOwn(one, key)), key };
}

test("every key has a heading, a type, a default and an example that the program accepts", async () => {
  const sections = sectionsOf("configuration.md");
  assert.ok(FIELDS.length > 100, `${FIELDS.length} keys`);
  for (const field of FIELDS) {
    const { path } = keyOf(field);
    const section = sections.get(path);
    assert.ok(section !== undefined, `${path} has no heading`);
    assert.match(section, /^\n\nType: [^·]+ · (?:Required|Default: .+)\n\n\S/, path);
    for (const value of Object.keys(field.values ?? {}))
      assert.match(
        section,
        new RegExp(`^- \`${value.replaceAll(/[^\w ]/g, "\\$&")}\`: \\S.*\\.$`, "m"),
        `${path}: ${value}`,
      );
    const example = exampleIn(section, path);
    assert.equal(await problemsOf(example), "", path);
    const { holders, key } = holdersOf(example, path);
    assert.ok(holders.length > 0, `the example of ${path} does not have it`);
    const value = defaultValue(field);
    if (value === undefined) continue;
    assert.notDeepEqual(holders[0]![key], value, `the example of ${path} is its default`);
    for (const one of holders) one[key] = value;
    assert.equal(await problemsOf(example), "", `the default of ${path}`);
  }
});

test("every format, feed and service has a heading, a type and an example that the program accepts", async () => {
  const sections = sectionsOf("formats.md");
  const names = [
    ...nameFormats.keys(),
    ...FEED_NAMES,
    ...Object.keys(SIZE_PRESETS),
    ...[...combinedFormats.keys()].map((name) => `${name} of several lists`),
  ];
  for (const name of names) {
    const section = sections.get(name);
    assert.match(section ?? "", /^\n\nType: \S/, name);
    assert.equal(await problemsOf(exampleIn(section, name)), "", name);
  }
  for (const name of nameFormats.keys())
    assert.match(sections.get(name)!, / · Default file: `\{slug\}\.\S+` · /, name);
});

test("a default that is a value is what holds without the key", async () => {
  const texts: Readonly<Record<string, string>> = {
    csv: "url,host\nhttps://ads.example.com/,a\nhttps://b.example.com/x,b\n",
    openphish: "https://ads.example.com/\nhttps://b.example.com/x\n",
  };
  const rest =
    "||ads.example.com^\n||b.ads.example.com^\n/^c[0-9]+\\./\n@@||b.example.net^\n||example.net^\n";
  let compared = 0;
  for (const field of FIELDS) {
    const value = defaultValue(field);
    const { path, example } = keyOf(field);
    if (value === undefined || path.startsWith("after") || path.startsWith("resolvers")) continue;
    const written = async (change: (holder: Config, key: string) => void): Promise<string> => {
      const config = structuredClone(example) as Config;
      const { holders, key } = holdersOf(config, path);
      for (const holder of holders) change(holder, key);
      const sources = ((config["sources"] as unknown[]) ?? ["list.txt"]).map((one) =>
        typeof one === "string" ? "list.txt" : { ...(one as Config), source: "list.txt" },
      );
      const [first] = sources as Config[];
      const text = texts[String(first!["type"])] ?? rest;
      const all = { name: "L", ...config, sources: sources.slice(0, 1) };
      const project = new MemoryProject({
        "c.json": JSON.stringify(all),
        "list.txt": text,
        "names.txt": "www.ads.example.com\n",
      });
      const { exit, stderr } = await project.run("-c", "c.json");
      const files = [...project.memory.files].filter(([file]) =>
        file.startsWith("/project/rules/"),
      );
      const shown = files.filter(([file]) => !file.includes("/.rules-compiler/"));
      assert.equal(exit, 0, `${path}: ${stderr}`);
      return JSON.stringify([
        exit,
        shown.map(([file, bytes]) => [file, new TextDecoder().decode(bytes)]),
      ]);
    };
    const absent = await written((holder, key) => delete holder[key]);
    assert.equal(await written((holder, key) => (holder[key] = value)), absent, path);
    compared++;
  }
  assert.ok(compared > 15, `${compared} defaults`);
});
