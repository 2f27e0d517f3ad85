import type { Trust } from "../config/fields.ts";
import { OWN_TIER } from "../formats/fit-rules.ts";
import type { ListShape } from "../formats/list-model.ts";
import type { Plan } from "./plan.ts";

/** Properties of the list that its other formats need. */
export function listShape(
  plan: Plan,
  protectedNames: readonly string[],
  hasLateDrops = false,
  tiers?: readonly number[],
): ListShape {
  return {
    isMinimal: isMinimal(plan) && tiers === undefined,
    hasSureCovers: !hasLateDrops && compressesOnce(plan),
    protectedNames,
    ...(tiers && { tiers }),
    ...(plan.list.hasCanary === true && { hasCanary: true }),
  };
}

/** Compress ensures it, unless a later pass creates rules for names. */
function isMinimal({ list }: Plan): boolean {
  const names = new Set(list.steps.map(({ name }) => name));
  return names.has("Compress") && !names.has("InvertAllow") && !names.has("RemoveModifiers");
}

/** A single Compress drops a name once, for a parent that the transformations after it keep. */
function compressesOnce({ config, sources }: Plan): boolean {
  return (
    config.plugins === undefined &&
    !sources.some(({ passes }) => passes.steps.some(({ name }) => name === "Compress"))
  );
}

const LEVELS: readonly Trust[] = ["full", "standard", "block-only"];

/** How trusted the sources are, if an output must choose between them: local files first. */
export function tiersOf(
  { config, sources }: Plan,
  trustOf: (index: number) => Trust,
  isLocal: (index: number) => boolean,
): readonly number[] | undefined {
  if (config.outputs?.some(({ fit }) => fit !== undefined) !== true) return undefined;
  const tiers = sources.map(({ index }) => {
    const level = LEVELS.indexOf(trustOf(index));
    return level === 0 && isLocal(index) ? OWN_TIER : level + 1;
  });
  return new Set(tiers).size > 1 ? tiers : undefined;
}
