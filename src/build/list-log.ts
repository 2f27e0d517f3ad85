import type { Host } from "../host/host.ts";
import { type HistoryEntry, HistoryLog } from "../record/history-log.ts";
import { type BuildEntry, buildsOf } from "./state/builds-of.ts";

/** An event of a list, as `log` shows it. A build that wrote the same list again is `unchanged`. */
export interface LogEvent extends Omit<HistoryEntry, "event" | "by"> {
  /** How to select the build of this event, if it is stored: `@0` is the published one. */
  readonly build?: string;
  readonly event: HistoryEntry["event"] | "unchanged";
  readonly by?: string;
  /** How many rules more than in the stored build before. */
  readonly change?: number;
  /** Of a stored build: whether it can be published again. */
  readonly isComplete?: boolean;
}

const PUBLISHING: ReadonlySet<string> = new Set(["published", "accepted", "rolled-back"]);

/** Whether an event published a list. */
export function isPublishing({ event }: Pick<LogEvent, "event">): boolean {
  return PUBLISHING.has(event);
}

/** What happened to the list at a path, newest first, with its stored builds. Rejects with a `HostError`. */
export async function listLog(path: string, host: Host): Promise<LogEvent[]> {
  const events: LogEvent[] = await new HistoryLog(path, host).entries();
  // A run writes its event first, and then the files of its build.
  for (const build of (await buildsOf(path, host)).toReversed()) {
    const { isSame: _isSame, of: _of, ...known } = build;
    const isBefore = ({ at }: LogEvent): boolean => at <= build.at;
    const own = events.findLastIndex((event) => isPublishing(event) && isBefore(event));
    const event = events[own];
    if (event !== undefined && event.build === undefined) events[own] = { ...event, ...known };
    else events.splice(events.findLastIndex(isBefore) + 1, 0, eventOf(build));
  }
  return events.toReversed();
}

/** The event of a build that the log does not have. */
function eventOf({ isSame, ...build }: BuildEntry): LogEvent {
  if (build.of !== undefined) return { ...build, event: "rolled-back" };
  return { ...build, event: isSame ? "unchanged" : "published" };
}
