import type { ListShape } from "../formats/list-model.ts";
import type { Plan } from "./plan.ts";

/** What the other formats of a list have to know of it. */
export function listShape(plan: Plan, protectedNames: readonly string[]): ListShape {
  return { isMinimal: isMinimal(plan), hasSureCovers: hasSureCovers(plan), protectedNames };
}

/** Compress makes it so, unless a later pass makes new rules for names. */
function isMinimal({ list }: Plan): boolean {
  const names = new Set(list.steps.map(({ name }) => name));
  return names.has("Compress") && !names.has("InvertAllow") && !names.has("RemoveModifiers");
}

/** One Compress at the end drops a name once, and for a parent that stays. */
function hasSureCovers({ config, sources }: Plan): boolean {
  return (
    config.plugins === undefined &&
    !sources.some(({ passes }) => passes.steps.some(({ name }) => name === "Compress"))
  );
}
