import { type Diagnostic, errorOf } from "../diagnostics/diagnostic.ts";
import { countText, numberText } from "../diagnostics/number-text.ts";
import type { SizeFinding } from "./size-judge.ts";

/** The codes by which a user accepts that a limit is exceeded. */
export const SIZE_CODES = {
  shrunk: "source-shrunk",
  grown: "source-grown",
  replaced: "source-replaced",
} as const;

/** Describes a limit that a source exceeds. */
export function sizeProblem(label: string, finding: SizeFinding): Diagnostic {
  const { way, limit, days, before, now, count } = finding;
  const within = days === 1 ? "" : ` within ${days} days`;
  const size = `it has ${countText(now, "name")}, the published text has ${numberText(before)}`;
  if (way === "shrunk")
    return errorOf(SIZE_CODES.shrunk, `${label} lost more than ${limit} % of its names${within}`, {
      cause: `${size}, of which ${numberText(count)} are gone`,
    });
  if (way === "grown")
    return errorOf(SIZE_CODES.grown, `${label} grew by more than ${limit} %${within}`, {
      cause: `${size}; ${numberText(count)} are new`,
    });
  return errorOf(
    SIZE_CODES.replaced,
    `${label} shares less than ${limit} % of its names with its published text`,
    { cause: `${size}; ${numberText(count)} are in both` },
  );
}
