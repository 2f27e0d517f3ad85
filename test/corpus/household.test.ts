import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { Compilation } from "../../src/engine/compile.ts";
import { planOf } from "../../src/engine/plan.ts";
import { corpusFolder, missingCorpus } from "../support/corpus.ts";
import { CompilerError, nodeHost } from "../support/internals.ts";
import { isNightly } from "../support/nightly.ts";

/** Ad, tracker and malware lists may lose this many names each; all lists together ten times as many. */
const MOST = 3;
const MOST_IN_ALL = 30;
/** Lists that block what people use on purpose (one vendor, one kind of sites), and lists that do not block. */
const ON_PURPOSE =
  /facebook|whatsapp|tiktok|twitter|social|Lists_Junk|Lists_Microsoft|SupportingRussia|adobe|ut1-blacklists|whitelist|exclusions/i;
const LARGEST = isNightly ? Number.MAX_SAFE_INTEGER : 3_000_000;

/** The names that a list loses as tonight's update of its own empty edition. */
async function lostNames(path: string, empty: string): Promise<string[]> {
  const sources = [{ source: path, trust: "standard" as const, name: "List" }];
  const plan = planOf({ name: "N", sources, transformations: ["Compress", "Validate"] });
  const compilation = new Compilation(plan, nodeHost(), () => {}, {});
  try {
    await compilation.fetch();
    const known = new Set(plan.sources.map(({ shown }) => shown));
    const list = await compilation.compile({ path: empty, sources: known });
    return [...(list.report.sources[0]!.household ?? [])];
  } catch (error) {
    // Allow-lists and other files that are no block-lists.
    if (error instanceof CompilerError) return [];
    throw error;
  } finally {
    compilation.close();
  }
}

test(
  "real lists lose few names that people need",
  { skip: missingCorpus, timeout: 600_000 },
  async (context) => {
    const folder = mkdtempSync(join(tmpdir(), "household-"));
    const empty = join(folder, "n.txt");
    writeFileSync(empty, "");
    let all = 0;
    const over: string[] = [];
    for (const set of ["typical", "power"] as const)
      for (const file of readdirSync(corpusFolder(set)).toSorted()) {
        const path = join(corpusFolder(set), file);
        if (statSync(path).size > LARGEST) continue;
        const lost = await lostNames(path, empty);
        if (lost.length === 0) continue;
        context.diagnostic(`${file}: ${lost.join(" ")}`);
        if (ON_PURPOSE.test(file)) continue;
        all += lost.length;
        if (lost.length > MOST) over.push(`${file}: ${lost.join(" ")}`);
      }
    rmSync(folder, { recursive: true });
    assert.deepEqual(over, []);
    assert.ok(all <= MOST_IN_ALL, `${all} names in all`);
  },
);
