import { type Diagnostic, warningOf } from "../diagnostics/diagnostic.ts";
import { countText } from "../diagnostics/number-text.ts";
import { SOURCE_CODES } from "../diagnostics/source-codes.ts";
import { printable } from "../diagnostics/printable.ts";
import { reasonOf } from "../diagnostics/reason.ts";
import type { HostError } from "../host/host.ts";
import { momentText } from "../diagnostics/moment-text.ts";
import type { SourceState } from "../sources/acquire.ts";

/** What became of the sources that were fetched. `isOffline` if the user wants no requests. */
export function stateWarnings(
  sources: readonly { readonly label: string; readonly state: SourceState | undefined }[],
  isOffline: boolean,
): Diagnostic[] {
  const stale = sources.flatMap(({ state }) => (state?.kind === "stale" ? [state.goodAt] : []));
  if (isOffline && stale.length > 0) {
    const message = `Without requests, ${countText(stale.length, "source is its", "sources are their")} last good copy; the oldest is from ${momentText(Math.min(...stale))}`;
    return [{ code: "offline-copies", severity: "note", message, subject: "offline" }];
  }
  const warnings = sources.flatMap(
    ({ state, label }) => (state && stateWarning(state, label)) ?? [],
  );
  const remote = sources.filter(({ state }) => state !== undefined && isRemote(state));
  if (remote.length < 2 || !remote.every(({ state }) => hasNoAnswer(state!))) return warnings;
  const message = `No server answered: ${remote.length} sources are not fresh`;
  const none = warningOf("no-answer", message, {
    hint: SOURCE_CODES["no-answer"].hint,
    subject: "network",
  });
  return [none, ...warnings];
}

function isRemote({ kind }: SourceState): boolean {
  return kind !== "local" && kind !== "locked";
}

/** Whether its server sent nothing at all. */
function hasNoAnswer(state: SourceState): boolean {
  if (state.kind !== "stale" && state.kind !== "dropped") return false;
  return state.causes.every(
    ({ code, cause = "" }) => NO_ANSWER.has(code) && !cause.startsWith("the server responded"),
  );
}

const NO_ANSWER: ReadonlySet<string> = new Set(["fetch-failed", "fetch-timeout"]);

/** The warning for a source that failed, was held or was skipped. */
export function stateWarning(state: SourceState, label: string): Diagnostic | undefined {
  if (!("causes" in state)) return undefined;
  const cause = state.causes
    .map((one) => [one.message, one.cause].filter(Boolean).join(": "))
    .join("; ");
  // A private address is refused by every run, unless the user allows it.
  const { hint } = state.causes.find(({ code }) => code === "private-address") ?? {};
  const why = { cause, subject: label, ...(hint !== undefined && { hint }) };
  if (state.kind === "dropped")
    return warningOf("source-dropped", `${label} failed and was skipped; it is optional`, why);
  const copy = `using cached copy from ${momentText(state.goodAt)}`;
  if (state.kind === "stale") return warningOf("source-stale", `${label} failed; ${copy}`, why);
  const codes = state.causes.map(({ code }) => `--accept ${code}`).join(" ");
  return warningOf(
    "source-held",
    `${label} differs too much; its text of ${momentText(state.goodAt)} stays until ${momentText(state.until)} if the change lasts`,
    {
      cause,
      subject: label,
      until: new Date(state.until).toISOString(),
      hint: `Check the source; if the change is intended, run once with ${codes}`,
    },
  );
}

/** The note about it in the list's header. */
export function stateNote(state: SourceState | undefined): string | undefined {
  if (state?.kind === "stale")
    return `Using cached copy from ${momentText(state.goodAt)}: source unavailable`;
  if (state?.kind === "held")
    return `Using its text of ${momentText(state.goodAt)}: source differs too much`;
  return state?.kind === "dropped" ? "Skipped: source unavailable" : undefined;
}

/** The warning about a cache folder that cannot be written to. */
export function storeWarning({ code, message }: HostError, folder: string): Diagnostic {
  return warningOf("cache-unusable", `Cannot write to the cache folder ${printable(folder)}`, {
    cause: reasonOf(code, message),
    subject: printable(folder),
  });
}
