import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { licenceIn, termsOf } from "../../src/features/licences.ts";
import { corpusEntries, corpusFolder, missingCorpus } from "../support/corpus.ts";

/** Read by a person. */
const CHECKED: Readonly<Record<string, string>> = {
  "blocklistproject__Lists__facebook.txt": "MIT",
  "FiltersHeroes__KADhosts__KADhosts.txt": "CC-BY-SA-4.0",
  "AdAway__adaway.github.io__hosts.txt": "CC-BY-3.0",
  "StevenBlack__hosts__data_mvps.org_hosts": "CC-BY-NC-SA",
  "lightswitch05__hosts__docs_lists_amp-hosts-extended.txt": "Apache-2.0",
  "ragibkl__adblock-dns-server__data_blacklist.d_rlwpx_malware.hosts": "CC-BY-NC-3.0",
  "blocklistproject__Lists__youtube.txt": "Unlicense",
  "hagezi__dns-blocklists__3p_someonewhocares.adblock.txt": "non-commercial with attribution",
  "hagezi__dns-blocklists__3p_jawz101.subdomains.adblock.txt": "not stated",
  "durablenapkin__scamblocklist__adguard.txt": "MIT",
};

test("licences in the headers of real lists", { skip: missingCorpus }, (context) => {
  const folder = corpusFolder("power");
  const counts = new Map<string, number>();
  const found = new Map<string, string>();
  for (const { file } of corpusEntries()) {
    let text: string;
    try {
      text = readFileSync(join(folder, file), "utf8");
    } catch {
      continue;
    }
    const comments = text.split("\n", 300).filter((line) => /^\s*[!#;]/.test(line));
    const licence = licenceIn(comments);
    const terms = licence === undefined ? undefined : termsOf(licence);
    const shown = terms?.id ?? (licence === undefined ? "not stated" : "other words");
    counts.set(shown, (counts.get(shown) ?? 0) + 1);
    found.set(file, shown);
  }
  context.diagnostic(
    JSON.stringify(Object.fromEntries([...counts].toSorted(([, a], [, b]) => b - a))),
  );
  for (const [file, licence] of Object.entries(CHECKED))
    assert.equal(found.get(file), licence, file);
  const page = readFileSync(join(import.meta.dirname, "../../docs/guide/writing-lists.md"), "utf8");
  assert.ok(page.includes(`(${counts.get("not stated")} of ${found.size} lists of our tests)`));
});
