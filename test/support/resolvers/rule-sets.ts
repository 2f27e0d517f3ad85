import type { Lines } from "../../../src/formats/name-format.ts";
import type { Random } from "../random.ts";

const LABELS = ["a", "b", "ads", "x-1", "t", "deep", "cdn", "9"];

/** What a random set may hold, so that a format with these lines loses nothing. */
function shapesOf(lines: Lines, allowWins: boolean): ((name: string) => string)[] {
  const shapes: ((name: string) => string)[] = [
    (name) => `||${name}^`,
    (name) => `||${name}^`,
    (name) => `||${name}^`,
  ];
  if (lines.exact !== undefined) shapes.push((name) => `|${name}^`);
  if (lines.below !== undefined) shapes.push((name) => `||*.${name}^`);
  if (lines.allowSubtree !== undefined) shapes.push((name) => `@@||${name}^`);
  if (lines.allowExact !== undefined) shapes.push((name) => `@@|${name}^`);
  if (lines.allowSubtree !== undefined && !allowWins)
    shapes.push(
      (name) => `||${name}^$important`,
      (name) => `@@||${name}^$important`,
    );
  return shapes;
}

/** A name of the set: everything in it is below one domain that no other set has. */
function nameIn(set: number, random: Random): string {
  const labels = Array.from({ length: random.below(5) }, () => random.pick(LABELS));
  return [...labels, `set${set}`, "zq"].join(".");
}

export interface RuleSets {
  readonly rules: readonly string[];
  readonly names: readonly string[];
}

/** Many random sets of rules that have nothing to do with each other, and names to ask of each. */
export function randomRuleSets(
  lines: Lines,
  allowWins: boolean,
  random: Random,
  sets = 200,
  asked = 1000,
): RuleSets {
  const shapes = shapesOf(lines, allowWins);
  const rules: string[] = [];
  const names: string[] = [];
  for (let set = 0; set < sets; set++) {
    const count = 1 + random.below(12);
    for (let rule = 0; rule < count; rule++) rules.push(random.pick(shapes)(nameIn(set, random)));
    for (let name = 0; name < asked; name++) names.push(nameIn(set, random));
  }
  return { rules, names };
}
