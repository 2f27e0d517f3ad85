import type { Random } from "./random.ts";

const LABELS = ["a", "b", "c"];
const DOMAINS = Array.from({ length: 8 }, (_, index) => `d${index}.example`);

/** A name in one of a few domains, so that lists have equal and nested names. */
function relatedName(random: Random): string {
  const below = random.times(random.below(4), () => random.pick(LABELS));
  return [...below, random.pick(DOMAINS)].join(".");
}

/** Every name that such lists can tell apart, and some below. */
export function relatedNames(random: Random, count: number): string[] {
  return [...new Set([...DOMAINS, ...random.times(count, () => relatedName(random))])];
}

/** Rules of a list: names with their subdomains and, if asked for, names alone, names below and exceptions. */
export function relatedRules(random: Random, count: number, isMixed: boolean): string[] {
  return random.times(count, () => {
    const name = relatedName(random);
    if (!isMixed) return `||${name}^`;
    const pattern = random.chance(0.8) ? "||%^" : random.pick(["|%^", "||*.%^"]);
    return `${random.chance(0.1) ? "@@" : ""}${pattern.replace("%", name)}`;
  });
}
