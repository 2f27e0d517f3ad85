import { type Diagnostic, warningOf } from "../diagnostics/diagnostic.ts";
import { printable } from "../diagnostics/printable.ts";
import { reasonOf } from "../diagnostics/reason.ts";
import type { HostError } from "../host/host.ts";
import { momentText } from "../diagnostics/moment-text.ts";
import type { SourceState } from "../sources/acquire.ts";

/** The warning for a source that failed, was held or was skipped. */
export function stateWarning(state: SourceState, label: string): Diagnostic | undefined {
  if (!("causes" in state)) return undefined;
  const cause = state.causes
    .map((one) => [one.message, one.cause].filter(Boolean).join(": "))
    .join("; ");
  // A private address is refused by every run, unless the user allows it.
  const { hint } = state.causes.find(({ code }) => code === "private-address") ?? {};
  const why = hint === undefined ? { cause } : { cause, hint };
  if (state.kind === "dropped")
    return warningOf("source-dropped", `${label} failed and was skipped; it is optional`, why);
  const copy = `using cached copy from ${momentText(state.goodAt)}`;
  if (state.kind === "stale") return warningOf("source-stale", `${label} failed; ${copy}`, why);
  const codes = state.causes.map(({ code }) => `--accept ${code}`).join(" ");
  return warningOf(
    "source-held",
    `${label} differs too much; ${copy} until ${momentText(state.until)} at the latest`,
    {
      cause,
      hint: `Check the source; if the change is intended, run once with ${codes}`,
    },
  );
}

/** The note about it in the list's header. */
export function stateNote(state: SourceState | undefined): string | undefined {
  if (state?.kind === "stale")
    return `Using cached copy from ${momentText(state.goodAt)}: source unavailable`;
  if (state?.kind === "held")
    return `Using cached copy from ${momentText(state.goodAt)}: source differs too much`;
  return state?.kind === "dropped" ? "Skipped: source unavailable" : undefined;
}

/** The warning about a cache folder that cannot be written to. */
export function storeWarning({ code, message }: HostError, folder: string): Diagnostic {
  return warningOf("cache-unusable", `Cannot write to the cache folder ${printable(folder)}`, {
    cause: reasonOf(code, message),
  });
}
