import assert from "node:assert/strict";
import { readFileSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { Fate } from "../../src/rules/fate.ts";
import { namePattern } from "../../src/syntax/name-pattern.ts";
import { loadRegex } from "../../src/syntax/regex-rule.ts";
import { TrustJudge } from "../../src/syntax/trust.ts";
import { judgeRule } from "../../src/syntax/adblock-rule.ts";
import { corpusFolder, missingCorpus } from "../support/corpus.ts";
import { isNightly } from "../support/nightly.ts";

/** So many pattern lines may all real lists together lose because they match too much. */
const MOST = 10;
const LARGEST = isNightly ? Number.MAX_SAFE_INTEGER : 3_000_000;
const ONE_NAME = /^(?:@@)?\|\|[a-z0-9_.-]+\^(?:\$important)?$|^[a-z0-9_.:\s-]+(?:#.*)?$/i;
const VALID = { allowIp: true, allowPublicSuffix: true };

test(
  "real lists lose few patterns because they match too many names",
  { skip: missingCorpus, timeout: 600_000 },
  async (context) => {
    await loadRegex();
    const lost = new Set<string>();
    let count = 0;
    for (const set of ["typical", "power"] as const)
      for (const file of readdirSync(corpusFolder(set))) {
        const path = join(corpusFolder(set), file);
        if (statSync(path).size > LARGEST) continue;
        const judge = new TrustJudge({ onlyBlocks: false });
        for (const line of readFileSync(path, "latin1").split(/\r?\n/)) {
          if (line === "" || /^[!#[]/.test(line) || ONE_NAME.test(line)) continue;
          if (judgeRule(line, VALID) !== Fate.Kept) continue;
          count++;
          if (judge.judge(line) === Fate.TooWide) lost.add(`${file}: ${line}`);
        }
      }
    for (const one of lost) context.diagnostic(one);
    assert.ok(count > 1000, `${count} patterns`);
    assert.ok(lost.size <= MOST, `${lost.size} of ${count}: ${[...lost].join("\n")}`);
  },
);

test(
  "ten wide lines of a stranger match few names of a real allow-list",
  { skip: missingCorpus, timeout: 600_000 },
  () => {
    const file = join(corpusFolder("power"), "ShadowWhisperer__BlockLists__Whitelists_Filter");
    const names = readFileSync(file, "latin1")
      .split("\n")
      .filter((_, index) => index % 4 === 0);
    const letters = [..."abcdefghijklmnopqrstuvwxyz"];
    const judge = new TrustJudge({ onlyBlocks: true });
    const kept = letters
      .flatMap((one) => letters.flatMap((other) => letters.map((third) => one + other + third)))
      .flatMap((text) => [`||*${text}*`, `||${text}*`, `||*${text}*.com^`])
      .filter((line) => judge.judge(line) === Fate.Kept);
    const best = kept
      .map((line) => ({ line, hits: names.filter(namePattern(line)!) }))
      .toSorted((a, b) => b.hits.length - a.hits.length)
      .slice(0, 10);
    const hits = new Set(best.flatMap((one) => one.hits));
    // The sample is made after real names, it has not all of them.
    assert.ok(hits.size <= names.length / 100, `${hits.size} of ${names.length}`);
  },
);
