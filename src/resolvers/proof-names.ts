import { canaryOf } from "../publish/list-file.ts";
import { publishedState } from "../builder/state/kept-builds.ts";
import { equalBytes } from "../bytes/text.ts";
import type { Config } from "../config/lists.ts";
import { PROTECTED_NAMES } from "../engine/protected-names.ts";
import type { ListState } from "../explain/list-change.ts";
import { PlainList } from "../explain/plain-list.ts";
import type { Host } from "../host/host.ts";
import { namesIn, soleName } from "../meaning/line.ts";
import type { BuildRecord } from "../record/build-record.ts";
import {
  type KeptBuild,
  keptBuilds,
  listEndOf,
  listOf,
  recordOf,
  timestampOf,
} from "../record/record-file.ts";
import { canaryIn } from "../syntax/host-name.ts";

/** The canary of another build or another list. */
export interface OtherCanary {
  readonly canary: string;
  /** When the build was made, or the name of the list. */
  readonly of: string;
}

/** The names to ask a resolver about, to find out which build of a list it answers from. */
export interface ProofNames {
  /** The canary of the published list. */
  readonly canary: string | undefined;
  /** Canaries of earlier builds, newest first. */
  readonly older: readonly OtherCanary[];
  /** Names that the last change blocked. */
  readonly fresh: readonly string[];
  /** Further names that the list blocks. */
  readonly listed: readonly string[];
  /** Names that the last change unblocked. */
  readonly freed: readonly string[];
  /** Names that must stay reachable. */
  readonly reachable: readonly string[];
  /** Those of the names above that decide: names of fully trusted sources, and of `allow`. */
  readonly deciding: ReadonlySet<string>;
}

const MOST_FRESH = 6;
const MOST_LISTED = 10;
const MOST_FREED = 4;
const MOST_REACHABLE = 4;
const MOST_OLDER = 6;
/** How many candidates are looked at for each name that is asked for. */
const CANDIDATES = 8;
const PLAIN_NAME =
  /^(?=.{4,200}$)(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z][a-z0-9-]*[a-z0-9]$/;

/** Rejects with a `HostError` if the list cannot be read. */
export async function proofNames(path: string, config: Config, host: Host): Promise<ProofNames> {
  const now = await publishedState(path, host);
  const canary = canaryOf(now.bytes);
  const { older, before } = await olderBuilds(path, now.bytes, host);
  const list = await OwnedList.read(now, config);
  const old = before && (await OwnedList.read(before, config));
  // An output with `fit` may leave names out.
  const isWhole = (config.outputs ?? []).every(({ fit }) => fit === undefined);
  const allowed = (config.allow ?? []).flatMap(namesIn).filter((name) => PLAIN_NAME.test(name));
  const needed = [...allowed, ...PROTECTED_NAMES];
  const changed = changedNames(list, old, needed);
  return {
    canary,
    older,
    fresh: isWhole ? changed.fresh : [],
    listed: isWhole ? changed.listed : [],
    freed: changed.freed,
    reachable: needed.filter((name) => list.isOpen(name)).slice(0, MOST_REACHABLE),
    deciding: new Set([...changed.own, ...allowed]),
  };
}

/** The canaries of the builds before, and the last build with another list. Of the others, only the end is kept in memory. */
async function olderBuilds(
  path: string,
  now: Uint8Array,
  host: Host,
): Promise<{ readonly older: OtherCanary[]; readonly before: ListState | undefined }> {
  const canary = canaryOf(now);
  const older: OtherCanary[] = [];
  const seen = new Set<string | undefined>();
  let before: KeptBuild | undefined;
  for (const build of (await keptBuilds(path, host)).toReversed()) {
    const { list } = build.files;
    if (seen.has(list)) continue;
    seen.add(list);
    const end = await listEndOf(build, host);
    if (end === undefined) break;
    const other = canaryOf(end);
    if (other === canary && (canary !== undefined || (await isListOf(build, now, host)))) continue;
    before ??= build;
    if (other !== undefined && !older.some((one) => one.canary === other))
      older.push({ canary: other, of: timestampOf(build.stamp) });
    if (older.length === MOST_OLDER) break;
  }
  const bytes = before && (await listOf(before, host));
  return { older, before: bytes && { bytes, record: await recordOf(before!, host) } };
}

async function isListOf(build: KeptBuild, bytes: Uint8Array, host: Host): Promise<boolean> {
  const list = await listOf(build, host);
  return list !== undefined && equalBytes(list, bytes);
}

