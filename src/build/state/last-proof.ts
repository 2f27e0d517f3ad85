import type { Host } from "../../host/host.ts";
import { StateFile } from "../../host/state-file.ts";
import { recordFolder } from "../../record/record-folder.ts";

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

/** A build that was rolled back because a resolver did not answer from it. */
export interface UndoneBuild {
  readonly build: string;
  readonly at: string;
  /** Which resolver, and how it answered. */
  readonly reason: string;
  /** Whether the build is not published again. False if the rollback did not help: the list is not the cause then. */
  readonly isRefused: boolean;
  /** Whether the rollback was decided, and may not have been done yet. */
  readonly isPending?: true;
}

/** The proofs of a list, by the name of the resolver. */
export interface LastProof {
  readonly version: 1;
  readonly resolvers: Readonly<Record<string, ResolverProof>>;
  /** Builds that were rolled back, oldest first. */
  readonly undone?: readonly UndoneBuild[];
}

const MOST_UNDONE = 50;

function fileOf(list: string, host: Host): StateFile<LastProof> {
  const name = `${host.path.basename(list)}.proof.json`;
  return new StateFile(host.path.join(recordFolder(list, host), name), isLastProof, host);
}

/** The last proofs of the list at a path; empty if no resolver was asked. */
export async function readProofs(list: string, host: Host): Promise<LastProof["resolvers"]> {
  return (await fileOf(list, host).read())?.resolvers ?? {};
}

/** The builds of the list at a path that were rolled back, oldest first. */
export async function readUndone(list: string, host: Host): Promise<readonly UndoneBuild[]> {
  return (await fileOf(list, host).read())?.undone ?? [];
}

/** Removes what is known about a rollback that did not take place. Rejects with a `HostError`. */
export async function forgetUndone(list: string, build: string, host: Host): Promise<void> {
  const file = fileOf(list, host);
  const { resolvers = {}, undone = [] } = (await file.read()) ?? {};
  const others = undone.filter((one) => one.build !== build);
  if (others.length < undone.length)
    await file.replace({ version: 1, resolvers, undone: others }, 1);
}

/** Adds a build that is rolled back, or replaces what is known about it. Rejects with a `HostError`: it may happen only once. */
export async function rememberUndone(list: string, one: UndoneBuild, host: Host): Promise<void> {
  const file = fileOf(list, host);
  const { resolvers = {}, undone = [] } = (await file.read()) ?? {};
  const others = undone.filter(({ build }) => build !== one.build);
  await file.replace({ version: 1, resolvers, undone: [...others, one].slice(-MOST_UNDONE) }, 1);
}

/** Adds proofs to those of the list. Proofs of resolvers that `known` does not have are forgotten. */
export async function rememberProofs(
  list: string,
  proofs: ReadonlyMap<string, Omit<ResolverProof, "since" | "lastProved">>,
  known: ReadonlySet<string>,
  host: Host,
): Promise<void> {
  const { resolvers: before = {}, undone = [] } = (await fileOf(list, host).read()) ?? {};
  const resolvers: Record<string, ResolverProof> = Object.create(null);
  for (const name of known) {
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
  // A build that was published in spite of its rollback, and is proved now.
  const isProved = [...proofs.values()].every(({ outcome }) => outcome === "proved");
  const builds = new Set([...proofs.values()].map(({ build }) => build));
  const isGood = (one: UndoneBuild): boolean => isProved && builds.has(one.build);
  const kept = undone
    .filter((one) => one.isPending !== true || !isGood(one))
    .map((one) => (isGood(one) ? { ...one, isRefused: false } : one));
  const state: LastProof = { version: 1, resolvers, ...(kept.length > 0 && { undone: kept }) };
  await fileOf(list, host).tryReplace(state, 1);
}

function isLastProof(value: unknown): value is LastProof {
  if (typeof value !== "object" || value === null) return false;
  const { version, resolvers, undone = [] } = value as Partial<LastProof>;
  if (!Array.isArray(undone) || !undone.every(isUndone)) return false;
  if (version !== 1 || typeof resolvers !== "object" || resolvers === null) return false;
  return Object.values(resolvers).every(isProof);
}

function isUndone(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  const { build, at, reason, isRefused, isPending = true } = value as Partial<UndoneBuild>;
  const texts = [build, at, reason].every((text) => typeof text === "string");
  const flags = typeof isRefused === "boolean" && isPending;
  return texts && flags && !Number.isNaN(Date.parse(at!));
}

function isProof(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  const { outcome, detail, at, since, latencyMs } = value as Partial<ResolverProof>;
  const isTimed = latencyMs === null || typeof latencyMs === "number";
  const texts = [detail, at, since].every((text) => typeof text === "string");
  return texts && isTimed && (OUTCOMES as readonly unknown[]).includes(outcome);
}
