import type { ProgressEvent } from "../../build/build-event.ts";
import { printable } from "../../diagnostics/printable.ts";
import { bytesText } from "./summary.ts";
import { timeText } from "./step-time.ts";

type Fetched = ProgressEvent & { kind: "source-fetched" };

/** States of a source in `--debug` output. */
const STATES: Readonly<Record<Fetched["state"], string>> = {
  local: "local",
  fetched: "fetched",
  unchanged: "unchanged, cached copy used",
  locked: "locked in rules.lock",
  held: "too different, cached copy used",
  offline: "cached copy used",
  stale: "failed, cached copy used",
  dropped: "failed, not used",
};

/** A step of a download; undefined for other events. */
export function fetchText(event: ProgressEvent): string | undefined {
  if (event.kind === "source-retried") {
    const { label, retry, pauseMs, cause } = event;
    const pause = `${(pauseMs / 1000).toFixed(1)} s`;
    return `fetch ${printable(label)}: retry ${retry} in ${pause}: ${cause}`;
  }
  // Local files are read later and have their own event.
  if (event.kind !== "source-fetched" || event.state === "local") return undefined;
  const { label, state, bytes, ms } = event;
  const size = state === "fetched" ? `, ${bytesText(bytes)}` : "";
  return `fetch ${printable(label)}: ${STATES[state]}${size}, ${timeText(ms)}`;
}

/** A transformation of a source, or of the whole list. */
export function stepText({ label, name, ms }: ProgressEvent & { kind: "step" }): string {
  return `${printable(label ?? "list")}: ${name}, ${timeText(ms)}`;
}
