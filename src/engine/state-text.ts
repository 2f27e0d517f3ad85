import { type Diagnostic, warningOf } from "../diagnostics/diagnostic.ts";
import type { SourceState } from "../sources/acquire.ts";

/** What the user is told about a source that is not as it should be. */
export function stateWarning(state: SourceState, label: string): Diagnostic | undefined {
  if (!("causes" in state)) return undefined;
  const cause = state.causes
    .map((one) => [one.message, one.cause].filter(Boolean).join(": "))
    .join("; ");
  if (state.kind === "dropped")
    return warningOf("source-dropped", `${label} failed and was skipped; it is optional`, {
      cause,
    });
  const copy = `using cached copy from ${dateText(state.goodAt)}`;
  if (state.kind === "stale")
    return warningOf("source-stale", `${label} failed; ${copy}`, { cause });
  const codes = state.causes.map(({ code }) => `--accept ${code}`).join(" ");
  return warningOf(
    "source-held",
    `${label} differs too much; ${copy} until ${dateText(state.until)} at the latest`,
    {
      cause,
      hint: `Check the source; if the change is intended, run once with ${codes}`,
    },
  );
}

/** What readers of the list are told about it. */
export function stateNote(state: SourceState | undefined): string | undefined {
  if (state?.kind === "stale")
    return `Using cached copy from ${dateText(state.goodAt)}: source unavailable`;
  if (state?.kind === "held")
    return `Using cached copy from ${dateText(state.goodAt)}: source differs too much`;
  return state?.kind === "dropped" ? "Skipped: source unavailable" : undefined;
}

function dateText(moment: number): string {
  return new Date(moment).toISOString();
}
