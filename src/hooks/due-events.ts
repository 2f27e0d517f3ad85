import type { HookEvent } from "../config/hook-fields.ts";

/** What the last run made of a list. */
export type ListHealth = "good" | "degraded" | "refused" | "failed";

/** What a hook knows about a list: what its last successful run reported. */
export interface Told {
  readonly health: ListHealth;
  /** Identifies the published files; absent if none were published yet. */
  readonly files?: string;
}

/** The events that a hook does not know yet. A state is an event when it begins, not in every run. */
export function dueEvents(told: Told | undefined, now: Told): HookEvent[] {
  const events: HookEvent[] = [];
  if (now.files !== undefined && now.files !== told?.files) events.push("published");
  if (now.health === told?.health) return events;
  if (now.health !== "good") events.push(now.health);
  else if (told !== undefined) events.push("recovered");
  return events;
}
