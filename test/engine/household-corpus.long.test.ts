import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { Compilation } from "../../src/engine/compile.ts";
import type { CompiledList } from "../../src/engine/report.ts";
import { householdKinds, isAcceptedKind } from "../../src/engine/protected-names.ts";
import { planOf } from "../../src/engine/plan.ts";
import { listFeatures } from "../../src/features/registry.ts";
import { corpusFolder, missingCorpus } from "../support/corpus.ts";
import { CompilerError, nodeHost } from "../support/internals.ts";
import { isNightly } from "../support/nightly.ts";

/** Ad, tracker and malware lists may lose this many names each; all lists together ten times as many. */
const MOST = 3;
const MOST_IN_ALL = 30;
/** Lists that block what people use on purpose (one vendor, one kind of sites, free hosts, "extremely experimental"), and lists that do not block. */
const ON_PURPOSE =
  /facebook|whatsapp|tiktok|twitter|social|Lists_Junk|Lists_Microsoft|Lists_Free|SpyBlocker.*(?:extra|update)|SupportingRussia|adobe|Pro_xtra|ut1-blacklists|whitelist|exclusions/i;
/** An old list of advertisers that blocks the search engine of 27 countries: what the table is for. */
const BLOCKS_SEARCH = "ragibkl__adblock-dns-server__data_blacklist.d_rlwpx_advertising.hosts";
/** Lists of social media and messengers alone. */
const SOCIAL = /facebook|whatsapp|tiktok|twitter|extensions_social|social-hosts/i;
const LARGEST = isNightly ? Number.MAX_SAFE_INTEGER : 3_000_000;

/** A list, compiled as a source that the published list has (`isKnown`) or that is new. Undefined for a file that is no block-list. */
async function compiled(
  path: string,
  published: string,
  isKnown: boolean,
): Promise<Pick<CompiledList, "report" | "diagnostics"> | undefined> {
  const sources = [{ source: path, trust: "standard" as const, name: "List" }];
  const plan = planOf(
    { name: "N", sources, transformations: ["Compress", "Validate"] },
    { features: listFeatures },
  );
  const compilation = new Compilation(plan, nodeHost(), () => {}, {});
  try {
    await compilation.fetch();
    const known = new Map(isKnown ? plan.sources.map(({ shown }) => [shown, {}]) : []);
    return await compilation.compile({ path: published, sources: known });
  } catch (error) {
    if (error instanceof CompilerError) return undefined;
    throw error;
  } finally {
    compilation.close();
  }
}

/** Calls `visit` with each list of the corpus. */
async function eachList(
  visit: (file: string, path: string, empty: string) => Promise<void>,
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "household-"));
  const empty = join(folder, "n.txt");
  writeFileSync(empty, "");
  for (const set of ["typical", "power"] as const)
    for (const file of readdirSync(corpusFolder(set)).toSorted()) {
      const path = join(corpusFolder(set), file);
      if (statSync(path).size <= LARGEST) await visit(file, path, empty);
    }
  rmSync(folder, { recursive: true });
}

test(
  "real lists lose few names that people need as tonight's update of their own empty edition",
  { skip: missingCorpus, timeout: 600_000 },
  async (context) => {
    let all = 0;
    const over: string[] = [];
    await eachList(async (file, path, empty) => {
      const { report } = (await compiled(path, empty, true)) ?? {};
      const lost = report?.sources[0]!.household ?? [];
      if (lost.length === 0) return;
      context.diagnostic(`${file}: ${lost.join(" ")}`);
      if (ON_PURPOSE.test(file) || file === BLOCKS_SEARCH) return;
      all += lost.length;
      if (lost.length > MOST) over.push(`${file}: ${lost.join(" ")}`);
    });
    assert.deepEqual(over, []);
    assert.ok(all <= MOST_IN_ALL, `${all} names in all`);
  },
);

test(
  "real lists of social media pass as new sources, with one note",
  { skip: missingCorpus, timeout: 600_000 },
  async () => {
    let count = 0;
    await eachList(async (file, path, empty) => {
      if (!SOCIAL.test(file)) return;
      const list = await compiled(path, empty, false);
      const { household = [], kinds = {} } = list?.report.sources[0] ?? {};
      assert.deepEqual(
        household.filter((name) => isAcceptedKind(householdKinds().get(name)!)),
        [],
        file,
      );
      if (Object.keys(kinds).length === 0) return;
      count++;
      const notes = list?.diagnostics.filter(({ code }) => code === "household-blocked");
      assert.equal(notes?.length, 1, file);
    });
    assert.ok(count >= 8, `${count} lists`);
  },
);