/** A list, and which of its rules come from fully trusted sources: by its record, none without one. */
class OwnedList {
  readonly list: PlainList;
  private readonly record: BuildRecord | undefined;
  private readonly isOwnFile: readonly boolean[];
  private constructor(list: PlainList, record: BuildRecord | undefined, { sources }: Config) {
    this.list = list;
    this.record = record;
    this.isOwnFile = (record?.header.files ?? []).map(({ source, path }) => {
      const { label, source: address } = record!.header.sources[source] ?? {};
      const entry = sources.find(
        ({ name, source: own }) => (name ?? own) === label || own === address,
      );
      const trust = entry?.trust ?? (path === undefined ? "standard" : "full");
      return entry !== undefined && trust === "full";
    });
  }

  static async read({ bytes, record }: ListState, config: Config): Promise<OwnedList> {
    return new OwnedList(await PlainList.read(bytes), record, config);
  }

  /** Whether the resolver looks the name up: it is neither blocked nor has another answer. */
  isOpen(name: string): boolean {
    const { verdict } = this.list.rules.answer(name);
    return verdict !== "blocked" && verdict !== "rewritten";
  }

  /** Some names of rules from fully trusted sources, and of others: candidates for a number of names. */
  candidates(rules: Uint32Array, most: number): Candidates {
    const { list, record, isOwnFile } = this;
    const frames = record?.frames ?? [];
    const own = new Uint32Array(rules.length);
    const others = new Uint32Array(rules.length);
    let [ownCount, otherCount, frame] = [0, 0, 0];
    for (const start of rules) {
      // A frame begins with the line feed before its first rule.
      while (frame + 1 < frames.length && frames[frame + 1]!.offset < start) frame++;
      const isOwn = frames.length > 0 && isOwnFile[frames[frame]!.file] === true;
      if (isOwn) own[ownCount++] = start;
      else others[otherCount++] = start;
    }
    const namesOf = (starts: Uint32Array): string[] =>
      list
        .textsAt(Uint32Array.from(spread(starts, most * CANDIDATES)))
        .flatMap((text) => soleName(text)?.name ?? [])
        .filter((name) => PLAIN_NAME.test(name) && canaryIn(name) === undefined);
    return {
      own: namesOf(own.subarray(0, ownCount)),
      others: namesOf(others.subarray(0, otherCount)),
      most,
    };
  }
}

/** Names of which some are asked for. */
interface Candidates {
  readonly own: readonly string[];
  readonly others: readonly string[];
  readonly most: number;
}

/** Without an earlier build, no name is new. `others` are further names that the new list will be asked about. */
function changedNames(
  now: OwnedList,
  before: OwnedList | undefined,
  others: readonly string[],
): Pick<ProofNames, "fresh" | "listed" | "freed"> & { readonly own: readonly string[] } {
  const old = before ?? now;
  const none = new Uint32Array(0);
  const rules = {
    fresh: before === undefined ? none : now.list.nameRules(now.list.without(before.list)),
    listed: now.list.nameRules(),
    freed: before === undefined ? none : before.list.nameRules(before.list.without(now.list)),
  };
  const all = {
    fresh: now.candidates(rules.fresh, MOST_FRESH),
    listed: now.candidates(rules.listed, MOST_LISTED),
    freed: old.candidates(rules.freed, MOST_FREED),
  };
  const asked = Object.values(all).flatMap((one) => [...one.own, ...one.others]);
  now.list.expect([...asked, ...others]);
  if (old !== now) old.list.expect(asked);
  const isNow = (name: string): boolean => now.list.isBlocked(name);
  const wasBlocked = (name: string): boolean => old.list.isBlocked(name);
  const fresh = some(all.fresh, (name) => isNow(name) && !wasBlocked(name));
  const listed = some(all.listed, (name) => isNow(name) && wasBlocked(name));
  const freed = some(all.freed, (name) => now.isOpen(name) && wasBlocked(name));
  return {
    fresh: fresh.names,
    listed: listed.names,
    freed: freed.names,
    own: [...fresh.own, ...listed.own, ...freed.own],
  };
}

/** Some of the wanted names, half of them from own lines if there are enough. */
function some(
  { own, others, most }: Candidates,
  isWanted: (name: string) => boolean,
): { readonly names: readonly string[]; readonly own: readonly string[] } {
  const foreign = spread(others.filter(isWanted), most);
  const owned = spread(own.filter(isWanted), Math.max(most - foreign.length, most / 2));
  const names = new Set([...owned, ...spread(foreign, most - owned.length)]);
  return { names: [...names], own: owned };
}

/** At most `most` entries, evenly spread, with the first and the last. */
function spread<T>(all: ArrayLike<T>, most: number): T[] {
  if (all.length <= most) return Array.from(all);
  if (most < 2) return Array.from(all).slice(0, most);
  const step = (all.length - 1) / (most - 1);
  return Array.from({ length: most }, (_, index) => all[Math.round(index * step)]!);
}
