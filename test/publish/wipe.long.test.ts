import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { test } from "node:test";
import { run } from "../../src/cli/main.ts";
import { memoryHost } from "../support/internals.ts";

const SOURCES = 20;
const NAMES = 100;
const BAD = ["||com^", "0.0.0.0 com", "decade of com"];
const TRANSFORMATIONS = [
  "RemoveComments",
  "Compress",
  "Validate",
  "Deduplicate",
  "InsertFinalNewLine",
];

function linesOf(source: number): string[] {
  return Array.from({ length: NAMES }, (_, index) => `||s${source}n${index}.com^`);
}

function rulesIn(list: string): number {
  return list.split("\n").filter((line) => line.startsWith("||s")).length;
}

for (const place of [0, 7, SOURCES - 1])
  test(`three wiping lines in source ${place} of ${SOURCES} remove nothing and are reported`, async () => {
    const web: Record<string, string> = {};
    const sources = Array.from({ length: SOURCES }, (_, index) => {
      const url = `https://lists.example/${index}.txt`;
      web[url] = [...linesOf(index), ...(index === place ? BAD : [])].join("\n");
      return { source: url, name: `source ${index}`, type: "adblock" };
    });
    for (const transformations of [TRANSFORMATIONS, ["Compress"], []]) {
      const config = JSON.stringify({ name: "N", sources, transformations });
      const host = memoryHost({ files: { "c.json": config }, web });
      const args = ["-c", "c.json", "-o", "l.txt"];
      assert.equal(await run(args, host, new AbortController().signal), 0, host.output.stderr);
      const list = new TextDecoder().decode(host.files.get("/project/l.txt"));
      assert.equal(rulesIn(list), SOURCES * NAMES);
      assert.doesNotMatch(list, /^(?:\|\|com\^|0\.0\.0\.0 com)$/m);
      assert.match(host.output.stderr, new RegExp(`source ${place} .*public-suffix 2`));
    }
    // From a file of one's own, which is trusted, the guard stops it.
    const files: Record<string, string> = { "own.txt": BAD.join("\n") };
    const own = [...sources, { source: "own.txt", name: "own", type: "adblock" }];
    files["c.json"] = JSON.stringify({ name: "N", sources: own, transformations: ["Compress"] });
    const host = memoryHost({ files, web });
    const args = ["-c", "c.json", "-o", "l.txt"];
    const good = new TextEncoder().encode("||good.example^");
    const bad = host.files.get("/project/own.txt")!;
    host.files.set("/project/own.txt", good);
    assert.equal(await run(args, host, new AbortController().signal), 0, host.output.stderr);
    host.files.set("/project/own.txt", bad);
    assert.equal(await run(args, host, new AbortController().signal), 5);
    assert.match(host.output.stderr, /error\[blocks-suffix\]: \|\|com\^ blocks every name/);
    assert.match(host.output.stderr, /own\.txt:1/);
  });

test("the reference loses rules to one of these lines", (context) => {
  const program = join(
    import.meta.dirname,
    "../oracle/node_modules/@adguard/hostlist-compiler/src/cli.js",
  );
  if (!existsSync(program)) {
    context.skip("THE REFERENCE IS NOT INSTALLED: npm run oracle");
    return;
  }
  // It is Node's.
  if (process.versions["deno"] !== undefined || process.versions["bun"] !== undefined) return;
  const folder = mkdtempSync(join(tmpdir(), "wipe-"));
  try {
    const sources = Array.from({ length: SOURCES }, (_, index) => {
      const lines = [...linesOf(index), ...(index === 7 ? BAD.slice(0, 1) : [])];
      writeFileSync(join(folder, `${index}.txt`), lines.join("\n"));
      return { source: `${index}.txt` };
    });
    const config = { name: "N", sources, transformations: TRANSFORMATIONS };
    writeFileSync(join(folder, "c.json"), JSON.stringify(config));
    const args = [program, "-c", "c.json", "-o", "l.txt"];
    const { status } = spawnSync(process.execPath, args, { cwd: folder });
    assert.equal(status, 0);
    assert.equal(rulesIn(readFileSync(join(folder, "l.txt"), "utf8")), 0, "every rule is gone");
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
