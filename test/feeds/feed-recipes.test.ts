import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { parse } from "yaml";
import type { Config } from "../support/internals.ts";
import { blocksOf } from "../support/markdown.ts";
import { MemoryProject } from "../support/memory-project.ts";

const root = join(import.meta.dirname, "../..");

/** What the recipes fetch, by the type of the source. */
const FEEDS: Readonly<Record<string, string>> = {
  json: '{"data":[{"host":"api.example.com","active":true},{"host":"old.example.com","active":false}]}',
  domains: "plain.example.com\n",
  ndjson: '{"host":"log.example.com"}\n',
  ...Object.fromEntries(
    Object.entries({
      openphish: "openphish.txt",
      urlhaus: "urlhaus.csv",
      threatfox: "threatfox.csv",
      phishtank: "phishtank.csv",
      misp: "misp-event.json",
      stix: "stix.json",
    }).map(([type, file]) => [type, readFileSync(join(root, "test/fixtures/feeds", file), "utf8")]),
  ),
};

const recipes = blocksOf(readFileSync(join(root, "docs/guide/feeds.md"), "utf8")).filter(
  ({ language, title, text }) =>
    language === "yaml" && title !== undefined && text.includes("https:"),
);

test("the guide has recipes for every feed", () => {
  const used = new Set<string | undefined>(
    recipes.flatMap(({ text }) => (parse(text) as Config).sources.map(({ type }) => type)),
  );
  for (const type of Object.keys(FEEDS)) assert.ok(used.has(type), type);
});

for (const { title, text } of recipes)
  test(`${title} compiles`, async () => {
    const config = parse(text) as Config;
    const files: Record<string, string> = {};
    const sources = config.sources.map(
      ({ headers_file: _file, auth: _auth, member: _member, ...source }, index) => {
        files[`feed-${index}`] = FEEDS[source.type ?? ""] ?? "";
        return { ...source, source: `feed-${index}` };
      },
    );
    const project = new MemoryProject({
      ...files,
      "compiler-config.json": JSON.stringify({ ...config, sources }),
    });
    const { exit, stderr } = await project.run("compile");
    assert.equal(exit, 0, stderr);
    for (const line of stderr
      .split("\n")
      .filter((one) => /^ {2}\S/.test(one))
      .slice(1, -1))
      assert.match(line, /^ {2}.*? +\d+ +[1-9]/, "each source gives rules");
  });
