import type { ProjectOptions } from "../build/build-options.ts";
import { listFiles } from "../build/list-files.ts";
import type { ListConfig } from "../build/project.ts";
import { type Outcome, type ResolverProof, readProofs } from "../build/state/last-proof.ts";
import { resolversOf } from "../config/resolvers.ts";
import type { Host } from "../host/host.ts";

/** What is known about a resolver of the configuration. All but its names is null if it was never asked. */
export interface ResolverState {
  readonly resolver: string;
  readonly list: string;
  readonly outcome: Outcome | null;
  /** Why, for a person. */
  readonly detail: string | null;
  /** The build that it was asked about; null for a list without a canary. */
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

const NEVER_ASKED = {
  outcome: null,
  detail: null,
  build: null,
  at: null,
  since: null,
  latencyMs: null,
} as const;

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
    for (const { name, list } of resolvers) {
      const proof = Object.hasOwn(proofs, name) ? proofs[name]! : NEVER_ASKED;
      states.push({ resolver: name, list, lastProved: null, ...proof });
    }
  }
  return states;
}
