import { type Diagnostic, errorOf } from "../diagnostics/diagnostic.ts";
import { countText, numberText } from "../diagnostics/number-text.ts";
import type { SizeFinding } from "./size-judge.ts";

/** Describes a limit that a source exceeds. */
export function sizeProblem(label: string, finding: SizeFinding): Diagnostic {
  const { way, limit, days, before, now, count } = finding;
  const within = days === 1 ? "" : ` within ${days} days`;
  const size = `it has ${countText(now, "name")}, the published text has ${numberText(before)}`;
  const [message, part] = {
    shrunk: [`lost more than ${limit} % of its names${within}`, ", of which {} are gone"],
    grown: [`grew by more than ${limit} %${within}`, "; {} are new"],
    replaced: [
      `shares less than ${limit} % of its names with its published text`,
      "; {} are in both",
    ],
  }[way] as [string, string];
  const cause = size + part.replace("{}", numberText(count));
  return errorOf(`source-${way}`, `${label} ${message}`, { cause });
}
