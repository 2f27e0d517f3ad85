import { scratchOf } from "../engine/scratch.ts";
import type { NameBuffer } from "../formats/name-buffer.ts";
import { type OwnerRuns, type ListedRule, ownedNames } from "../formats/owned-names.ts";
import type { Host } from "../host/host.ts";
import type { OutputPlan } from "../publish/output-plan.ts";
import { PublishedOwners } from "../publish/published-owners.ts";
import type { SourceRuns } from "./recorded-names.ts";
import type { RuleCarriers } from "./rule-carriers.ts";

/**
 * Finds the owner of each rule, for outputs with a file for each source: the source whose published file has it, if that source still
 * has it, otherwise the first source that has it. Undefined if no output needs owners.
 */
export async function findOwners(
  buffer: NameBuffer,
  carriers: RuleCarriers | undefined,
  plans: readonly OutputPlan[],
  host: Host,
): Promise<OwnerRuns | undefined> {
  if (carriers === undefined) return undefined;
  const published = await PublishedOwners.read(plans, host);
  const ownerOf = (rule: ListedRule): number => {
    const sources = carriers.sourcesOf(rule);
    const before = published.of(rule);
    return sources.includes(before) ? before : sources[0]!;
  };
  const { owned, runs } = ownedNames(buffer, ownerOf, () => scratchOf(host));
  buffer.owned = owned;
  return runs;
}

/** Gives the rules the owners that they had in another build, so that its files become the same. */
export function repeatOwners(
  buffer: NameBuffer,
  { owners }: SourceRuns,
  plans: readonly OutputPlan[],
  host: Host,
): void {
  if (owners === undefined || plans.every(({ sourceFiles }) => sourceFiles === undefined)) return;
  buffer.owned = ownedNames(buffer, owners, () => scratchOf(host)).owned;
}
