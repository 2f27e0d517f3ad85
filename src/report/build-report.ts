import type { PublishedBuild } from "../build/state/published-build.ts";
import { ListRules } from "../explain/list-rules.ts";
import { MappedNames } from "../explain/plain-names.ts";
import { statsOf } from "../explain/stats.ts";
import type { TrafficStats } from "../explain/traffic-stats.ts";
import type { Host } from "../host/host.ts";
import { headerOf, keptBuilds, momentOf } from "../record/kept-builds.ts";
import { largestParents } from "./largest-parents.ts";
import { type ReportView, reportPage } from "./report-page.ts";
import { searchIndex } from "./search-index.ts";

const MOST_PARENTS = 20;

/** The report of a build: one HTML page without any other file. With `traffic`, it shows which sources block the queries of a log. */
export async function buildReport(
  build: PublishedBuild,
  host: Host,
  traffic?: TrafficStats,
): Promise<string> {
  return reportPage({ ...(await viewOf(build, host)), traffic });
}

async function viewOf({ path, list, record }: PublishedBuild, host: Host): Promise<ReportView> {
  const rules = await ListRules.of(record, new MappedNames(list, record));
  const index = searchIndex(list, record, rules);
  return {
    header: record.header,
    stats: statsOf(record),
    parents: largestParents(list, record, MOST_PARENTS),
    history: await historyOf(path, host),
    index,
    untried: rules.special().length - index.rules.length,
  };
}

async function historyOf(path: string, host: Host): Promise<ReportView["history"]> {
  const history: { at: string; rules: number; bytes: number }[] = [];
  for (const build of await keptBuilds(path, host)) {
    const header = await headerOf(build, host);
    if (header === undefined) continue;
    history.push({ at: momentOf(build.stamp), rules: header.rules, bytes: header.bytes });
  }
  return history;
}
