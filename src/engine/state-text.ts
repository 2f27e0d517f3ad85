import { type Diagnostic, warningOf } from "../diagnostics/diagnostic.ts";
import type { SourceState } from "../sources/acquire.ts";

/** What the user is told about a source that is not as it should be. */
export function stateWarning(state: SourceState, label: string): Diagnostic | undefined {
  if (!("causes" in state)) return undefined;
  const cause = state.causes
    .map((one) => [one.message, one.cause].filter(Boolean).join(": "))
    .join("; ");
  if (state.kind === "dropped")
    return warningOf("source-dropped", `${label} failed and is left out; it is optional`, {
      cause,
    });
  const copy = `its copy of ${dateText(state.goodAt)}`;
  if (state.kind === "stale")
    return warningOf("source-stale", `${label} failed; ${copy} stands in for it`, { cause });
  const codes = state.causes.map(({ code }) => `--accept ${code}`).join(" ");
  return warningOf(
    "source-held",
    `${label} is held; ${copy} stands in for it, until ${dateText(state.until)} at most`,
    {
      cause,
      hint: `Look at the source; if it is meant to be as it is now, run once with ${codes}`,
    },
  );
}

/** What readers of the list are told about it. */
export function stateNote(state: SourceState | undefined): string | undefined {
  if (state?.kind === "stale")
    return `Copy of ${dateText(state.goodAt)}: the source could not be had since`;
  if (state?.kind === "held")
    return `Copy of ${dateText(state.goodAt)}: the source is too different since`;
  return state?.kind === "dropped" ? "Left out: the source could not be had" : undefined;
}

function dateText(moment: number): string {
  return new Date(moment).toISOString();
}
