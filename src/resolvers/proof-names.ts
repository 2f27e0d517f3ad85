import { canaryOf } from "../build/list-canary.ts";
import { keptStates } from "../build/state/kept-build.ts";
import { publishedState } from "../build/state/published-build.ts";
import type { Config } from "../config/config.ts";
import { PROTECTED_NAMES } from "../engine/protected-names.ts";
import type { ListState } from "../explain/list-change.ts";
import type { Host } from "../host/host.ts";
import { namesIn, soleName } from "../meaning/line.ts";
import { canaryIn } from "../syntax/canary-name.ts";
import { ListText } from "./list-text.ts";

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
  const list = await ListText.read(now);
  const isBlocked = (name: string): boolean => list.isBlocked(name);
  const changed = changedNames(list, before && (await ListText.read(before)));
  // An output with `fit` may leave names out.
  const isWhole = (config.outputs ?? []).every(({ fit }) => fit === undefined);
  const allowed = (config.allow ?? []).flatMap(namesIn);
  return {
    canary,
    older,
    fresh: isWhole ? changed.fresh : [],
    listed: isWhole ? changed.listed : [],
    freed: changed.freed,
    reachable: [...allowed.filter((name) => PLAIN_NAME.test(name)), ...PROTECTED_NAMES]
      .filter((name) => !isBlocked(name))
      .slice(0, MOST_REACHABLE),
  };
}

function isSame(one: ListState, other: ListState): boolean {
  return (
    one.bytes.length === other.bytes.length &&
    one.bytes.every((byte, at) => byte === other.bytes[at])
  );
}

/** Without an earlier build, no name is new. */
function changedNames(
  now: ListText,
  before: ListText | undefined,
): Pick<ProofNames, "fresh" | "listed" | "freed"> {
  const old = before ?? now;
  const lines = now.nameLines();
  return {
    fresh: some(
      lines.filter((line) => !old.has(line)),
      MOST_FRESH,
      (name) => now.isBlocked(name) && !old.isBlocked(name),
    ),
    listed: some(lines, MOST_LISTED, (name) => now.isBlocked(name) && old.isBlocked(name)),
    freed: some(
      old.nameLines().filter((line) => !now.has(line)),
      MOST_FREED,
      (name) => !now.isBlocked(name) && old.isBlocked(name),
    ),
  };
}

/** Some of the wanted names. Looks at a few candidates only. */
function some(
  lines: readonly string[],
  most: number,
  isWanted: (name: string) => boolean,
): string[] {
  const names = spread(lines, most * CANDIDATES).flatMap((line) => soleName(line)?.name ?? []);
  const plain = names.filter((name) => PLAIN_NAME.test(name) && canaryIn(name) === undefined);
  return spread(plain.filter(isWanted), most);
}

/** At most `most` entries, evenly spread, with the first and the last. */
function spread(all: readonly string[], most: number): string[] {
  if (all.length <= most) return [...all];
  const step = (all.length - 1) / (most - 1);
  return Array.from({ length: most }, (_, index) => all[Math.round(index * step)]!);
}
