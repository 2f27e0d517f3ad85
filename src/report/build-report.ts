import type { PublishedBuild } from "../build/state/published-build.ts";
import { ListRules } from "../explain/list-rules.ts";
import { MappedNames } from "../explain/mapped-names.ts";
import { statsOf } from "../explain/stats.ts";
import type { TrafficStats } from "../explain/traffic-stats.ts";
import type { Host } from "../host/host.ts";
import type { RankedNames } from "../meaning/ranked-names.ts";
import { headerOf, keptBuilds, momentOf } from "../record/kept-builds.ts";
import { lastChange } from "./last-change.ts";
import { listCondition } from "./list-condition.ts";
import { largestParents } from "./largest-parents.ts";
import { type ReportView, reportPage } from "./report-page.ts";
import { searchIndex } from "./search-index.ts";

const MOST_PARENTS = 20;
const MOST_POPULAR = 20;
/** Names that are tried to find them. */
const MOST_TRIED = 100_000;

/** What the report shows besides the build. */
export interface ReportExtras {
  /** Which sources block the queries of a log. */
  readonly traffic?: TrafficStats | undefined;
  readonly ranks?: RankedNames | undefined;
}

/** The report of a build: one HTML page without any other file. */
export async function buildReport(
  build: PublishedBuild,
  host: Host,
  { traffic, ranks }: ReportExtras = {},
): Promise<string> {
  return reportPage({ ...(await viewOf(build, host, ranks)), traffic });
}

async function viewOf(
  build: PublishedBuild,
  host: Host,
  ranks: RankedNames | undefined,
): Promise<ReportView> {
  const { path, list, record } = build;
  // First: its memory is free again before the index is made.
  const change = await lastChange(build, host, ranks);
  const rules = await ListRules.of(record, new MappedNames(list, record));
  const index = searchIndex(list, record, rules);
  return {
    header: record.header,
    stats: statsOf(record),
    popular: ranks === undefined ? undefined : popularNames(ranks, rules),
    parents: largestParents(list, record, MOST_PARENTS),
    history: await historyOf(path, host),
    change,
    condition: await listCondition(build, host),
    index,
    untried: rules.special().length - index.rules.length,
  };
}

/** The most popular names that the list blocks. */
function popularNames(ranks: RankedNames, rules: ListRules): NonNullable<ReportView["popular"]> {
  const found: { rank: number; name: string; rule: string }[] = [];
  const most = Math.min(ranks.length, MOST_TRIED);
  for (let index = 0; index < most && found.length < MOST_POPULAR; index++) {
    const name = ranks.nameAt(index);
    const { verdict, by } = rules.answer(name);
    if (verdict === "blocked")
      found.push({ rank: ranks.rankAt(index), name, rule: by?.text ?? "" });
  }
  return found;
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
