import { isPublishing } from "../build/list-log.ts";
import { Conditions, type ListedCondition, lastingConditions } from "../build/state/conditions.ts";
import { type FoundHold, readHold } from "../build/state/hold.ts";
import type { PublishedBuild } from "../build/state/published-build.ts";
import { type Host, HostError } from "../host/host.ts";
import { type HistoryEntry, HistoryLog } from "../record/history-log.ts";

/** What happened to a list besides its builds. */
export interface ListCondition {
  readonly hold?: FoundHold | undefined;
  /** The refusal of a newer list. */
  readonly refusal?: HistoryEntry | undefined;
  /** What lasts. */
  readonly conditions: readonly ListedCondition[];
  /** What is wrong with the log of the list. */
  readonly problems: readonly string[];
}

/** Whether a list is held, and whether a newer one was refused. */
export async function listCondition(build: PublishedBuild, host: Host): Promise<ListCondition> {
  const hold = await readHold(build.path, host);
  const stored = (await new Conditions(build.path, host).read()) ?? [];
  const conditions = lastingConditions(stored.map((one) => ({ ...one, list: "" })));
  try {
    const entries = await new HistoryLog(build.path, host).entries();
    const last = entries.findLast((entry) => entry.event === "refused" || isPublishing(entry));
    return {
      hold,
      ...(last?.event === "refused" && { refusal: last }),
      conditions,
      problems: [],
    };
  } catch (error) {
    if (!(error instanceof HostError)) throw error;
    return { hold, conditions, problems: ["Its log cannot be read"] };
  }
}
