import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

const root = join(import.meta.dirname, "../..");

/** Pages that a reader sees, and what stands in them. */
function pages(): (readonly [file: string, text: string])[] {
  const docs = readdirSync(join(root, "docs"), { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".md"))
    .map((file) => join("docs", file));
  return ["README.md", ...docs].map((file) => [file, readFileSync(join(root, file), "utf8")]);
}

test("no page shows more digits than a measurement has", () => {
  const wrong = pages().flatMap(([file, text]) =>
    [...text.matchAll(/\b\d+\.\d{5,}\b/g)].map(([figure]) => `${file}: ${figure}`),
  );
  assert.deepEqual(wrong, []);
});

test("pages quote performance figures from the benchmark results", () => {
  const { costs } = JSON.parse(readFileSync(join(root, "bench/results/typical.json"), "utf8")) as {
    costs: Record<string, { cpuSeconds: number }>;
  };
  const seconds = String(Number(costs["ours"]!.cpuSeconds.toPrecision(3)));
  for (const file of ["README.md", "docs/index.md", "docs/guide/evidence.md"])
    assert.match(
      readFileSync(join(root, file), "utf8"),
      new RegExp(`million lines of real lists in ${seconds.replace(".", "\\.")} s of CPU time;`),
      file,
    );
});

test("package.json has the address of the project", () => {
  const { repository, homepage, bugs } = JSON.parse(
    readFileSync(join(root, "package.json"), "utf8"),
  ) as { repository: { url: string }; homepage: string; bugs: string };
  for (const address of [repository.url, homepage, bugs])
    assert.match(address, /https:\/\/github\.com\/rules-compiler\/rules-compiler/);
});
