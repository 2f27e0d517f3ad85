import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";

export type Config = Record<string, unknown>;

/** The sections of a reference page by their heading, without its code signs. */
export function sectionsOf(page: string): Map<string, string> {
  const text = readFileSync(join(import.meta.dirname, "../../docs/reference", page), "utf8");
  const parts = text.split(/^#{2,3} (.+)$/m).slice(1);
  const pairs: [string, string][] = [];
  for (let at = 0; at < parts.length; at += 2)
    pairs.push([parts[at]!.replaceAll("`", ""), parts[at + 1]!]);
  const names = pairs.map(([name]) => name);
  assert.equal(
    new Set(names).size,
    names.length,
    `${page} has a heading twice: its anchor would move`,
  );
  return new Map(pairs);
}

/** The configuration in the section of a page. */
export function exampleIn(section: string | undefined, name: string): Config {
  const [, yaml] = /^```yaml\n([^]*?)^```/m.exec(section ?? "") ?? [];
  assert.ok(yaml !== undefined, `${name} has no example`);
  return parse(yaml) as Config;
}
