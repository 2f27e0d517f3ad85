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

/** The proofs of a list, by the name of the resolver. */
export interface LastProof {
  readonly version: 1;
  readonly resolvers: Readonly<Record<string, ResolverProof>>;
}

function fileOf(list: string, host: Host): StateFile<LastProof> {
  const name = `${host.path.basename(list)}.proof.json`;
  return new StateFile(host.path.join(recordFolder(list, host), name), isLastProof, host);
}

/** The last proofs of the list at a path; empty if no resolver was asked. */
export async function readProofs(list: string, host: Host): Promise<LastProof["resolvers"]> {
  return (await fileOf(list, host).read())?.resolvers ?? {};
}

/** Adds proofs to those of the list. Proofs of resolvers that `known` does not have are forgotten. */
export async function rememberProofs(
  list: string,
  proofs: ReadonlyMap<string, Omit<ResolverProof, "since" | "lastProved">>,
  known: ReadonlySet<string>,
  host: Host,
): Promise<void> {
  const before = await readProofs(list, host);
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
  await fileOf(list, host).tryWrite({ version: 1, resolvers }, 1);
}

function isLastProof(value: unknown): value is LastProof {
  if (typeof value !== "object" || value === null) return false;
  const { version, resolvers } = value as Partial<LastProof>;
  if (version !== 1 || typeof resolvers !== "object" || resolvers === null) return false;
  return Object.values(resolvers).every(isProof);
}

function isProof(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  const { outcome, detail, at, since, latencyMs } = value as Partial<ResolverProof>;
  const isTimed = latencyMs === null || typeof latencyMs === "number";
  const texts = [detail, at, since].every((text) => typeof text === "string");
  return texts && isTimed && (OUTCOMES as readonly unknown[]).includes(outcome);
}
