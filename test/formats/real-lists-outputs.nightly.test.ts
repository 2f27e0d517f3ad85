import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { ListMatcher } from "../support/reference/list-matcher.ts";
import { corpusFolder, missingCorpus } from "../support/corpus.ts";
import { MemoryProject } from "../support/memory-project.ts";

const CHAIN = ["RemoveComments", "Compress", "Validate", "Deduplicate", "InsertFinalNewLine"];
/** What a real list may be refused for: it is not the question here. */
const ACCEPTED = ["too-few-rules", "empty-output", "blocks-protected", "blocks-suffix"];
const LOCAL = /^(?:(?:.*\.)?localhost|local|broadcasthost|ip6-\w+|localhost\.localdomain)$/;

function allLists(): string[] {
  return (["typical", "power"] as const).flatMap((set) => {
    const folder = corpusFolder(set);
    return readdirSync(folder).map((file) => join(folder, file));
  });
}

/** A name that a resolver can be asked for by others than this machine. */
function isResolvable(name: string): boolean {
  const labels = name.split(".");
  return (
    name.length <= 253 &&
    labels.every((label) => /^[a-z0-9_-]{1,63}$/.test(label)) &&
    !/^\d+$/.test(labels.at(-1)!) &&
    !LOCAL.test(name)
  );
}

interface Outputs {
  readonly list: string;
  readonly hosts: ReadonlySet<string>;
  readonly domains: ReadonlySet<string>;
}

async function outputsOf(text: string, path: string): Promise<Outputs> {
  const project = new MemoryProject({
    "a.txt": text,
    "c.json": JSON.stringify({
      name: "N",
      sources: [{ source: "a.txt", name: "A" }],
      transformations: CHAIN,
      outputs: [
        { format: "hosts", file: "out.hosts" },
        { format: "domains", file: "out.domains" },
      ],
    }),
  });
  const { exit, stderr } = await project.run(
    "compile",
    "-q",
    "-c",
    "c.json",
    "--no-cache",
    ...ACCEPTED.flatMap((code) => ["--accept", code]),
  );
  assert.equal(exit, 0, `${path}: ${stderr}`);
  const lines = (file: string): string[] =>
    project
      .text(file)
      .split("\n")
      .filter((line) => line !== "" && !line.startsWith("#"));
  return {
    list: project.text("rules/n.txt"),
    hosts: new Set(lines("rules/out.hosts").map((line) => line.slice("0.0.0.0 ".length))),
    domains: new Set(lines("rules/out.domains")),
  };
}

/** Names that only one of the two has, a few of them. */
function differences(
  expected: ReadonlySet<string>,
  actual: ReadonlySet<string>,
): string | undefined {
  const missing = [...expected].filter((name) => !actual.has(name));
  const extra = [...actual].filter((name) => !expected.has(name));
  if (missing.length === 0 && extra.length === 0) return undefined;
  return `${missing.length} missing (${missing.slice(0, 3).join(" ")}), ${extra.length} too many (${extra.slice(0, 3).join(" ")})`;
}

test(
  "hosts and domains outputs of real lists have exactly the names that the list names and blocks",
  { timeout: 1_500_000, skip: missingCorpus },
  async (context) => {
    const wrong: string[] = [];
    let names = 0;
    const lists = allLists();
    for (const path of lists) {
      const text = readFileSync(path, "utf8");
      const { list, hosts, domains } = await outputsOf(text, path);
      const published = ListMatcher.of(list);
      const named = ListMatcher.of(text).named();
      const expected = new Set<string>();
      for (const name of named)
        if (isResolvable(name) && published.isBlocked(name)) expected.add(name);
      names += expected.size;
      for (const [format, actual] of [
        ["hosts", hosts],
        ["domains", domains],
      ] as const) {
        const difference = differences(expected, actual);
        if (difference !== undefined)
          wrong.push(`${path.split("/").at(-1)}, ${format}: ${difference}`);
      }
    }
    context.diagnostic(
      `${lists.length} real lists, ${names} names: ${wrong.length} outputs differ`,
    );
    assert.deepEqual(wrong, []);
  },
);
