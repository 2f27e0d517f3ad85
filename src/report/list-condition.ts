import { listHistory } from "../build/list-history.ts";
import { type FoundHold, readHold } from "../build/state/hold.ts";
import type { PublishedBuild } from "../build/state/published-build.ts";
import { type Host, HostError } from "../host/host.ts";
import type { HistoryEntry } from "../record/history-entry.ts";

/** What happened to a list besides its builds. */
export interface ListCondition {
  readonly hold?: FoundHold | undefined;
  /** The refusal of a newer list. */
  readonly refusal?: HistoryEntry | undefined;
  /** What is wrong with the history of the list. */
  readonly problems: readonly string[];
}

/** Whether a list is held, whether a newer one was refused, and whether its history is intact. */
export async function listCondition(build: PublishedBuild, host: Host): Promise<ListCondition> {
  const hold = await readHold(build.path, host);
  try {
    const { entries, problems } = await listHistory(build, host);
    const last = entries.findLast(({ event }) => event === "refused" || PUBLISHES.has(event));
    return {
      hold,
      ...(last?.event === "refused" && { refusal: last }),
      problems: problems.flatMap(({ severity, message }) => (severity === "error" ? message : [])),
    };
  } catch (error) {
    if (!(error instanceof HostError)) throw error;
    return { hold, problems: ["Its history cannot be read"] };
  }
}

const PUBLISHES: ReadonlySet<string> = new Set(["published", "accepted", "rolled-back"]);
