import type { ListShape } from "../formats/list-model.ts";
import type { Plan } from "./plan.ts";

/** Properties of the list that its other formats need. */
export function listShape(
  plan: Plan,
  protectedNames: readonly string[],
  hasLateDrops = false,
): ListShape {
  return {
    isMinimal: isMinimal(plan),
    hasSureCovers: !hasLateDrops && compressesOnce(plan),
    protectedNames,
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
