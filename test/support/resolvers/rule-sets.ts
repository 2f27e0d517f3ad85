import { DEFAULT_OPTIONS, type NameFormat } from "../../../src/formats/name-format.ts";
import type { Random } from "../random.ts";

const LABELS = ["a", "b", "ads", "x-1", "t", "deep", "cdn", "9"];

type Shape = (name: string) => string;

/** What a random set may hold, so that the format loses nothing. */
function shapesOf(format: NameFormat): Shape[] {
  const lines = format.lines(DEFAULT_OPTIONS);
  const allowWins = format.allowWins === true;
  const shapes: Shape[] = [(name) => `||${name}^`, (name) => `||${name}^`, (name) => `||${name}^`];
  if (lines.exact !== undefined && format.allowHidesExact !== true)
    shapes.push((name) => `|${name}^`);
  if (lines.below !== undefined) shapes.push((name) => `||*.${name}^`);
  if (lines.allowSubtree !== undefined) shapes.push((name) => `@@||${name}^`);
  if (lines.allowExact !== undefined) shapes.push((name) => `@@|${name}^`);
  if (lines.allowSubtree !== undefined && !allowWins)
    shapes.push(
      (name) => `||${name}^$important`,
      (name) => `@@||${name}^$important`,
    );
  // Where a rule for the name alone meets `$denyallow`, only an exception for the names below it says both.
  const saysBoth = lines.exact === undefined || lines.allowBelow !== undefined;
  if (lines.allowSubtree !== undefined && !allowWins && saysBoth)
    shapes.push((name) => `||${name}^$denyallow=ads.${name}|t.cdn.${name}`);
  return shapes;
}

/** Everything that has to do with names, most of which many formats cannot say as it is meant. */
const ANY_SHAPES: readonly Shape[] = [
  (name) => `||${name}^`,
  (name) => `||${name}^`,
  (name) => `|${name}^`,
  (name) => `0.0.0.0 ${name}`,
  (name) => `||*.${name}^`,
  (name) => `@@||${name}^`,
  (name) => `@@|${name}^`,
  (name) => `@@||*.${name}^`,
  (name) => `||${name}^$important`,
  (name) => `@@||${name}^$important`,
  (name) => `||${name}^$denyallow=ads.${name}|t.cdn.${name}`,
  (name) => `||*.${name}^$denyallow=a.${name}`,
  (name) => `@@|a*.${name}^`,
  (name) => `@@||*ds.${name}^$important`,
  (name) => `@@.${name}^`,
  (name) => `@@||${name}^$denyallow=b.${name}`,
];

/** A name of the set: everything in it is below one domain that no other set has. */
function nameIn(set: string, random: Random): string {
  const labels = Array.from({ length: random.below(5) }, () => random.pick(LABELS));
  return [...labels, set, "zq"].join(".");
}

export interface RuleSets {
  readonly rules: readonly string[];
  readonly names: readonly string[];
}

interface SetSize {
  readonly sets: number;
  /** Names to ask of each. */
  readonly asked: number;
}

function setsOf(
  shapes: readonly Shape[],
  label: string,
  random: Random,
  { sets, asked }: SetSize,
): RuleSets {
  const rules: string[] = [];
  const names: string[] = [];
  for (let set = 0; set < sets; set++) {
    const own = `${label}${set}`;
    const count = 1 + random.below(12);
    for (let rule = 0; rule < count; rule++) rules.push(random.pick(shapes)(nameIn(own, random)));
    for (let name = 0; name < asked; name++) names.push(nameIn(own, random));
  }
  return { rules, names };
}

/** Many random sets of rules that have nothing to do with each other, and names to ask of each. */
export function randomRuleSets(format: NameFormat, random: Random): RuleSets {
  return setsOf(shapesOf(format), "set", random, { sets: 200, asked: 1000 });
}

/** The same with all kinds of rules for names, patterns among the exceptions: a format may block less than the list, never more. */
export function anyRuleSets(random: Random): RuleSets {
  return setsOf(ANY_SHAPES, "any", random, { sets: 200, asked: 110 });
}
