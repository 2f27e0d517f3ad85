import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { basename, join } from "node:path";
import { test } from "node:test";
import { corpusFolder, missingCorpus } from "../support/corpus.ts";
import { holdText, timestampOf, replayFiles } from "../support/history-replay.ts";

/** Events: a list and a day on which its maintainers published something else by mistake, or nothing. */
const ACCIDENTS: readonly string[] = [
  "AdroitAdorKhan__EnergizedProtection__core_hosts__2020-05-25",
  "RPiList__specials__Blocklisten_Phishing-Angriffe__2026-06-28",
  "RPiList__specials__Blocklisten_Phishing-Angriffe__2026-07-01",
  "RPiList__specials__Blocklisten_crypto__2024-02-05",
  "RPiList__specials__Blocklisten_notserious__2022-08-30",
  "Yhonay__antipopads__hosts__2017-08-24",
  "Yhonay__antipopads__hosts__2017-12-15",
  "blocklistproject__Lists__adguard_ads-ags.txt__2023-07-11",
  "elliotwutingfeng__GlobalAntiScamOrg-blocklist__global-anti-scam-org-scam-urls-pihole.txt__2023-01-17",
  "elliotwutingfeng__GlobalAntiScamOrg-blocklist__global-anti-scam-org-scam-urls-pihole.txt__2023-04-18",
  "kboghdady__youTube_ads_4_pi-hole__black.list__2020-10-08",
  "mitchellkrogza__Badd-Boyz-Hosts__hosts__2020-04-02",
  "mitchellkrogza__Badd-Boyz-Hosts__hosts__2021-02-17",
  "mitchellkrogza__Badd-Boyz-Hosts__hosts__2021-02-23",
  "notracking__hosts-blocklists__hostnames.txt__2016-09-24",
  "olbat__ut1-blacklists__blacklists_phishing_domains__2020-03-12",
  "r-a-y__mobile-hosts__EasyPrivacy3rdParty.txt__2025-08-08",
  "r-a-y__mobile-hosts__EasyPrivacySpecific.txt__2025-08-08",
];

/** Lists that changed their form and cover what they covered. */
const REWRITES: readonly string[] = [
  "RPiList__specials__Blocklisten_Fake-Science__2023-06-24",
  "RPiList__specials__Blocklisten_Streaming__2023-06-24",
  "RPiList__specials__Blocklisten_notserious__2023-06-24",
  "infinitytec__blocklists__ads-and-trackers.txt__2026-05-24",
  "infinitytec__blocklists__clickbait.txt__2026-04-04",
  "infinitytec__blocklists__scams-and-phishing.txt__2026-05-24",
  "nickspaargaren__no-google__pihole-google-adguard.txt__2025-10-13",
];

/** So many of the other changes, the largest of 130 lists in ten years, are held: clean-ups, resets, and lists that tripled. */
const OTHER_HOLDS = 56;

interface Story {
  readonly events: string[];
  readonly versions: string[];
}

/** Events in order of time. One that begins with the version that another ends with continues its story. */
function storiesOf(folder: string): Story[] {
  const stories: Story[] = [];
  const lastOf = new Map<string, Story>();
  const events = readdirSync(folder).filter((one) => !one.endsWith(".tsv"));
  for (const event of events.toSorted()) {
    const [from, to] = readdirSync(join(folder, event))
      .toSorted()
      .map((file) => join(folder, event, file)) as [string, string];
    const list = event.slice(0, event.lastIndexOf("__"));
    const before = lastOf.get(list);
    if (before !== undefined && basename(before.versions.at(-1)!) === basename(from)) {
      before.events.push(event);
      before.versions.push(to);
      continue;
    }
    const story = { events: [event], versions: [from, to] };
    lastOf.set(list, story);
    stories.push(story);
  }
  return stories;
}

test(
  "real accidents are held or failed fetches, and rewrites of the form pass",
  { skip: missingCorpus, timeout: 600_000 },
  async (context) => {
    const stories = storiesOf(join(corpusFolder("history-events"), "history-events"));
    const stopped = new Set<string>();
    const endless: string[] = [];
    let others = 0;
    for (const { events, versions } of stories) {
      const { failures, holds } = await replayFiles(versions);
      const eventAt = (moment: number): string =>
        events.find((_, index) => timestampOf(versions[index + 1]!) === moment) ?? events[0]!;
      for (const { at, cause } of failures) {
        stopped.add(eventAt(at));
        context.diagnostic(`${eventAt(at)}: a failed fetch: ${cause}`);
      }
      for (const hold of holds) {
        const event = eventAt(hold.from);
        stopped.add(event);
        if (!ACCIDENTS.includes(event)) others++;
        if (hold.to === undefined) endless.push(event);
        context.diagnostic(`${event}: ${holdText(hold)}`);
      }
    }
    const all = stories.flatMap(({ events }) => events);
    context.diagnostic(`${all.length} events; ${others} holds of other changes than accidents`);
    const told = REWRITES.filter((event) => stopped.has(event) || !all.includes(event));
    assert.deepEqual([told, endless], [[], []]);
    assert.deepEqual(
      ACCIDENTS.filter((event) => !stopped.has(event)),
      [],
    );
    assert.equal(others, OTHER_HOLDS);
  },
);
