import assert from "node:assert/strict";
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { corpusFolder, missingCorpus } from "../support/corpus.ts";
import { compilerOf, failuresAlone } from "../support/lists-alone.ts";

/** Real lists that were refused once for a name that they block on purpose; each stands for others of its maintainer. */
const ONCE_REFUSED =
  /anti-AD__anti-ad-easylist|1Hosts__Pro_xtra_adblock|WindowsSpyBlocker__data_hosts_spy|ShadowWhisperer__BlockLists__Lists_(?:Ads|Junk|Microsoft)$|adobe|AntiMalwareAdGuardHome/;
const LARGEST = 1_500_000;
const COUNT = 40;

/** `test/engine/real-lists-alone.nightly.test.ts` has all of them. */
test(
  "forty real lists compile alone with default settings over the loopback",
  { skip: missingCorpus, timeout: 300_000 },
  async (context) => {
    const folder = corpusFolder("power");
    const all = readdirSync(folder).toSorted();
    const named = all.filter((file) => ONCE_REFUSED.test(file));
    const others = all
      .filter((file) => !named.includes(file) && !/whitelist|RPZ|ipv4|Stretcher/i.test(file))
      .filter((file) => statSync(join(folder, file)).size < LARGEST);
    const step = Math.floor(others.length / (COUNT - named.length));
    const files = [...named, ...others.filter((_, index) => index % step === 0)].slice(0, COUNT);
    const failed = await failuresAlone(context, folder, files);
    context.diagnostic(`${files.length} lists: ${named.length} of them were refused once`);
    assert.deepEqual(failed, []);
  },
);

test(
  "twenty real lists compile together with default settings over the loopback",
  { skip: missingCorpus, timeout: 300_000 },
  async (context) => {
    const folder = corpusFolder("typical");
    const compile = await compilerOf(context, folder);
    assert.deepEqual(await compile(readdirSync(folder).toSorted()), { exit: 0, codes: "" });
  },
);
