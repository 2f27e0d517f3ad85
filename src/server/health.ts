import {
  type ListedCondition,
  isDegraded,
  lacksProof,
  lastingConditions,
} from "../library/programs.ts";
import { someOf } from "../diagnostics/text.ts";
import type { Health, HeldList, ResolverState, Run } from "../documents/facts.ts";
import { type RulesOf, publishedLists } from "./served-lists.ts";
import { type History, problemsOf, sourcesOf } from "./history.ts";

export interface HealthInput {
  readonly history: History;
  readonly now: number;
  /** Maximum age of the last successful build, in milliseconds. */
  readonly limitMs: number;
  /** Names of configured lists whose files are missing. */
  readonly missing: readonly string[];
  /** When a file was last published. */
  readonly publishedAt?: (file: string) => string | undefined;
  readonly rulesOf?: RulesOf;
  /** Lists that stay at an earlier build. */
  readonly held?: readonly HeldList[];
  readonly resolvers?: readonly ResolverState[];
  /** What lasts. */
  readonly conditions?: readonly ListedCondition[];
  /** What could not be read the last time, so that it may be old. */
  readonly unread?: readonly string[];
  readonly isRunning: boolean;
  readonly next: number | undefined;
}

/** A last success further in the future than this is not trusted: the clock was wrong then, or is wrong now. */
const FUTURE_MS = 60_000;

/** Age of the last successful build in milliseconds; undefined without one, or if the clock makes it unknown. */
export function ageOf(lastSuccess: string | undefined, now: number): number | undefined {
  const age = lastSuccess === undefined ? NaN : now - Date.parse(lastSuccess);
  return age >= -FUTURE_MS ? Math.max(0, age) : undefined;
}

/** Whether clients can rely on the lists that are served. */
export function healthOf(input: HealthInput): Health {
  const { history, now, limitMs, isRunning, next, held = [], resolvers = [], unread = [] } = input;
  const conditions = lastingConditions(input.conditions ?? []);
  const { lastSuccess, runs } = history;
  const age = ageOf(lastSuccess, now);
  const lastRun = runs.at(-1);
  const { status, reason } = statusOf(input, age);
  return {
    status,
    isHealthy: status === "healthy" || status === "degraded" || status === "refused",
    reason: [reason, ...heldText(held), ...unprovedText(resolvers), ...unreadText(unread)].join(
      "; ",
    ),
    lastSuccess: lastSuccess ?? null,
    ageSeconds: age === undefined ? null : Math.round(age / 1000),
    limitSeconds: Math.round(limitMs / 1000),
    running: isRunning,
    next: next === undefined || next === Infinity ? null : new Date(next).toISOString(),
    lastRun: lastRun === undefined ? null : runOf(lastRun),
    lists: listsOf(input),
    held,
    resolvers,
    lastProblem: lastRun?.problem ?? null,
    problems: lastRun === undefined ? [] : problemsOf(lastRun),
    conditions: conditions.map(conditionOf),
    sources: sourcesOf(history).map(({ label, state, lines, kept }) => ({
      label,
      state,
      ...(isDegraded(state) && reasonOf(label, conditions)),
      goodAt: history.goodAt[label] ?? null,
      lines,
      kept,
    })),
  };
}

function conditionOf(condition: ListedCondition): Health["conditions"][number] {
  const { list, code, message, cause, hint, since, until } = condition;
  return {
    list,
    code,
    message,
    ...(cause !== undefined && { cause }),
    ...(hint !== undefined && { hint }),
    since,
    ...(until !== undefined && { until }),
  };
}

/** Why a source is not fresh. */
function reasonOf(
  label: string,
  conditions: readonly ListedCondition[],
): { readonly reason?: string; readonly since?: string; readonly until?: string } {
  const found =
    conditions.find(({ subject, code }) => subject === label && code.startsWith("source-")) ??
    conditions.find(({ code }) => code === "no-answer");
  if (found === undefined) return {};
  const { message, cause, since, until } = found;
  return { reason: cause ?? message, since, ...(until !== undefined && { until }) };
}

function heldText(held: readonly HeldList[]): string[] {
  return held.length === 0 ? [] : [`held: ${someOf(held.map(({ list }) => list))}`];
}

function unprovedText(resolvers: readonly ResolverState[]): string[] {
  const bad = resolvers.filter(lacksProof);
  const texts = bad.map(({ resolver, outcome }) => `${resolver} (${outcome})`);
  return bad.length === 0 ? [] : [`resolvers that are not proved: ${someOf(texts)}`];
}

function unreadText(unread: readonly string[]): string[] {
  return unread.length === 0 ? [] : [`cannot be read: ${someOf(unread)}`];
}

function runOf({ at, trigger, outcome, seconds, degraded }: Run): Health["lastRun"] {
  return { at, trigger, outcome, seconds, ...(degraded !== undefined && { degraded }) };
}

function listsOf({ history, publishedAt, rulesOf }: HealthInput): Health["lists"] {
  return publishedLists(history.lastBuild, rulesOf).map(({ name, rules, file }) => ({
    list: name,
    rules,
    publishedAt: publishedAt?.(file) ?? null,
  }));
}

/** `stale until 2027-05-02`, if the end is known. */
function stateText(label: string, state: string, conditions: readonly ListedCondition[]): string {
  const { until } = reasonOf(label, conditions);
  return until === undefined ? state : `${state} until ${until.slice(0, "2026-11-01".length)}`;
}

function statusOf(
  { history, limitMs, missing, isRunning, resolvers = [], conditions = [] }: HealthInput,
  age: number | undefined,
): Pick<Health, "status" | "reason"> {
  const { lastBuild, lastSuccess, runs } = history;
  const lastRun = runs.at(-1);
  const problem = lastRun?.problem;
  const message =
    problem?.at === undefined ? problem?.message : `${problem.at}: ${problem.message}`;
  const because = message === undefined ? "" : `; the last run reported: ${message}`;
  if (age === undefined && lastSuccess !== undefined)
    return {
      status: "unhealthy",
      reason: `the last successful build is dated ${lastSuccess}, in the future: the clock was wrong then, or is wrong now`,
    };
  if (age === undefined) {
    const isFirst = isRunning && runs.length === 0;
    return isFirst
      ? { status: "starting", reason: "the first build is running" }
      : { status: "unhealthy", reason: `no build has succeeded yet${because}` };
  }
  if (missing.length > 0) return { status: "unhealthy", reason: `missing: ${someOf(missing)}` };
  const hours =
    age < 3_600_000 ? `${Math.floor(age / 60_000)} min` : `${(age / 3_600_000).toFixed(1)} h`;
  if (age > limitMs)
    return {
      status: "unhealthy",
      reason: `the last successful build is ${hours} old, the limit is ${(limitMs / 3_600_000).toFixed(1)} h${because}`,
    };
  const bad = sourcesOf(history).filter(({ state }) => isDegraded(state));
  const states = someOf(
    bad.map(({ label, state }) => `${label} (${stateText(label, state, conditions)})`),
  );
  if (lastRun?.outcome === "refused") {
    const sources = bad.length === 0 ? "" : `; degraded sources: ${states}`;
    return {
      status: "refused",
      reason: `the new list was refused, the published one is ${hours} old${because}${sources}`,
    };
  }
  if (lastBuild?.degraded === true)
    return { status: "degraded", reason: `degraded sources: ${states}` };
  const status = resolvers.some(lacksProof) ? "degraded" : "healthy";
  return { status, reason: `the last successful build is ${hours} old${because}` };
}
