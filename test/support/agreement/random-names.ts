import { domainToUnicode } from "node:url";
import { withAncestors } from "../reference/names.ts";
import type { Random } from "../random.ts";

const EDGES = ["f-", "-g", "h_", "_i"];
const LABELS = ["a", "b", "ads", "x1", "www", "cdn", "a_b", "_dmarc", "xn--tst-qla"];
const DOMAINS = [
  "one.com",
  "two.net",
  "ads.com",
  "three.co.uk",
  "xn--bcher-kva.de",
  "xn--e1afmkfd.xn--p1ai",
];

/** Names close to each other, so that parents, siblings and lookalikes meet. */
export function randomName(random: Random, deepest = 3): string {
  const labels = random.times(random.below(deepest + 1), () => randomLabel(random));
  return [...labels, random.pick(DOMAINS)].join(".");
}

export function randomLabel(random: Random): string {
  return random.pick(random.chance(0.04) ? EDGES : LABELS);
}

/** A name as people write it: international ones in their own letters, now and then. */
export function inOwnLetters(name: string, random: Random): string {
  return name.includes("xn--") && random.chance(0.4) ? domainToUnicode(name) : name;
}

/** As many names to ask about as wanted: those given first, with some above and below them, then any. */
export function namesAround(known: Iterable<string>, random: Random, count: number): string[] {
  const names = new Set<string>();
  for (const name of known) {
    for (const one of withAncestors(name)) if (one.includes(".")) names.add(one);
    names.add(`q9.${name}`);
    names.add(`${randomLabel(random)}.${name}`);
  }
  for (let tries = 0; names.size < count && tries < count * 4; tries++)
    names.add(randomName(random, 4));
  return [...names].slice(0, count);
}

/** Whether a label of a name in a text begins or ends with a hyphen: such names are invalid, and still asked for. */
export function hasEdgeHyphen(text: string): boolean {
  return /(?<![\w-])-|-(?![\w-])/.test(text);
}
