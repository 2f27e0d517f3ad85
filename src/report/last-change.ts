import { keptStates } from "../build/state/kept-build.ts";
import type { PublishedBuild } from "../build/state/published-build.ts";
import { equalBytes } from "../bytes/search.ts";
import { type Change, changedText } from "../explain/effective-diff.ts";
import { type ListChange, listChange } from "../explain/list-change.ts";
import { namesWith, rankOfChange } from "../explain/popular-changes.ts";
import type { Host } from "../host/host.ts";
import type { RankedNames } from "../meaning/ranked-names.ts";
import { headerOf, keptBuilds, momentOf } from "../record/kept-builds.ts";
import type { RecordHeader } from "../record/record-format.ts";

/** A changed name on the page. */
export interface ShownName {
  readonly name: string;
  /** The deciding rule, unless it is plain. */
  readonly rule: string;
  readonly source?: string | undefined;
  readonly rank?: number | undefined;
}

/** Names whose answer changed in one way: the first ones, and the number of all. */
export interface ChangedNames {
  readonly count: number;
  readonly shown: readonly ShownName[];
}

/** What the rules of two builds have not in common, and the effect. */
export interface RuleChange {
  readonly added: number;
  readonly removed: number;
  readonly bySource: ListChange["bySource"];
  readonly blocked: ChangedNames;
  readonly freed: ChangedNames;
  /** Changed patterns that were compared on known names only. */
  readonly patterns: number;
}

/** What changed since the build before. */
export interface LastChange {
  readonly since: string;
  readonly before: RecordHeader;
  /** `same` if no rule changed; `too-large` and `unreadable` if the rules were not compared. */
  readonly rules: RuleChange | "same" | "too-large" | "unreadable";
}

/** Names that the page shows. */
const MOST_NAMES = 10;
/**
 * Both lists together, in bytes. The comparison needs about 17 times as much memory; beyond this, more than the rest of the
 * report, which must fit into a small container.
 */
const MOST_COMPARED = 24_000_000;

/** The change from the build before to the last one; undefined if no earlier build is kept. */
export async function lastChange(
  { path, list, record }: PublishedBuild,
  host: Host,
  ranks: RankedNames | undefined,
): Promise<LastChange | undefined> {
  const builds = await keptBuilds(path, host);
  const [older, newest] = builds.slice(-2);
  const before = older && newest && (await headerOf(older, host));
  if (before === undefined) return undefined;
  const since = momentOf(older!.stamp);
  if (older!.files.list === newest!.files.list) return { since, before, rules: "same" };
  if (before.bytes + list.length > MOST_COMPARED) return { since, before, rules: "too-large" };
  for await (const { at, state } of keptStates(path, host)) {
    if (at !== since) continue;
    if (equalBytes(state.bytes, list)) return { since, before, rules: "same" };
    const change = await listChange(state, { bytes: list, record });
    return { since, before, rules: shownChange(change, ranks) };
  }
  return { since, before, rules: "unreadable" };
}

function shownChange(change: ListChange, ranks: RankedNames | undefined): RuleChange | "same" {
  const { added, removed, bySource, patterns } = change;
  if (added.length + removed.length === 0) return "same";
  const names = (kind: Change): ChangedNames => {
    const all = namesWith(kind, change.changes, ranks);
    const shown = all.slice(0, MOST_NAMES).map((one) => ({
      name: changedText(one, kind, String),
      // A rule that is the name itself says nothing more.
      rule: [one.name, `||${one.name}^`].includes(one.rule ?? "") ? "" : (one.rule ?? ""),
      source: change.locations.get(one.rule ?? "")?.source,
      rank: ranks && rankOfChange(one, ranks),
    }));
    return { count: all.length, shown };
  };
  return {
    added: added.length,
    removed: removed.length,
    bySource,
    blocked: names("blocked"),
    freed: names("freed"),
    patterns: patterns.length,
  };
}
