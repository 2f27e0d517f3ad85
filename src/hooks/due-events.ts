import type { HookEvent } from "../config/hook-fields.ts";

/** What the last run made of a list. */
export type ListHealth = "good" | "degraded" | "refused" | "failed";

/** What a hook knows about a list: what its last successful run reported. */
export interface Told {
  readonly health: ListHealth;
  /** Whether a resolver does not answer from the list. */
  readonly isUnproved?: boolean;
  /** Identifies the published files; absent if none were published yet. */
  readonly files?: string;
}

/** Whether a hook does not know the published files yet. */
export function isPublishDue(told: Told | undefined, now: Told): boolean {
  return now.files !== undefined && now.files !== told?.files;
}

/** The states that a hook does not know yet. A state is an event when it begins, not in every run. */
export function dueStates(told: Told | undefined, now: Told): HookEvent[] {
  const events = new Set<HookEvent>();
  if (now.health !== "good" && now.health !== told?.health) events.add(now.health);
  if (now.isUnproved === true && told?.isUnproved !== true) events.add("degraded");
  if (told !== undefined && isBad(told) && !isBad(now)) events.add("recovered");
  return [...events];
}

function isBad({ health, isUnproved }: Told): boolean {
  return health !== "good" || isUnproved === true;
}
