import type { Host } from "../host/host.ts";
import { type HistoryEntry, HistoryLog } from "../record/history-log.ts";
import { type BuildEntry, buildsOf } from "./state/builds-of.ts";

/** An event of a list, as `log` shows it. A build that wrote the same list again is `unchanged`. */
export interface LogEvent extends Omit<HistoryEntry, "build" | "event" | "by"> {
  /** How to select the build of this event, if it is stored: `@0` is the published one. */
  readonly build?: string;
  readonly event: HistoryEntry["event"] | "unchanged";
  readonly by?: string;
  /** How many rules more than in the stored build before. */
  readonly change?: number;
  /** Of a stored build: whether it can be published again. */
  readonly isComplete?: boolean;
}

/** An event, and the number of its build or of the next one. */
interface Numbered {
  readonly number: number;
  readonly event: LogEvent;
}

const PUBLISHING: ReadonlySet<string> = new Set(["published", "accepted", "rolled-back"]);

/** Whether an event published a list. */
export function isPublishing({ event }: Pick<LogEvent, "event">): boolean {
  return PUBLISHING.has(event);
}

/** What happened to the list at a path, newest first, with its stored builds. Rejects with a `HostError`. */
export async function listLog(path: string, host: Host): Promise<LogEvent[]> {
  const events: Numbered[] = (await new HistoryLog(path, host).entries()).map(
    ({ build: number, ...event }) => ({ number, event }),
  );
  for (const build of (await buildsOf(path, host)).toReversed()) {
    const { isSame: _isSame, of: _of, number, ...known } = build;
    const own = events.findLastIndex((one) => one.number === number && isPublishing(one.event));
    if (own !== -1) events[own] = { number, event: { ...events[own]!.event, ...known } };
    else {
      const before = events.findLastIndex((one) => one.number <= number);
      events.splice(before + 1, 0, { number, event: eventOf(build) });
    }
  }
  return events.map(({ event }) => event).toReversed();
}

/** The event of a build that the log does not have. */
function eventOf({ isSame, number: _number, ...build }: BuildEntry): LogEvent {
  if (build.of !== undefined) return { ...build, event: "rolled-back" };
  return { ...build, event: isSame ? "unchanged" : "published" };
}
