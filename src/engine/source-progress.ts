import type { Acquired } from "../sources/acquire.ts";
import type { FetchWatch } from "../sources/fetch-text.ts";
import type { PlannedSource } from "./plan.ts";
import type { ProgressEvent } from "./progress-event.ts";

type Tell = ((event: ProgressEvent) => void) | undefined;

/** Fetches a source and reports its progress. */
export async function fetchWatched(
  { index, label }: PlannedSource,
  open: (watch: FetchWatch | undefined) => Promise<Acquired>,
  tell: Tell,
): Promise<Acquired> {
  if (tell === undefined) return await open(undefined);
  const started = performance.now();
  let arrived = 0;
  const acquired = await open({
    arrived: (bytes) => {
      arrived += bytes;
      tell({ kind: "source-arriving", source: index, bytes: arrived });
    },
    retried: (retry, pauseMs, cause) =>
      tell({ kind: "source-retried", source: index, label, retry, pauseMs, cause }),
  });
  const { kind: state } = acquired.state;
  const ms = performance.now() - started;
  const bytes = state === "local" ? 0 : await acquired.list.size();
  tell({ kind: "source-fetched", source: index, label, state, bytes, ms });
  return acquired;
}
