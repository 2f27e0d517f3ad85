import type { Run } from "../../src/documents/facts.ts";
import { type SuccessfulBuild, type History, NO_HISTORY } from "../../src/server/history.ts";
import { withRun } from "../../src/server/history.ts";

/** A server's memory of a hundred days, with refusals and stale sources. */
export function longHistory(lastRun: Date = new Date(Date.now() - 3_600_000)): History {
  const build: SuccessfulBuild = {
    name: "My list",
    lines: 10,
    kept: 6,
    rules: 6,
    bytes: 120,
    degraded: true,
    outputs: [{ file: "rules/my-list.txt", outcome: "written" }],
    sources: Array.from({ length: 50 }, (_, index) => ({
      label: `List ${index}`,
      source: `https://lists.example/${index}.txt`,
      state: index % 9 === 0 ? ("stale" as const) : ("fetched" as const),
      ...(index % 9 === 0 ? { goodAt: "2026-11-10T00:00:00.000Z" } : {}),
      bytes: 200,
      lines: 10,
      kept: 6,
      dropped: { duplicate: 3, comment: 1 },
    })),
  };
  let history = NO_HISTORY;
  for (let index = 399; index >= 0; index--) {
    const isRefused = index % 10 === 5;
    const run: Run = {
      at: new Date(lastRun.getTime() - index * 6 * 3_600_000).toISOString(),
      trigger: "schedule",
      seconds: 1.2,
      exit: isRefused ? 5 : 0,
      outcome: isRefused ? "refused" : "published",
      ...(isRefused
        ? {
            problem: {
              code: "too-few-rules",
              message: "The list shrank",
              hint: "Look",
              cause: "1 of 9",
            },
          }
        : { degraded: true, rules: 6, bytes: 120 }),
    };
    history = withRun(history, run, isRefused ? undefined : build);
  }
  return history;
}
