import { someOf } from "../diagnostics/some-of.ts";
import { isDegraded } from "../sources/acquire.ts";
import { type History, type Problem, problemsOf, sourcesOf } from "./history.ts";

export interface HealthQuestion {
  readonly history: History;
  readonly now: number;
  /** Milliseconds that the last good list may be old. */
  readonly limitMs: number;
  /** Lists that should be there and are not, by name. */
  readonly missing: readonly string[];
  readonly isRunning: boolean;
  readonly next: number | undefined;
}

/** A last success that lies further in the future than this is not one: the clock was wrong then, or is now. */
const FUTURE_MS = 60_000;

/** How old the last good list is, in milliseconds; undefined when there is none, or when nobody can tell. */
export function ageOf(lastSuccess: string | undefined, now: number): number | undefined {
  const age = lastSuccess === undefined ? NaN : now - Date.parse(lastSuccess);
  return age >= -FUTURE_MS ? Math.max(0, age) : undefined;
}

export interface Health {
  /**
   * `degraded` and `refused` are healthy: the list is young, though a source stands in for itself or is left out, or the list
   * that should have followed was refused.
   */
  readonly status: "healthy" | "degraded" | "refused" | "starting" | "unhealthy";
  readonly isHealthy: boolean;
  /** One sentence for whoever is woken by it. */
  readonly reason: string;
  readonly lastSuccess: string | null;
  readonly ageSeconds: number | null;
  readonly limitSeconds: number;
  readonly running: boolean;
  readonly next: string | null;
  readonly lastProblem: Problem | null;
  /** All that the last run complained of, with places and what to do. */
  readonly problems: readonly Problem[];
  readonly sources: readonly {
    readonly name: string;
    readonly state: string;
    readonly goodAt: string | null;
    readonly lines: number;
    readonly kept: number;
  }[];
}

/** Whether the lists that are served can be relied on. */
export function healthOf(question: HealthQuestion): Health {
  const { history, now, limitMs, isRunning, next } = question;
  const { lastSuccess, runs } = history;
  const age = ageOf(lastSuccess, now);
  const lastRun = runs.at(-1);
  const { status, reason } = judge(question, age);
  return {
    status,
    isHealthy: status === "healthy" || status === "degraded" || status === "refused",
    reason,
    lastSuccess: lastSuccess ?? null,
    ageSeconds: age === undefined ? null : Math.round(age / 1000),
    limitSeconds: Math.round(limitMs / 1000),
    running: isRunning,
    next: next === undefined || next === Infinity ? null : new Date(next).toISOString(),
    lastProblem: lastRun?.problem ?? null,
    problems: lastRun === undefined ? [] : problemsOf(lastRun),
    sources: sourcesOf(history).map(({ label, state, lines, kept }) => ({
      name: label,
      state,
      goodAt: history.goodAt[label] ?? null,
      lines,
      kept,
    })),
  };
}

function judge(
  { history, limitMs, missing, isRunning }: HealthQuestion,
  age: number | undefined,
): Pick<Health, "status" | "reason"> {
  const { lastBuild, lastSuccess, runs } = history;
  const lastRun = runs.at(-1);
  const problem = lastRun?.problem;
  const said = problem?.at === undefined ? problem?.message : `${problem.at}: ${problem.message}`;
  const because = said === undefined ? "" : `; the last run said: ${said}`;
  if (age === undefined && lastSuccess !== undefined)
    return {
      status: "unhealthy",
      reason: `the last good list is dated ${lastSuccess}, which is in the future: the clock was wrong then, or is now`,
    };
  if (age === undefined) {
    const isFirst = isRunning && runs.length === 0;
    return isFirst
      ? { status: "starting", reason: "the first list is being made" }
      : { status: "unhealthy", reason: `no list has been made yet${because}` };
  }
  if (missing.length > 0)
    return { status: "unhealthy", reason: `${someOf(missing)} no longer exists` };
  const hours = `${(age / 3_600_000).toFixed(1)} h`;
  if (age > limitMs)
    return {
      status: "unhealthy",
      reason: `the last good list is ${hours} old, the limit is ${(limitMs / 3_600_000).toFixed(1)} h${because}`,
    };
  const bad = sourcesOf(history).filter(({ state }) => isDegraded(state));
  const states = someOf(bad.map(({ label, state }) => `${label} (${state})`));
  if (lastRun?.outcome === "refused") {
    const sources = bad.length === 0 ? "" : `; degraded sources: ${states}`;
    return {
      status: "refused",
      reason: `the new list was refused, the one before it is ${hours} old${because}${sources}`,
    };
  }
  if (lastBuild?.degraded === true)
    return { status: "degraded", reason: `degraded sources: ${states}` };
  return { status: "healthy", reason: `the last good list is ${hours} old${because}` };
}
