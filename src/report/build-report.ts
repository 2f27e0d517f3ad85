import type {
  AliveStats,
  ListBesideOthers,
  NameState,
  SourceAlive,
  TrafficStats,
} from "../documents/facts.ts";
import type { PublishedBuild } from "../builder/state/kept-builds.ts";
import { bufferOf } from "../bytes/text.ts";
import { statsOf } from "../explain/glossary.ts";
import { ListRules } from "../explain/list-rules.ts";
import { SourceLines } from "../explain/source-lines.ts";
import { MappedNames, eachLiveLine } from "../explain/why.ts";
import type { Host } from "../host/host.ts";
import { type NamedLiveness, type Verdicts, livenessFacts } from "../liveness/verdict.ts";
import { soleName } from "../meaning/line.ts";
import type { RankedNames } from "../meaning/ranked-names.ts";
import type { BuildRecord } from "../record/build-record.ts";
import { headerOf, keptBuilds, timestampOf } from "../record/record-file.ts";
import { Fate, hasCause, isSilent } from "../rules/fate.ts";
import { registrableDomain } from "../syntax/host-name.ts";
import { listCondition } from "./attention.ts";
import { searchIndex } from "./page-search.ts";
import { type ReportView, lastChange, reportPage } from "./report-page.ts";

const MOST_PARENTS = 20;
const MOST_POPULAR = 20;
/** Names that are tried to find them. */
const MOST_TRIED = 100_000;

/** What the report shows besides the build. */
interface ReportExtras {
  /** Which sources block the queries of a log. */
  readonly traffic?: TrafficStats | undefined;
  /** All lists of the configuration, if there are several. */
  readonly beside?: readonly ListBesideOthers[] | undefined;
  readonly ranks?: RankedNames | undefined;
  /** Which names exist. */
  readonly verdicts?: Verdicts | undefined;
  /** Where the texts of sources are. */
  readonly cacheDir?: string | undefined;
}

/** The report of a build: one HTML page without any other file. */
export async function buildReport(
  build: PublishedBuild,
  host: Host,
  { traffic, beside, ranks, verdicts, cacheDir }: ReportExtras = {},
): Promise<string> {
  const view = await viewOf(build, host, ranks);
  const alive = verdicts && (await aliveStats(build.record, verdicts, cacheDir, host));
  return reportPage({ ...view, traffic, beside, alive });
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
    history.push({ at: timestampOf(build.stamp), rules: header.rules, bytes: header.bytes });
  }
  return history;
}

/** The domains with the most rules. */
function largestParents(
  list: Uint8Array,
  record: BuildRecord,
  most: number,
): { readonly name: string; readonly rules: number }[] {
  const buffer = bufferOf(list);
  const counts = new Map<string, number>();
  for (const frame of record.frames)
    eachLiveLine(buffer, frame, (_row, start, end) => {
      const name = soleName(buffer.toString("latin1", start, end).trim())?.name;
      if (name === undefined) return;
      const domain = registrableDomain(name) ?? name;
      counts.set(domain, (counts.get(domain) ?? 0) + 1);
    });
  return [...counts]
    .filter(([, rules]) => rules > 1)
    .toSorted(([a, x], [b, y]) => y - x || (a < b ? -1 : 1))
    .slice(0, most)
    .map(([name, rules]) => ({ name, rules }));
}

const MOST_DEAD = 25;
/** Names whose verdict is kept while the sources are searched. */
const MOST_KNOWN = 200_000;

/** What is known about the names of the lines of each source, whether they are in the list or dropped as dead. */
async function aliveStats(
  record: BuildRecord,
  verdicts: Verdicts,
  cacheDir: string | undefined,
  host: Host,
): Promise<AliveStats> {
  const states: Record<NameState, number> = {
    dead: 0,
    held: 0,
    missing: 0,
    parked: 0,
    answers: 0,
    unknown: 0,
  };
  const sources = record.header.sources.map(({ label }) => ({
    label,
    lines: 0,
    dead: 0,
    missing: 0,
    held: 0,
    parked: 0,
  }));
  const known = new Map<string, NamedLiveness>();
  const verdictOf = (name: string): NamedLiveness => {
    let found = known.get(name);
    if (found !== undefined) return found;
    found = verdicts.ofRule(name, true);
    if (known.size < MOST_KNOWN) known.set(name, found);
    return found;
  };
  const dead = new Map<string, NamedLiveness>();
  const lines = new SourceLines(record, cacheDir, host);
  const unseen = await lines.visit(
    (name) => name.includes("."),
    (row) => isJudged(record.fateOf(row)),
    (row, name) => {
      const found = verdictOf(name);
      const isDropped = record.fateOf(row) === Fate.Dead;
      const state = isDropped ? "dead" : found.state;
      states[state]++;
      const source: { -readonly [Key in keyof SourceAlive]: SourceAlive[Key] } =
        sources[record.fileOf(row).source]!;
      source.lines++;
      if (state !== "answers" && state !== "unknown") source[state]++;
      if (found.state === "dead") dead.set(found.name, found);
    },
  );
  const newest = [...dead.values()].toSorted(
    (a, b) => b.since! - a.since! || (a.name < b.name ? -1 : 1),
  );
  return {
    states,
    sources,
    dead: newest.slice(0, MOST_DEAD).map(livenessFacts),
    unseen: unseen.map(({ file }) => file),
  };
}

/** Whether a line is for a name, and only its death is a reason to leave it out. */
function isJudged(fate: number): boolean {
  if (isSilent(fate)) return false;
  return fate === Fate.Kept || fate === Fate.Dead || hasCause(fate);
}
