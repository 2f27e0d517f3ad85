import { canaryOf } from "../builder/draft/prepare.ts";
import { keptStates, publishedState } from "../builder/state/kept-builds.ts";
import { bufferOf, decodeUtf8 } from "../bytes/text.ts";
import type { Config } from "../config/lists.ts";
import { PROTECTED_NAMES } from "../engine/protected-names.ts";
import type { ListState } from "../explain/list-change.ts";
import { ListRules, PlainList, SearchedNames, partsOf } from "../explain/list-rules.ts";
import { eachLiveLine } from "../explain/why.ts";
import type { Host } from "../host/host.ts";
import { exactName, namesIn, soleName, subtreeName } from "../meaning/line.ts";
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
  const older: OtherCanary[] = [];
  let before: ListState | undefined;
  for await (const { at, state } of keptStates(path, host)) {
    const other = canaryOf(state.bytes);
    if (other === canary && (canary !== undefined || isSame(state, now))) continue;
    before ??= state;
    if (other !== undefined && !older.some((one) => one.canary === other))
      older.push({ canary: other, of: at });
    if (older.length === MOST_OLDER) break;
  }
  const list = await LineSet.read(now);
  const old = before && { text: await LineSet.read(before), own: ownLines(before, config) };
  const changed = changedNames({ text: list, own: ownLines(now, config) }, old);
  // An output with `fit` may leave names out.
  const isWhole = (config.outputs ?? []).every(({ fit }) => fit === undefined);
  const allowed = (config.allow ?? []).flatMap(namesIn).filter((name) => PLAIN_NAME.test(name));
  return {
    canary,
    older,
    fresh: isWhole ? changed.fresh : [],
    listed: isWhole ? changed.listed : [],
    freed: changed.freed,
    reachable: [...allowed, ...PROTECTED_NAMES]
      .filter((name) => list.isOpen(name))
      .slice(0, MOST_REACHABLE),
    deciding: new Set([...changed.own, ...allowed]),
  };
}

/** The lines of a list that come from fully trusted sources, by its record; none without one. */
function ownLines({ bytes, record }: ListState, { sources }: Config): ReadonlySet<string> {
  const lines = new Set<string>();
  if (record === undefined) return lines;
  const { header, frames } = record;
  const buffer = bufferOf(bytes);
  const isOwn = header.files.map(({ source, path }) => {
    const { label, source: address } = header.sources[source] ?? {};
    const entry = sources.find(
      ({ name, source: own }) => (name ?? own) === label || own === address,
    );
    const trust = entry?.trust ?? (path === undefined ? "standard" : "full");
    return entry !== undefined && trust === "full";
  });
  for (const frame of frames)
    if (isOwn[frame.file] === true)
      eachLiveLine(buffer, frame, (_row, start, end) => {
        lines.add(buffer.toString("utf8", start, end).trim());
      });
  return lines;
}

function isSame(one: ListState, other: ListState): boolean {
  return (
    one.bytes.length === other.bytes.length &&
    one.bytes.every((byte, at) => byte === other.bytes[at])
  );
}

/** A list, and its lines that come from fully trusted sources. */
interface OwnedText {
  readonly text: LineSet;
  readonly own: ReadonlySet<string>;
}

/** Without an earlier build, no name is new. */
function changedNames(
  { text: now, own }: OwnedText,
  before: OwnedText | undefined,
): Pick<ProofNames, "fresh" | "listed" | "freed"> & { readonly own: readonly string[] } {
  const old = before?.text ?? now;
  const lines = now.nameLines();
  const isFresh = (name: string): boolean => now.isBlocked(name) && !old.isBlocked(name);
  const isFreed = (name: string): boolean => now.isOpen(name) && old.isBlocked(name);
  const isListed = (name: string): boolean => now.isBlocked(name) && old.isBlocked(name);
  const fresh = some(
    lines.filter((line) => !old.has(line)),
    own,
    MOST_FRESH,
    isFresh,
  );
  const listed = some(lines, own, MOST_LISTED, isListed);
  const freed = some(
    old.nameLines().filter((line) => !now.has(line)),
    before?.own ?? own,
    MOST_FREED,
    isFreed,
  );
  return {
    fresh: fresh.names,
    listed: listed.names,
    freed: freed.names,
    own: [...fresh.own, ...listed.own, ...freed.own],
  };
}

/** Some of the wanted names, half of them from own lines if there are enough. Looks at a few candidates only. */
function some(
  lines: readonly string[],
  own: ReadonlySet<string>,
  most: number,
  isWanted: (name: string) => boolean,
): { readonly names: readonly string[]; readonly own: readonly string[] } {
  const take = (from: readonly string[], count: number): string[] => {
    const names = spread(from, count * CANDIDATES).flatMap((line) => soleName(line)?.name ?? []);
    const plain = names.filter((name) => PLAIN_NAME.test(name) && canaryIn(name) === undefined);
    return spread(plain.filter(isWanted), count);
  };
  const others = take(
    lines.filter((line) => !own.has(line)),
    most,
  );
  const half = Math.max(most - others.length, most / 2);
  const owned = take(
    lines.filter((line) => own.has(line)),
    half,
  );
  return { names: [...owned, ...spread(others, most - owned.length)], own: owned };
}

/** At most `most` entries, evenly spread, with the first and the last. */
function spread(all: readonly string[], most: number): string[] {
  if (all.length <= most) return [...all];
  if (most < 2) return all.slice(0, most);
  const step = (all.length - 1) / (most - 1);
  return Array.from({ length: most }, (_, index) => all[Math.round(index * step)]!);
}

/** A list as a set of lines. For a few names, an index of all names would take ten times as long. */
class LineSet {
  private readonly lines: ReadonlySet<string>;
  private readonly rules: ListRules;

  private constructor(lines: ReadonlySet<string>, rules: ListRules) {
    this.lines = lines;
    this.rules = rules;
  }

  static async read({ bytes, record }: ListState): Promise<LineSet> {
    const rules =
      record === undefined
        ? (await PlainList.read(bytes)).rules
        : await ListRules.of(record, new SearchedNames(record, partsOf(bytes, record)));
    return new LineSet(new Set(decodeUtf8(bytes).split("\n")), rules);
  }

  has(line: string): boolean {
    return this.lines.has(line);
  }

  isBlocked(name: string): boolean {
    return this.rules.answer(name).verdict === "blocked";
  }

  /** Whether the resolver looks the name up: it is neither blocked nor has another answer. */
  isOpen(name: string): boolean {
    const { verdict } = this.rules.answer(name);
    return verdict !== "blocked" && verdict !== "rewritten";
  }

  /** Lines that block a name with its subdomains; without any, lines for single names. More formats can express the former. */
  nameLines(): string[] {
    const all = [...this.lines];
    const subtrees = all.filter((line) => subtreeName(line) !== undefined);
    return subtrees.length > 1 ? subtrees : all.filter((line) => exactName(line) !== undefined);
  }
}
