import type { ProjectOptions } from "../build/build-options.ts";
import { publishedCanary } from "../build/list-canary.ts";
import { listFiles } from "../build/list-files.ts";
import type { ListConfig } from "../build/project.ts";
import { type Outcome, type ResolverProof, readProofs } from "../build/state/last-proof.ts";
import { resolversOf } from "../config/resolvers.ts";
import type { Host } from "../host/host.ts";
import { buildOf } from "../syntax/canary-name.ts";

/**
 * What is known about a resolver of the configuration. All but its names is null if it was never asked. If another list was
 * published since it was proved, `outcome` is null, too.
 */
export interface ResolverState {
  readonly resolver: string;
  readonly list: string;
  /** Null if it was never asked about the published list. */
  readonly outcome: Outcome | null;
  /** Why, for a person. */
  readonly detail: string | null;
  /** The build that it was asked about, or must be asked about; null for a list without a canary. */
  readonly build: string | null;
  /** When it was asked last. */
  readonly at: string | null;
  /** Since when the outcome is the same. */
  readonly since: string | null;
  readonly latencyMs: number | null;
  /** The last proof that succeeded. */
  readonly lastProved: NonNullable<ResolverProof["lastProved"]> | null;
}

/** Whether the last proof of a resolver failed. */
export function isUnproved({ outcome }: Pick<ResolverState, "outcome">): boolean {
  return outcome !== null && outcome !== "proved";
}

type LastState = Omit<ResolverState, "resolver" | "list">;

const NEVER_ASKED: LastState = {
  outcome: null,
  detail: null,
  build: null,
  at: null,
  since: null,
  latencyMs: null,
  lastProved: null,
};

/** The last proofs of all resolvers of these lists, in the order of the configuration. */
export async function lastProofs(
  lists: readonly ListConfig[],
  options: ProjectOptions,
  host: Host,
): Promise<ResolverState[]> {
  const states: ResolverState[] = [];
  for (const { project, config } of lists) {
    const resolvers = resolversOf(project.config).filter(({ list }) => list === config.name);
    const [file] = listFiles(config.name, options, host);
    const proofs = resolvers.length === 0 || !file ? {} : await readProofs(file.path, host);
    const canary = Object.keys(proofs).length > 0 && (await publishedCanary(file!.path, host));
    const build = canary ? buildOf(canary) : null;
    for (const { name, list } of resolvers) {
      const proof = Object.hasOwn(proofs, name) ? proofs[name] : undefined;
      const state = proofOf({ ...NEVER_ASKED, ...proof }, build);
      states.push({ resolver: name, list, ...state });
    }
  }
  return states;
}

/** A proof says nothing about a list that was published later. A failure lasts until the resolver is proved again. */
function proofOf(proof: LastState, build: string | null): LastState {
  if (proof.outcome !== "proved" || proof.build === build) return proof;
  const detail = "not asked since another build was published";
  return { ...proof, outcome: null, detail, build, since: null, latencyMs: null };
}
