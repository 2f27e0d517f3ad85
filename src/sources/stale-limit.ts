import { DAY_MS } from "./size-judge.ts";

/** Names of new domains and of phishing get new owners soon. */
const QUICK_MS = 7 * DAY_MS;
const USUAL_MS = 180 * DAY_MS;

/** The age up to which the last copy of a source that cannot be read is used. `turnover`: the share of its names that changed within 30 days. */
export function staleLimit(maxStaleMs: number | undefined, turnover: number): number {
  return maxStaleMs ?? (turnover > 0.5 ? QUICK_MS : USUAL_MS);
}
