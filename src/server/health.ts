import { isDegraded } from "../sources/acquire.ts";
import type { History } from "./history.ts";

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
  /** `degraded` is healthy: the list is young, though a source stands in for itself or is left out. */
  readonly status: "healthy" | "degraded" | "starting" | "unhealthy";
  readonly isHealthy: boolean;
  /** One sentence for whoever is woken by it. */
  readonly reason: string;
  readonly lastSuccess: string | null;
  readonly ageSeconds: number | null;
  readonly limitSeconds: number;
  readonly running: boolean;
  readonly next: string | null;
  readonly lastProblem: { readonly code: string; readonly message: string } | null;
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
  const { lastSuccess, lastBuild, runs } = history;
  const age = ageOf(lastSuccess, now);
  const lastRun = runs.at(-1);
  const { status, reason } = judge(question, age);
  return {
    status,
    isHealthy: status === "healthy" || status === "degraded",
    reason,
    lastSuccess: lastSuccess ?? null,
    ageSeconds: age === undefined ? null : Math.round(age / 1000),
    limitSeconds: Math.round(limitMs / 1000),
    running: isRunning,
    next: next === undefined || next === Infinity ? null : new Date(next).toISOString(),
    lastProblem:
      lastRun?.problem === undefined
        ? null
        : { code: lastRun.problem.code, message: lastRun.problem.message },
    sources: (lastBuild?.sources ?? []).map(({ label, state, lines, kept }) => ({
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
  const problem = runs.at(-1)?.problem;
  const because = problem === undefined ? "" : `; the last run said: ${problem.message}`;
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
    return { status: "unhealthy", reason: `${missing.join(", ")} is not there any more` };
  const hours = `${(age / 3_600_000).toFixed(1)} h`;
  if (age > limitMs)
    return {
      status: "unhealthy",
      reason: `the last good list is ${hours} old, the limit is ${(limitMs / 3_600_000).toFixed(1)} h${because}`,
    };
  if (lastBuild?.degraded === true) {
    const bad = lastBuild.sources.filter(({ state }) => isDegraded(state));
    return {
      status: "degraded",
      reason: `not as it should be: ${bad.map(({ label, state }) => `${label} (${state})`).join(", ")}`,
    };
  }
  return { status: "healthy", reason: `the last good list is ${hours} old${because}` };
}
