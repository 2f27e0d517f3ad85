import { type Diagnostic, errorOf } from "../diagnostics/render.ts";
import { Exit } from "../diagnostics/codes.ts";
import { someOf } from "../diagnostics/text.ts";
import type { Host } from "../host/host.ts";
import type { Reporter } from "./output/reporter.ts";

const EXITS = { SIGINT: Exit.Interrupted, SIGTERM: Exit.Terminated, SIGHUP: Exit.Terminated };

export const INTERRUPTED: Diagnostic = errorOf(
  "interrupted",
  "Interrupted by a signal; nothing was written",
);

/** For a signal while files are being replaced. */
export const INTERRUPTED_PUBLISHING: Diagnostic = errorOf(
  "interrupted",
  "Interrupted by a signal while replacing files; each file is complete, either old or new",
);

/** For a signal after lists were published. */
export function published(lists: readonly string[]): Diagnostic {
  return errorOf(
    "interrupted",
    `Interrupted by a signal; these lists were published before: ${someOf(lists)}`,
  );
}

/** The exit code of a run that a signal stopped. */
export function exitOf(signal: AbortSignal): Exit {
  return signal.reason === "SIGINT" ? EXITS.SIGINT : EXITS.SIGTERM;
}

/** For work that blocks the event loop: from now on, a signal ends it within three seconds. */
export function endOnSignals(
  host: Host,
  reporter: Reporter,
  words: Diagnostic = INTERRUPTED,
): void {
  host.watchSignals?.({ farewell: reporter.textOf(words), exits: EXITS });
}
