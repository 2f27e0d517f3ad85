import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { test } from "node:test";
import { corpusFolder, missingCorpus } from "../support/corpus.ts";
import { failuresAlone } from "../support/lists-alone.ts";

/** Lists without a single rule for DNS, as they are read at default settings: cosmetic rules, a zone, addresses. */
const WITHOUT_RULES = [
  "DandelionSprout__adfilt__Dandelion_Sprout's_Website_Stretcher.txt",
  "DandelionSprout__adfilt__NorwegianExperimentalList_alternate_versions_NordicFiltersRPZ.txt",
  "elliotwutingfeng__Inversion-DNSBL-Blocklists__Google_ipv4.txt",
];
/** Lists of names that must stay reachable. As sources they would block dozens of protected names, and may fail for that. */
const IS_ALLOW_LIST = /whitelist|Filters_ex(?:ceptions|clusions)/i;

for (const set of ["typical", "power"] as const)
  test(
    `${set}: every real list compiles alone with default settings over the loopback`,
    { timeout: 1_800_000, skip: missingCorpus },
    async (context) => {
      const folder = corpusFolder(set);
      const files = readdirSync(folder).toSorted();
      const failed = await failuresAlone(context, folder, files);
      context.diagnostic(`${files.length} lists, ${failed.length} failed`);
      for (const { file, exit, codes } of failed)
        context.diagnostic(`${file}: exit ${exit}, ${codes}`);
      assert.deepEqual(
        failed.filter(({ file, exit }) => exit !== 4 || !IS_ALLOW_LIST.test(file)),
        WITHOUT_RULES.filter((file) => files.includes(file)).map((file) => ({
          file,
          exit: 5,
          codes: "too-few-rules",
        })),
      );
    },
  );
