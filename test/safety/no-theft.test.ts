import assert from "node:assert/strict";
import { test } from "node:test";
import { MemoryProject } from "../support/memory-project.ts";

/** A list of an own file and a source below full trust, in both orders, with and without Compress. */
async function verdicts(
  name: string,
  { own, other, more = {} }: { own: string; other: string; more?: object },
): Promise<string[]> {
  const found = [];
  for (const isOwnFirst of [true, false])
    for (const transformations of [[], ["Compress"], ["Compress", "Validate", "Deduplicate"]]) {
      const sources = [
        { source: "own.txt", name: "Own" },
        { source: "other.txt", name: "Other", trust: "block-only" },
      ];
      const project = new MemoryProject({
        "c.json": JSON.stringify({
          name: "N",
          sources: isOwnFirst ? sources : sources.toReversed(),
          transformations,
          ...more,
        }),
        "own.txt": own,
        "other.txt": other,
      });
      const { exit, stderr } = await project.run("-c", "c.json");
      assert.equal(exit, 0, stderr);
      const { stdout } = await project.run("why", "-c", "c.json", name);
      found.push(/ {2}(?<verdict>[A-Z]+) in/.exec(stdout)?.groups?.["verdict"] ?? stdout);
    }
  return found;
}

const BLOCKED = Array.from({ length: 6 }, () => "BLOCKED");

test("a broader rule of another source does not unblock what an own file blocks", async () => {
  for (const own of ["||ocsp.sectigo.com^", "0.0.0.0 ocsp.sectigo.com", "||sectigo.com^"])
    for (const other of ["||sectigo.com^", "||ocsp*.sectigo.com^"])
      assert.deepEqual(
        await verdicts("ocsp.sectigo.com", { own, other }),
        BLOCKED,
        `${own} ${other}`,
      );
  // Names that people need, as well.
  for (const own of ["||www.google.com^", "||google.com^"])
    assert.deepEqual(await verdicts("www.google.com", { own, other: "||google.com^" }), BLOCKED);
});
