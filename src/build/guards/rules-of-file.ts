import type { Diagnostic } from "../../diagnostics/diagnostic.ts";
import { printable } from "../../diagnostics/printable.ts";
import { someOf } from "../../diagnostics/some-of.ts";

/** A rule with its place. */
interface PlacedRule {
  readonly text: string;
  readonly at: Diagnostic["at"];
}

/** The rules by the files that they stand in, in the order of their lines: a file is fixed in one go. */
export function byFile<R extends PlacedRule>(rules: readonly R[]): R[][] {
  const files = new Map<string | undefined, R[]>();
  for (const rule of rules) {
    const known = files.get(rule.at?.file);
    if (known === undefined) files.set(rule.at?.file, [rule]);
    else known.push(rule);
  }
  const lineOf = ({ at }: R): number => at?.line ?? 0;
  return Array.from(files.values(), (some) => some.toSorted((a, b) => lineOf(a) - lineOf(b)));
}

/** Where the first of some rules stands, and which lines the others have. */
export function placesOf(rules: readonly PlacedRule[]): Pick<Diagnostic, "at" | "cause"> {
  const at = rules[0]?.at;
  const lines = rules.map(({ text, at: place }) =>
    place?.line === undefined
      ? printable(text, 40)
      : `${printable(text, 40)} in line ${place.line}`,
  );
  return {
    ...(at === undefined ? {} : { at }),
    ...(rules.length > 1 && { cause: someOf(lines) }),
  };
}
