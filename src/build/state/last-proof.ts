import type { Host } from "../../host/host.ts";
import type { StateFile } from "../../host/state-file.ts";
import { stateOf } from "../../record/record-folder.ts";

/**
 * What a resolver answers from: the published list, an earlier build of it, no list, something else; or it does not answer.
 */
export const OUTCOMES = ["proved", "stale", "unfiltered", "wrong", "unreachable"] as const;
export type Outcome = (typeof OUTCOMES)[number];

/** The last proof of one resolver. */
export interface ResolverProof {
  readonly outcome: Outcome;
  /** Why, for a person. */
  readonly detail: string;
  /** The build that it was asked about: twelve hexadecimal digits; null for a list without a canary. */
  readonly build: string | null;
  /** When it was asked last. */
  readonly at: string;
  /** Since when the outcome is the same. */
  readonly since: string;
  /** Median time of its answers; null if there was none. */
  readonly latencyMs: number | null;
  /** The last proof that succeeded. */
  readonly lastProved?: { readonly at: string; readonly build: string | null };
}

/** A build that was rolled back because resolvers did not answer from it. */
export interface UndoneBuild {
  readonly build: string;
  /** When it was rolled back, oldest first. */
  readonly times: readonly string[];
  /** Which resolvers, and how they answered. */
  readonly reason: string;
}

/** The build that was published before the last one, and the resolvers that answered from it. They decide about the last one. */
export interface BuildBefore {
  readonly build: string;
  readonly resolvers: readonly string[];
}

/** The proofs of a list, by the name of the resolver. */
export interface LastProof {
  readonly version: 1;
  readonly resolvers: Readonly<Record<string, ResolverProof>>;
  /** Until it is decided whether the published build stays. */
  readonly before?: BuildBefore;
  /** Builds that were rolled back, oldest first. */
  readonly undone?: readonly UndoneBuild[];
}

const NONE: LastProof = { version: 1, resolvers: {} };
const MOST_UNDONE = 50;
/** How often a build may be rolled back in a day. */
const MOST_A_DAY = 3;
const DAY_MS = 86_400_000;

function fileOf(list: string, host: Host): StateFile<LastProof> {
  return stateOf(list, "proof.json", isLastProof, host);
}

/** What is known about the resolvers of the list at a path. */
export async function readProof(list: string, host: Host): Promise<LastProof> {
  return (await fileOf(list, host).read()) ?? NONE;
}

/** The last proofs of the list at a path; empty if no resolver was asked. */
export async function readProofs(list: string, host: Host): Promise<LastProof["resolvers"]> {
  return (await readProof(list, host)).resolvers;
}

/** Keeps who answered from the build before, or forgets it when the decision is made. Rejects with a `HostError`. */
export async function rememberBefore(
  list: string,
  before: BuildBefore | undefined,
  host: Host,
): Promise<void> {
  const { before: old, ...others } = await readProof(list, host);
  if (before === undefined && old === undefined) return;
  await fileOf(list, host).replace({ ...others, ...(before && { before }) }, 1);
}

/** Adds a rollback of a build; without a reason, forgets those of the build. Rejects with a `HostError`: a rollback must be counted. */
export async function rememberUndone(
  list: string,
  build: string,
  reason: string | undefined,
  host: Host,
): Promise<void> {
  const { undone: all = [], ...others } = await readProof(list, host);
  const old = all.find((one) => one.build === build);
  const undone = all.filter((one) => one !== old);
  if (reason !== undefined) {
    const times = [...(old?.times ?? []), host.now().toISOString()].slice(-MOST_A_DAY);
    undone.push({ build, times, reason });
  } else if (old === undefined) return;
  await fileOf(list, host).replace({ ...others, undone: undone.slice(-MOST_UNDONE) }, 1);
}

/** A build that was rolled back as often as it may be in a day; undefined if it may be tried again. */
export async function exhaustedBuild(
  list: string,
  build: string,
  host: Host,
): Promise<UndoneBuild | undefined> {
  const now = host.now().getTime();
  const found = (await readProof(list, host)).undone?.find((one) => one.build === build);
  // A moment in the future is that of a wrong clock.
  const ages = found?.times.map((time) => now - Date.parse(time)) ?? [];
  return ages.filter((age) => age >= 0 && age < DAY_MS).length < MOST_A_DAY ? undefined : found;
}

/** Adds proofs to those of the list. Proofs of resolvers that `names` does not have are forgotten. */
export async function rememberProofs(
  list: string,
  proofs: ReadonlyMap<string, Omit<ResolverProof, "since" | "lastProved">>,
  names: ReadonlySet<string>,
  host: Host,
): Promise<void> {
  const known = await readProof(list, host);
  const { resolvers: before, undone = [] } = known;
  const resolvers: Record<string, ResolverProof> = Object.create(null);
  for (const name of names) {
    const old = Object.hasOwn(before, name) ? before[name] : undefined;
    const proof = proofs.get(name);
    if (proof === undefined) {
      if (old !== undefined) resolvers[name] = old;
      continue;
    }
    const { at, build, outcome } = proof;
    const lastProved = outcome === "proved" ? { at, build } : old?.lastProved;
    const since = old?.outcome === outcome ? old.since : at;
    resolvers[name] = { ...proof, since, ...(lastProved && { lastProved }) };
  }
  // A build that was published again, and is proved now.
  const isProved = [...proofs.values()].every(({ outcome }) => outcome === "proved");
  const builds = new Set([...proofs.values()].map(({ build }) => build));
  const kept = undone.filter((one) => !isProved || !builds.has(one.build));
  const { undone: _undone, ...others } = known;
  const state = { ...others, resolvers, ...(kept.length > 0 && { undone: kept }) };
  await fileOf(list, host).tryReplace(state, 1);
}

function isLastProof(value: unknown): value is LastProof {
  if (typeof value !== "object" || value === null) return false;
  const { version, resolvers, before, undone = [] } = value as Partial<LastProof>;
  if (!Array.isArray(undone) || !undone.every(isUndone)) return false;
  if (before !== undefined && !isBefore(before)) return false;
  if (version !== 1 || typeof resolvers !== "object" || resolvers === null) return false;
  return Object.values(resolvers).every(isProof);
}

function isBefore(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  const { build, resolvers } = value as Partial<BuildBefore>;
  return typeof build === "string" && isTexts(resolvers);
}

function isUndone(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  const { build, times, reason } = value as Partial<UndoneBuild>;
  if (typeof build !== "string" || typeof reason !== "string") return false;
  return isTexts(times) && times.every((time) => !Number.isNaN(Date.parse(time)));
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((one) => typeof one === "string");
}

function isProof(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  const { outcome, detail, at, since, latencyMs } = value as Partial<ResolverProof>;
  const isTimed = latencyMs === null || typeof latencyMs === "number";
  const texts = [detail, at, since].every((text) => typeof text === "string");
  return texts && isTimed && (OUTCOMES as readonly unknown[]).includes(outcome);
}
