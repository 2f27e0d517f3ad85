import type { Diagnostic } from "../../diagnostics/diagnostic.ts";
import { printable } from "../../diagnostics/printable.ts";
import { someOf } from "../../diagnostics/some-of.ts";

/** A rule with its location. */
interface PlacedRule {
  readonly text: string;
  readonly at: Diagnostic["at"];
}

/** Groups rules by file, in line order, so that a user can fix a file in one pass. */
export function byFile<R extends PlacedRule>(rules: readonly R[]): R[][] {
  const files = Map.groupBy(rules, ({ at }) => at?.file);
  const lineOf = ({ at }: R): number => at?.line ?? 0;
  return Array.from(files.values(), (some) => some.toSorted((a, b) => lineOf(a) - lineOf(b)));
}

/** The location of the first rule, and the line numbers of the others. */
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
