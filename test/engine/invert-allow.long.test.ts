import assert from "node:assert/strict";
import { test } from "node:test";
import { PROTECTED_NAMES } from "../../src/engine/protected-names.ts";
import { type Config, compile } from "../support/internals.ts";
import { ScriptedWeb } from "../support/scripted-web.ts";

const FAR = "https://a.example/allowed.txt";
const INVERT = ["InvertAllow"];
const FEW = ["||time.apple.com^", "||ocsp.apple.com^", "||foo.example^"];

/** The rules of a list whose source has these lines, remote and as a local file. */
async function listsOf(
  lines: readonly string[],
  source: Partial<Config["sources"][number]>,
  more: Partial<Config> = {},
): Promise<{ rules: string[]; codes: string[] }[]> {
  const results = [];
  for (const place of [FAR, "local.txt"]) {
    const text = `${lines.join("\n")}\n`;
    const web = new ScriptedWeb({ "local.txt": text, "own.txt": "||apple.com^\n" });
    web.answers[FAR] = text;
    const own = { source: "own.txt", name: "Own" };
    const sources = [{ source: place, name: "Far", ...source }, own];
    const config = { name: "N", sources, ...more } as Config;
    const result = await compile(config, { host: web.host, cacheDir: "/cache" });
    const rules = new TextDecoder().decode(result.bytes).split("\n");
    results.push({ rules, codes: result.diagnostics.map(({ code }) => code) });
    result.close();
  }
  return results;
}

function isRule(text: string): boolean {
  return text.trim() !== "" && !text.startsWith("!");
}

for (const trust of [undefined, "standard", "block-only", "full"] as const)
  test(`a source with InvertAllow allows names that devices need, trust ${trust ?? "by default"}`, async () => {
    const source = { transformations: INVERT, ...(trust && { trust }) } as const;
    for (const { rules, codes } of await listsOf(FEW, source)) {
      assert.deepEqual(rules.filter(isRule), [...FEW.map((line) => `@@${line}`), "||apple.com^"]);
      assert.ok(!codes.includes("protected-names"));
    }
  });

test("InvertAllow of the whole list does the same", async () => {
  for (const { rules, codes } of await listsOf(FEW, {}, { transformations: ["InvertAllow"] })) {
    assert.deepEqual(
      rules.filter(isRule),
      [...FEW, "||apple.com^"].map((line) => `@@${line}`),
    );
    assert.ok(!codes.includes("protected-names"));
  }
});

test("an allow-list with InvertAllow is accepted", async () => {
  for (const write of [(name: string) => `||${name}^`, (name: string) => name])
    for (const [source, more] of [
      [{ transformations: INVERT }, {}],
      [{}, { transformations: ["InvertAllow"] }],
    ] as const)
      for (const { rules } of await listsOf(PROTECTED_NAMES.map(write), source, more))
        for (const name of PROTECTED_NAMES) assert.ok(rules.includes(`@@${write(name)}`), name);
});

test("a hosts line stays a block without Compress, and the name stays reachable", async () => {
  const [far] = await listsOf(["0.0.0.0 time.google.com", "foo.example"], {
    transformations: INVERT,
  });
  assert.ok(far!.rules.includes("@@foo.example"));
  assert.ok(far!.rules.includes("0.0.0.0 time.google.com"));
  assert.ok(far!.rules.includes("@@|time.google.com^"));
});
