import { hasEdgeHyphen } from "../agreement/random-names.ts";
import type { Random } from "../random.ts";

/** Some of the names in random order, the most popular first: names that a list of popular names has. */
export function popularNames(names: readonly string[], random: Random): string[] {
  const plain = names.filter((name) => !name.includes("_") && !hasEdgeHyphen(name));
  const chosen = plain.filter(() => random.chance(0.5));
  const keyed = (chosen.length === 0 ? ["one.com"] : chosen).map((name) => ({
    name,
    key: random.next(),
  }));
  return keyed.toSorted((a, b) => a.key - b.key).map(({ name }) => name);
}
