import type { Health, Problem, Run } from "../../src/documents/facts.ts";
import type { ListedCondition } from "../../src/builder/state/conditions.ts";
import { healthOf } from "../../src/server/health.ts";
import type { History, SuccessfulBuild } from "../../src/server/history.ts";
import { statusPage } from "../../src/server/status-page.ts";

export const NOW: number = Date.parse("2026-11-15T12:00:00Z");
export const HOUR = 3_600_000;

export function build(
  state: "fetched" | "stale" | "held" = "fetched",
  label = "Ads",
): SuccessfulBuild {
  return {
    name: "My list",
    lines: 10,
    kept: 6,
    rules: 6,
    bytes: 120,
    degraded: state !== "fetched",
    outputs: [{ file: "rules/my-list.txt", outcome: "written" }],
    sources: [
      {
        label,
        source: "https://lists.example/ads.txt",
        state,
        ...(state !== "fetched" ? { goodAt: "2026-11-10T00:00:00.000Z" } : {}),
        bytes: 200,
        lines: 10,
        kept: 6,
        dropped: { duplicate: 3, comment: 1 },
      },
    ],
  };
}

export function run(more: Partial<Run>): Run {
  return {
    at: "2026-11-15T06:00:00.000Z",
    trigger: "schedule",
    seconds: 1.2,
    exit: 0,
    outcome: "published",
    rules: 6,
    bytes: 120,
    ...more,
  };
}

export const REFUSED: Run = run({
  at: "2026-11-15T11:00:00.000Z",
  exit: 5,
  outcome: "refused",
  problem: { code: "too-few-rules", message: "The list shrank from 9 to 1 rules", hint: "Look" },
});

export function health(
  history: History,
  more: Partial<Parameters<typeof healthOf>[0]> = {},
): Health {
  return healthOf({
    history,
    now: NOW,
    limitMs: 18 * HOUR,
    missing: [],
    isRunning: false,
    next: NOW + HOUR,
    ...more,
  });
}

export function page(
  history: History,
  more: Partial<Parameters<typeof statusPage>[0]> = {},
): string {
  return statusPage({
    history,
    health: health(history),
    lists: [],
    now: NOW,
    schedule: "0 */6 * * *",
    reports: [],
    nameOf: (file) => file,
    asks: { listNames: ["My list"] },
    ...more,
  });
}

/** What lasts while the source Ads is a copy. */
export const STALE: ListedCondition = {
  list: "My list",
  finder: "build",
  code: "source-stale",
  severity: "warning",
  message: "Ads failed; using cached copy from 2026-11-10 00:00 UTC",
  cause: "the server responded with status 404",
  hint: "Check the URL",
  subject: "Ads",
  since: "2026-11-10T06:00:00.000Z",
  until: "2027-05-09T00:00:00.000Z",
  reminders: 0,
};

export const CAUSES: { problem: Problem; further: readonly Problem[] } = {
  problem: {
    code: "blocks-protected",
    message: "||apple.com^ blocks time.apple.com",
    hint: "Keep reachable: allow: [time.apple.com]",
    at: "own.txt:200",
  },
  further: [{ code: "blocks-suffix", message: "||com^ blocks every name", at: "own.txt:7" }],
};
