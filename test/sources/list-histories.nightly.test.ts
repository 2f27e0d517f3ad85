import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { corpusFolder, missingCorpus } from "../support/corpus.ts";
import { dayOf, holdText, timestampOf, replayFiles } from "../support/history-replay.ts";

const YEAR_MS = 365 * 86_400_000;
/** Lists with new names every day. The others are slow. */
const FAST = /-(?:fast|cname|mail)$/;
/** In these months, maintainers published something else by mistake, or their list died. */
const ACCIDENTS: readonly (readonly [string, RegExp])[] = [
  ["AdroitAdorKhan__EnergizedProtection__core_hosts", /^2022-1[12]/],
  ["RPiList__specials__Blocklisten_crypto", /^2024-0[24]/],
  ["blocklistproject__Lists__adguard_ads-ags.txt", /^2023-07/],
  ["mitchellkrogza__Badd-Boyz-Hosts__dnsmasq", /^2021-0[24]/],
  ["mitchellkrogza__Badd-Boyz-Hosts__hosts", /^2021-0[24]/],
];

test(
  "130 real lists for years: accidents are held or failed fetches, and slow lists are held less than once a year",
  { skip: missingCorpus, timeout: 3_600_000 },
  async (context) => {
    const folder = join(corpusFolder("history"), "history");
    const rows = readFileSync(join(folder, "INDEX.tsv"), "utf8").trim().split("\n").slice(1);
    const stopped = new Set<string>();
    const often: string[] = [];
    let [years, holds, failures] = [0, 0, 0];
    for (const row of rows) {
      const [list, kind] = row.split("\t") as [string, string];
      const files = readdirSync(join(folder, list))
        .toSorted()
        .map((file) => join(folder, list, file));
      const replay = await replayFiles(files);
      const isAccident = (moment: number): boolean =>
        ACCIDENTS.some(([name, days]) => name === list && days.test(dayOf(moment)));
      for (const { at, cause } of replay.failures)
        context.diagnostic(`${list}: ${dayOf(at)}, a failed fetch: ${cause}`);
      for (const hold of replay.holds) context.diagnostic(`${list}: ${holdText(hold)}`);
      const moments = [
        ...replay.failures.map(({ at }) => at),
        ...replay.holds.map(({ from }) => from),
      ];
      if (moments.some(isAccident)) stopped.add(list);
      failures += replay.failures.length;
      if (FAST.test(kind)) continue;
      const honest = replay.holds.filter(({ from }) => !isAccident(from)).length;
      const span = (timestampOf(files.at(-1)!) - timestampOf(files[0]!)) / YEAR_MS;
      if (honest > Math.max(1, span)) often.push(`${list}: ${honest} holds`);
      years += span;
      holds += honest;
    }
    context.diagnostic(
      `${rows.length} lists, ${failures} failed fetches; slow lists: ${holds} holds of honest changes in ${Math.round(years)} years`,
    );
    assert.deepEqual(
      ACCIDENTS.map(([list]) => list).filter((list) => !stopped.has(list)),
      [],
    );
    assert.deepEqual(often, []);
    assert.ok(holds <= years, `${holds} holds in ${years} years`);
  },
);
