import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { stringify } from "yaml";
import { LIST_FIELDS, SOURCE_FIELDS } from "../../src/config/fields.ts";
import { CompilerError, loadConfig, memoryHost } from "../support/internals.ts";
import { propertyRuns } from "../support/property.ts";

const TEXTS = ["", "a", "hosts", "Compress", "Validate", "7d", "20M", "full", "rpz", "list.txt"];

const scalar = fc.oneof(
  fc.constantFrom<unknown>(null, true, false, 0, -1, 1.5, 1e21),
  fc.constantFrom(...TEXTS),
  fc.string({ unit: "grapheme", maxLength: 8 }),
);

// Plugins depend on an option of the call, not on the file.
const { plugins: _, ...LIST } = LIST_FIELDS;

/** An object with some of the fields of a table, a misspelt one at times, and values of any type. */
function objectOf(
  fields: Readonly<Record<string, unknown>>,
  value: fc.Arbitrary<unknown>,
): fc.Arbitrary<Record<string, unknown>> {
  const key = fc.oneof(
    { weight: 9, arbitrary: fc.constantFrom(...Object.keys(fields)) },
    { weight: 1, arbitrary: fc.constantFrom("sorces", "__proto__", "constructor", "Name") },
  );
  return fc.dictionary(key, value, { maxKeys: 5, noNullPrototype: true });
}

const anyValue = fc.oneof(scalar, fc.array(scalar, { maxLength: 3 }));
const source = objectOf(SOURCE_FIELDS, anyValue);
const config = fc
  .tuple(
    objectOf(LIST, fc.oneof(anyValue, source, fc.array(source, { maxLength: 2 }))),
    fc.boolean(),
  )
  .map(([fields, isComplete]) =>
    isComplete
      ? { ...fields, name: "List", sources: [{ source: "a.txt", name: "A", type: "hosts" }] }
      : fields,
  );

/** The configuration that a file holds, or the codes of its problems. */
async function outcomeOf(file: string, text: string): Promise<unknown> {
  const host = memoryHost({ files: { [file]: text } });
  try {
    const loaded = await loadConfig(file, host);
    return { config: structuredClone(loaded.config) };
  } catch (error) {
    assert.ok(error instanceof CompilerError, `${text}\n${String(error)}`);
    assert.ok(error.diagnostics.length > 0, text);
    for (const { code, at } of error.diagnostics) assert.ok(at !== undefined, `${code}: ${text}`);
    return { codes: error.diagnostics.map(({ code }) => code) };
  }
}

test("every configuration is accepted or rejected with codes and locations, alike in JSON and YAML", async () => {
  const seen = { config: 0, codes: 0 };
  await fc.assert(
    fc.asyncProperty(config, async (value) => {
      const json = await outcomeOf("list.json", JSON.stringify(value));
      const yaml = await outcomeOf("list.yaml", stringify(value));
      assert.deepEqual(yaml, json);
      if (Object.hasOwn(json as object, "config")) seen.config++;
      else seen.codes++;
    }),
    propertyRuns(300),
  );
  assert.ok(seen.config > 5 && seen.codes > 100, JSON.stringify(seen));
});
